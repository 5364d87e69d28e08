/* Sources that are evaluated before the pipeline that reads them is bound: the right side of a join, the relation of
 * `x in (...)`. What is bound may so depend on their rows: on the range of keys, or on whether they are distinct.
 *
 * Who needs a source calls evaluated_find with its node of the tree. If it has no relation yet, the source is bound for
 * its columns and errors (bind_source) and given to evaluated_request, and a task is made that reads whatever has the
 * right types: it will never run. After that, the source is run, reduced to the columns that are needed, and all is
 * bound again (engine/run/provide.h). In a check and in a preview nothing is ever evaluated. */
#ifndef RQL_ENGINE_EXPRESSION_EVALUATED_H
#define RQL_ENGINE_EXPRESSION_EVALUATED_H

#include "engine/expression/expression.h"
#include "engine/join_index/join_index.h"

struct evaluated {
    const void *node;                /* in the tree: what identifies it */
    const struct pipeline *pipeline; /* the source */
    struct slot *columns;            /* of the source as it was bound, the visible ones */
    size_t count;
    bool described; /* the relation is what `describe` says of the pipeline, */
    int64_t bins;   /* or what `hist`, in which the pipeline ends, gives, of so many bins, by a server; 0: it is not. */
    bool here;      /* The server did not: it is to be computed here */
    const char **keys; /* of each group by these columns, whose rows follow each other */
    size_t key_count;
    bool open;       /* which columns it has, only running can tell: `columns` are those that it turned out to have */
    bool *wanted;    /* of each column, whether it is needed */
    size_t *places;  /* of each column, its place in the relation if `evaluated` */
    bool *evaluated; /* of each column, whether the relation has it */
    bool *loose;     /* of each column, whether its texts may be without an order */
    struct relation *relation; /* one reference; NULL: not evaluated yet */
    struct join_index *index;  /* of some of its columns, owned; NULL: none yet */
    const struct task *reader; /* in this binding; NULL: `wanted` says what is needed. Column k is needed where its */
    size_t *outputs;           /* output outputs[k] is, or the validity of that; SIZE_MAX: it has none */
};

/* The sources of one pipeline, in the order in which they are met. */
struct evaluations {
    struct evaluated **at;
    size_t count, capacity;
};

/* NULL if it has not been requested. */
struct evaluated *evaluated_find(const struct binder *binder, const void *node);

/* Requests a source that was bound as `source`; all columns for which `wanted` (NULL: none) is true are needed in any
 * case. */
struct evaluated *evaluated_request(struct binder *binder, const void *node, const struct pipeline *pipeline,
                                    const struct flow *source, const bool *wanted);

/* A source that is not evaluated but lowered with what reads it. */
struct evaluated *evaluated_never(struct binder *binder, const struct flow *source);

/* The source as a pipeline. */
const struct pipeline *pipeline_of_source(struct arena *arena, const struct source_node *source);

/* The pipeline up to the stage that is bound, from its source on, also where a server has run the first stages. */
struct pipeline *pipeline_up_to_stage(const struct binder *binder);

/* Column k of the relation; NULL: it has not been evaluated. */
struct column *evaluated_column(const struct evaluated *evaluated, size_t k);

/* Indexes keys of the relation, unless that is done: here, or by an earlier statement whose columns these are, too. As
 * join_index_new. */
enum status evaluated_make_index(struct binder *binder, struct evaluated *evaluated, const struct join_keys *keys);

/* After a binding and queue_prune: whether it has to be evaluated, perhaps again, for columns that it lacks. */
bool evaluated_lacks(struct evaluated *evaluated);
bool evaluations_lack(const struct evaluations *evaluations);

/* After a binding, queue_prune and text_order_find: of columns that are not wanted yet, whether they may be loose.
 * `ordered`: the outputs of the queue's tasks that need an order. */
void evaluations_set_loose(const struct evaluations *evaluations, const struct queue *queue, bool *const *ordered);

/* Whether a relation has texts without an order; whether one has columns of this dictionary, which are then not loose.
 */
bool evaluations_unsorted(const struct evaluations *evaluations);
bool evaluations_need_order(const struct evaluations *evaluations, const struct dictionary *dictionary);

/* Puts texts in order that are not loose. */
enum status evaluations_order(const struct evaluations *evaluations, const struct workers *workers,
                              struct diags *diags);

/* Of the columns that the relation has to have, in order, whether their texts have to be in order; their number. */
size_t evaluated_ordered(const struct evaluated *evaluated, struct arena *arena, const bool **ordered);

/* Forgets the relation; returns which columns it has to have, NULL: all. */
const bool *evaluated_again(struct evaluated *evaluated);
/* Takes over such a relation. */
void evaluated_set(struct evaluated *evaluated, struct relation *relation, struct arena *arena);
void evaluations_release(struct evaluations *evaluations);

#endif
