/* Rows found by their keys: the typed code that reads a join index. */
#ifndef RQL_ENGINE_EXPRESSION_MATCH_H
#define RQL_ENGINE_EXPRESSION_MATCH_H

#include "engine/expression/expression.h"
#include "engine/join_index/join_index.h"

/* Checks that a key of the left, `term`, can equal one of the right, a column of that type; an error at `span` if not.
 */
bool match_check(struct scope *scope, struct term term, const char *left_name, const struct slot *right,
                 const char *right_name, struct span span);

/* A key of the left, which fits one of the right of this logical type, as join_key_values has that: a float by its
 * bits, a text by its code there, or -1. */
value match_key(struct scope *scope, struct term term, const struct logical_type *logical, struct span span);

/* A value of the left as an integer that compares with those of a join index's order, a column of this logical type, as
 * the values do: it is to be compared by `compared`. Adds to *present where it compares with any at all. */
value match_ordered(struct scope *scope, struct term term, const struct logical_type *logical, enum binary_op compared,
                    value *present, struct span span);

/* The id of the keys, which fit those of the index, one whose logical types are `logical`; index->ids where none of its
 * rows has them, or a key is missing. */
value match_id(struct scope *scope, const struct join_index *index, const struct term *keys,
               const struct logical_type *logical, struct span span);

/* Whether some row has the keys; the index may be one of members only. */
value match_member(struct scope *scope, const struct join_index *index, const struct term *keys,
                   const struct logical_type *logical, struct span span);

/* As match_id, of an index with ids and keys: the id is one of another tuple, or index->ids, unless *found. */
value match_place(struct scope *scope, const struct join_index *index, const struct term *keys,
                  const struct logical_type *logical, value *found, struct span span);

/* Element `id` of a table of the index, which the queue holds. */
value match_table(struct scope *scope, struct column *table, enum kind kind, value id, const char *name,
                  struct span span);

/* The index of the last element that is OP_LT or OP_LE `limit` among elements begin .. end - 1 of `table`, which ascend
 * and are at most `most`; begin - 1: there is none. */
value match_last(struct scope *scope, struct column *table, int64_t most, value begin, value end, enum op below,
                 value limit, struct span span);

/* x in SOURCE */
struct term bind_in_source(struct scope *scope, const struct expr *expr, struct term term);

/* The error of an index for which there is not enough memory. */
void match_refuse_index(struct binder *binder, const struct join_index *index, struct span span);

#endif
