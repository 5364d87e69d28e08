/* Building the tasks of a stage: its inputs and outputs, and an operator with the task that computes its operands. */
#ifndef RQL_ENGINE_LOWER_LOWER_H
#define RQL_ENGINE_LOWER_LOWER_H

#include "engine/expression/expression.h"

/* task_build.c: creating tasks. */

/* Adds a task with its stage mark to the queue and makes it the flow's; it has no inputs yet. */
struct task *task_new(struct binder *binder, const char *name, struct span span, struct flow *flow);
/* Adds the flow's columns, hidden ones too, as inputs; there is space for them. */
void task_add_inputs(struct task *task, const struct flow *flow);
/* After an error, or in a check: makes the flow's columns unknown. */
void task_unknown(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Adds a task for a part of the stage, called `name`, that reads the flow's columns: INPUT k is column k. */
struct task *task_reading(struct binder *binder, const char *name, struct span span, const struct flow *flow);
/* Adds a task for the stage that reads the flow's columns. */
struct task *task_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* The scope of a stage's expressions; records errors of its head. */
struct scope scope_of_stage(struct binder *binder, struct task *task, const struct flow *flow, const struct head *head);
/* INPUT k of the task. */
value task_input(struct task *task, size_t k);
/* Makes the flow's columns, the task's first inputs, its outputs, and the task the flow's. */
void task_pass_inputs(struct binder *binder, struct task *task, struct flow *flow);
/* Sets the task's outputs and the flow's columns: `count` visible and `hidden` ones, whose values are NO_VALUE where
 * unknown. */
void task_set_slots(struct binder *binder, struct task *task, struct flow *flow, struct slot *slots,
                    const value *values, size_t count, size_t hidden);
/* The same for one column. */
void task_set_slot(struct binder *binder, struct task *task, struct flow *flow, struct slot slot, value v);
/* The same for terms, with names and types from `columns`: adds the hidden columns that they need. */
void task_set_outputs(struct binder *binder, struct task *task, struct flow *flow, const struct slot *columns,
                      const struct term *terms, size_t count);
/* Keeps the rows for which the value is true, all if it is NO_VALUE; the task has no other filter. */
void task_filter(struct binder *binder, struct task *task, value keep, struct span span);
/* Adds a column as the next input, for which there is space; the queue holds it. */
void task_add_column(struct binder *binder, struct task *task, struct column *column, const char *name);
/* Column k of the flow, whose type is known, at the row `row`, which is known to be `inside` of it, or checked. */
struct term flow_element(struct task *task, const struct flow *flow, size_t k, value row, bool inside,
                         struct arena *arena);
/* How often each row is repeated: for the places begin, begin + 1, ..., `count` many, which are below `most`. */
struct places {
    value begin, count;
    int64_t most;
    value limit; /* of above.elements */
    struct expand_above above;
};
/* Ends `task`, which reads the flow, with these values: the flow's columns become the number of the row, and the place.
 */
void expand_rows(struct binder *binder, const struct stage *stage, struct task *task, const struct places *places,
                 struct flow *flow);
/* Checks a relation's number of columns; true, with an error, if there are too many. */
bool too_many_columns(struct binder *binder, size_t count, struct span span);
/* Numbers duplicate column names: ids, ids_2. */
void number_duplicates(struct binder *binder, struct slot *columns, size_t count);
/* Names unnamed columns c1, c2, ...; numbers duplicate names. */
void name_columns(struct binder *binder, struct slot *columns, size_t count);

/* operands.c: operators on whole columns. */

/* An operator may fail whatever its inputs: marks its outputs so that nothing folds them away. */
void mark_fallible(struct task *task);

/* Adds an operator, `name` in listings, that reads the columns of `flow`; its keys are to be set. */
struct task *operator_new(struct binder *binder, const char *name, struct span span, const struct flow *flow,
                          enum operator_kind kind, size_t key_count);

/* Operands are columns, or what a task before the operator computes. That task is left out if it has nothing to
 * compute. */
struct operands {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *flow; /* before the stage */
    struct task *task;
    struct scope scope; /* of the stage's expressions */
    struct slot *slots; /* of the operands */
    value *values;
    value largest; /* of the values: a new one mostly is above all */
    size_t count, capacity;
};
void operands_begin(struct binder *binder, const struct stage *stage, const struct flow *flow,
                    struct operands *operands);
/* Adds an operand, or finds an equal one, and returns its number. The slot has name (NULL: if it is a column, its name)
 * and type. */
size_t operands_add(struct operands *operands, value v, struct slot slot);
/* A key: an operand for its value, and before it, if it may be missing, one that says so. A key in order of both has
 * missing values last. */
struct key_operands {
    struct term term;
    struct slot slot; /* of the key as a column */
    bool nullable;
    size_t missing, value; /* operands */
};
struct key_operands operands_add_key(struct operands *operands, const struct item *item);
/* Ends the task of operands and creates the operator, `name` in listings. operand[k] becomes the input of operand k. */
struct task *operands_end(struct operands *operands, const char *name, enum operator_kind kind, size_t key_count,
                          size_t *operand);

/* combine.c: reduce and scan by a function of two rows, |p, q| q.a * p.a as a, q.b + p.b as b. */

/* Whether the stage's function is one of rows: it has several expressions, or names, or reads a column of its
 * parameters. */
bool combines_rows(const struct stage *stage, struct arena *arena);

/* Binds the stage: the flow becomes one row, or a row each. */
void lower_combine(struct binder *binder, const struct stage *stage, struct flow *flow);

/* hoist.c: operators on values of a stage's expression. `sum(qty * price) over ..0` is a task that computes qty *
 * price, an operator that reads it, and an input of the stage's task, which comes after both in the queue. */

/* Adds a task that computes values of the scope's task, on the same rows: the columns of `computed`. */
void hoist_values(struct scope *scope, struct span span, struct slot *slots, const value *values, size_t count,
                  struct flow *computed);

/* Moves the scope's task behind those that it is going to read. Nothing reads it yet. */
void hoist_finish(struct scope *scope);

/* Output `k` of an earlier task with the same rows, as a value of the scope's task. */
value hoist_input(struct scope *scope, struct task *from, size_t k, struct span span);

#endif
