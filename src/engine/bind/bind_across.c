/* group ... across: a group by the keys and the column, then one of its few rows by the keys, with an aggregate for
 * each value: `sum(c is "A" ? sum_qty : missing)`. */
#include "engine/bind/bind_internal.h"

#include "engine/expression/evaluated.h"

enum { MOST_VALUES = 1000 };

/* The values, and what their columns are called. */
struct values {
    struct expr **at;
    const char **names;
    size_t count;
};

static struct expr *new_expr(struct binder *binder, enum expr_kind kind, struct span span, size_t args)
{
    struct expr *expr =
        ARENA_NEW(binder->arena, struct expr, .kind = kind, .span = span, .op_span = span, .arg_count = args);
    expr->args = arena_array(binder->arena, args + 1, sizeof *expr->args);
    return expr;
}

static struct expr *position(struct binder *binder, struct span span, size_t number)
{
    struct expr *expr = new_expr(binder, EXPR_POSITION, span, 0);
    expr->integer = (int64_t)number;
    return expr;
}

/* A constant with the scalar's value. */
static struct expr *literal(struct binder *binder, struct span span, const struct scalar *scalar)
{
    static const enum expr_kind kinds[] = {
        [LOGICAL_NUMBER] = EXPR_INT,
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, ...)                       \
    [LOGICAL_##kind] = literal,
#include "engine/values/logical_types.def"
    };
    const struct logical_type *logical = &scalar->logical;
    struct expr *expr = new_expr(binder, kinds[logical->kind], span, 0);
    expr->integer = (int64_t)scalar->integer;
    expr->utc = logical->zone;
    if (logical->kind == LOGICAL_TEXT) {
        expr->text = arena_text(binder->arena, scalar->text.at, scalar->text.length);
        expr->length = scalar->text.length;
    } else if (logical->kind == LOGICAL_DECIMAL) {
        expr->decimal = true;
        expr->scale = logical->scale;
        expr->number = (double)scalar->integer / (double)power_of_ten(logical->scale);
    } else if (scalar->kind == KIND_FLOAT) {
        expr->kind = EXPR_FLOAT;
        expr->number = scalar->number;
    } else if (scalar->kind == KIND_BOOL) {
        expr->kind = EXPR_BOOL;
    }
    return expr;
}

/* A scalar of NULL is a missing value. */
static void add_value(struct binder *binder, struct values *values, struct expr *expr, const struct scalar *scalar)
{
    struct strbuf text = {0};
    if (!scalar)
        strbuf_puts(&text, "missing");
    else if (scalar->logical.kind == LOGICAL_TEXT)
        strbuf_add(&text, scalar->text.at, scalar->text.length);
    else
        scalar_print(&text, scalar);
    values->names[values->count] = text.length > 0 ? arena_text(binder->arena, text.text, text.length) : NULL;
    values->at[values->count++] = expr;
    strbuf_free(&text);
}

static bool too_many(struct binder *binder, const struct stage *stage, int64_t count)
{
    if (count <= MOST_VALUES)
        return false;
    bind_error(binder, stage->across->span, "`across NAME in [A, B]` chooses some",
               "`across` makes a column of each value, at most %d, but there are %lld", MOST_VALUES, (long long)count);
    return true;
}

static void values_reserve(struct binder *binder, struct values *values, size_t count)
{
    values->at = arena_array(binder->arena, count + 1, sizeof *values->at);
    values->names = arena_array(binder->arena, count + 1, sizeof *values->names);
}

/* The values of a list. False after an error, or if they are not known in a check. */
static bool listed_values(struct binder *binder, const struct stage *stage, struct values *values)
{
    const struct expr *list = stage->values;
    if (too_many(binder, stage, (int64_t)list->arg_count - 1))
        return false;
    values_reserve(binder, values, list->arg_count);
    for (size_t i = 1; i < list->arg_count; i++) {
        struct scalar scalar;
        struct scope scope = scope_without_columns(binder, NULL, "the values of `across` are constants");
        const bool missing = list->args[i]->kind == EXPR_MISSING;
        if (!missing && bind_constant(&scope, list->args[i], &scalar) != KNOWN_VALUE)
            return false;
        add_value(binder, values, list->args[i], missing ? NULL : &scalar);
    }
    return true;
}

/* The pipeline before the stage, with the distinct values of the column as its rows. */
static const struct pipeline *pipeline_of_values(struct binder *binder, const struct stage *stage)
{
    struct pipeline *pipeline = pipeline_up_to_stage(binder);
    const size_t before = pipeline->stage_count;
    struct item *item = arena_alloc(binder->arena, sizeof *item);
    pipeline->stages = arena_grow(binder->arena, pipeline->stages, before, before + 1, sizeof *pipeline->stages);
    *item = (struct item){.expr = stage->across, .span = stage->across->span};
    struct stage *last = &pipeline->stages[before];
    *last = (struct stage){.word = stage->word, .span = stage->span, .word_span = stage->word_span};
    last->head = stage->head;
    last->items = item;
    last->item_count = 1;
    pipeline->stage_count = before + 1;
    return pipeline;
}

/* All values of the column, which the pipeline before the stage is run for. False if they are not known yet. */
static bool all_values(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t index,
                       struct values *values)
{
    struct evaluated *evaluated = evaluated_find(binder, stage->across);
    if (!evaluated || !evaluated->relation) {
        const bool wanted = true;
        struct flow source = {.columns = arena_alloc(binder->arena, sizeof *source.columns), .count = 1, .rows = -1};
        source.columns[0] = flow->columns[index];
        source.columns[0].validity = 0;
        evaluated_request(binder, stage->across, pipeline_of_values(binder, stage), &source, &wanted);
        return false;
    }
    const struct column *column = evaluated_column(evaluated, 0);
    if (!column || too_many(binder, stage, column->rows))
        return false;
    values_reserve(binder, values, (size_t)column->rows);
    for (int64_t row = 0; row < column->rows; row++) {
        struct scalar scalar = column_get(column, row);
        if (column->validity && column_get_int(column->validity, row) == 0)
            add_value(binder, values, new_expr(binder, EXPR_MISSING, stage->across->span, 0), NULL);
        else
            add_value(binder, values, literal(binder, stage->across->span, &scalar), &scalar);
    }
    return true;
}

/* The only row of a value and group, or nothing; sums and counts of nothing are 0. */
static struct expr *value_of(struct binder *binder, const struct stage *stage, size_t aggregate, struct expr *of)
{
    const struct span span = stage->span;
    const struct aggregate_function *function = aggregate_of_call(binder, stage->aggregates[aggregate].expr);
    const bool sums = function && (function->kind == AGG_SUM || function->kind == AGG_COUNT);
    const size_t keys = stage->item_count;
    struct expr *is = new_expr(binder, EXPR_BINARY, span, 2), *choice = new_expr(binder, EXPR_TERNARY, span, 3);
    struct expr *call = new_expr(binder, EXPR_CALL, span, 1);
    is->op.binary = BINARY_IS;
    is->args[0] = position(binder, span, keys + 1);
    is->args[1] = of;
    choice->args[0] = is;
    choice->args[1] = position(binder, span, keys + 2 + aggregate);
    choice->args[2] = new_expr(binder, EXPR_MISSING, span, 0);
    call->name = (struct name){sums ? "sum" : "max", span};
    call->args[0] = choice;
    return call;
}

/* The keys of the finer group are its first columns, then come the column across and the aggregates. */
static void group_again(struct binder *binder, const struct stage *stage, const struct values *values,
                        struct flow *flow)
{
    const size_t keys = stage->item_count, aggregates = stage->aggregate_count;
    struct stage *again =
        ARENA_NEW(binder->arena, struct stage, .word = stage->word, .span = stage->span, .word_span = stage->word_span);
    again->items = arena_array(binder->arena, keys + 1, sizeof *again->items);
    again->item_count = keys;
    for (size_t i = 0; i < keys; i++)
        again->items[i] = (struct item){.expr = position(binder, stage->span, i + 1), .span = stage->span};
    again->aggregates = arena_array(binder->arena, values->count * aggregates + 1, sizeof *again->aggregates);
    for (size_t v = 0; v < values->count; v++) {
        for (size_t i = 0; i < aggregates; i++) {
            struct item *item = &again->aggregates[again->aggregate_count++];
            const char *name = values->names[v];
            if (aggregates > 1)
                name = arena_printf(binder->arena, "%s_%s", name ? name : "", flow->columns[keys + 1 + i].name);
            *item = (struct item){.expr = value_of(binder, stage, i, values->at[v]), .span = stage->span};
            item->name = (struct name){name, stage->span};
        }
    }
    bind_group(binder, again, flow);
}

void bind_across(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct values values = {.count = 0};
    struct scope scope = {.binder = binder, .flow = flow, .head = stage->head};
    size_t index;
    const size_t errors = binder->errors;
    bool known = name_resolve_column(&scope, stage->across, &index);
    if (binder->errors > errors) {
        task_unknown(binder, stage, flow);
        return;
    }
    if (known)
        known = stage->values ? listed_values(binder, stage, &values) : all_values(binder, stage, flow, index, &values);
    struct stage *finer = arena_copy(binder->arena, stage, sizeof *finer);
    finer->items =
        arena_grow(binder->arena, stage->items, stage->item_count, stage->item_count + 1, sizeof *finer->items);
    finer->items[finer->item_count++] = (struct item){.expr = stage->across, .span = stage->across->span};
    bind_group(binder, finer, flow);
    if (known && !flow->open)
        group_again(binder, stage, &values, flow);
    else
        flow->open = true;
}
