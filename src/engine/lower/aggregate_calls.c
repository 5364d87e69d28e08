/* Finds the calls of aggregates in expressions and lowers them, those within arguments of others first. */
#include "engine/bind/facts.h"
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/aggregates.h"

/* The calls of a stage, inner ones before those whose arguments they are in. */
struct calls {
    struct arena *arena;
    struct aggregate_call *at;
    size_t count, capacity, deepest;
    struct definition_level *definitions; /* of local names */
    size_t definition_count, definition_capacity;
};

struct definition_level {
    const struct expr *definition;
    size_t level;
};

static bool fits_function(struct binder *binder, const struct expr *expr, const struct aggregate_function *function)
{
    if (expr->arg_count >= function->least && expr->arg_count <= function->most)
        return true;
    const struct aggregate_function *canonical = aggregate_find(function->canonical);
    const char *takes = text_of_count(binder->arena, (int64_t)function->most, "argument");
    if (function->least < function->most)
        takes = arena_printf(binder->arena, "%zu or %s", function->least, takes);
    return bind_error(binder, expr->span,
                      arena_printf(binder->arena, "as in `%s`: %s", canonical->usage, canonical->summary),
                      "`%s` takes %s, not %zu", function->name, takes, expr->arg_count);
}

static size_t collect(struct binder *binder, const struct expr *expr, struct calls *calls);

/* The level of a local name, whose definition comes before it. */
static size_t level_of_name(const struct calls *calls, const struct expr *name)
{
    for (size_t i = 0; name->definition && i < calls->definition_count; i++) {
        if (calls->definitions[i].definition == name->definition)
            return calls->definitions[i].level;
    }
    return 0;
}

static size_t collect_arguments(struct binder *binder, const struct expr *expr, struct calls *calls)
{
    size_t level = 0;
    for (size_t i = 0; i < expr->arg_count; i++) {
        const size_t inner = expr->args[i] ? collect(binder, expr->args[i], calls) : 0;
        level = inner > level ? inner : level;
        if (expr->kind != EXPR_LET)
            continue;
        *ARENA_PUSH(calls->arena, calls->definitions, calls->definition_count, calls->definition_capacity) =
            (struct definition_level){expr->args[i], inner};
    }
    return level;
}

/* Adds the calls in an expression; returns how deep they are nested: 0 if there are none. */
static size_t collect(struct binder *binder, const struct expr *expr, struct calls *calls)
{
    const struct aggregate_function *function = aggregate_of_call(binder, expr);
    if (expr->kind == EXPR_NAME)
        return level_of_name(calls, expr);
    /* The aggregate of a window is none of all rows. */
    const size_t level = collect_arguments(binder, expr->kind == EXPR_OVER ? expr->args[0] : expr, calls);
    if (!function)
        return level;
    *ARENA_PUSH(calls->arena, calls->at, calls->count, calls->capacity) =
        (struct aggregate_call){.expr = expr, .function = function, .level = level};
    calls->deepest = level > calls->deepest ? level : calls->deepest;
    return level + 1;
}

static void collect_items(struct binder *binder, const struct item *items, size_t count, struct calls *calls)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].expr)
            collect(binder, items[i].expr, calls);
    }
}

bool aggregates_any(const struct binder *binder, const struct expr *expr)
{
    bool any = aggregate_of_call(binder, expr);
    if (expr->kind == EXPR_OVER)
        expr = expr->args[0];
    for (size_t i = 0; i < expr->arg_count && !any; i++)
        any = expr->args[i] && aggregates_any(binder, expr->args[i]);
    return any;
}

/* Whether something but the arguments of aggregates depends on the row. */
static bool reads_rows(const struct binder *binder, const struct expr *expr)
{
    if (aggregate_of_call(binder, expr))
        return false;
    bool reads = expr->kind == EXPR_NAME || expr->kind == EXPR_POSITION || expr->kind == EXPR_INDEX ||
                 expr->kind == EXPR_OVER || expr->kind == EXPR_FOLD;
    for (size_t i = 0; i < expr->arg_count && !reads; i++)
        reads = expr->args[i] && reads_rows(binder, expr->args[i]);
    return reads;
}

bool aggregates_alone(const struct binder *binder, const struct expr *expr)
{
    return aggregates_any(binder, expr) && !reads_rows(binder, expr);
}

static const struct aggregate_recipe *recipe_of(const struct binder *binder, const struct aggregate_call *call)
{
    const struct aggregate_recipe *remote = binder->facts->remote ? aggregate_recipe_remote(call) : NULL;
    return remote ? remote : aggregate_recipe_of(call->function);
}

/* A relation of groups while it is built: terms that become its columns. */
struct builder {
    struct reader reader;
    struct task *task;
    struct slot *slots;
    struct term *terms;
    size_t count;
};

static void builder_begin(struct builder *builder, const struct aggregation *of, const struct flow *flow, size_t most)
{
    struct binder *binder = of->binder;
    *builder = (struct builder){.task = task_reading(binder, "map", of->stage->span, flow)};
    builder->reader = (struct reader){.of = of, .flow = flow};
    builder->reader.scope = scope_of_stage(binder, builder->task, flow, NULL);
    builder->slots = arena_array(binder->arena, most + 1, sizeof *builder->slots);
    builder->terms = arena_array(binder->arena, most + 1, sizeof *builder->terms);
}

/* The slot has the term's type if it has none that fits. */
static size_t builder_add(struct builder *builder, struct term term, struct slot slot)
{
    if (term_is_known(term)) {
        const enum kind kind = builder->reader.scope.code->at[term.value].kind;
        slot.logical = term.logical;
        slot.known = true;
        if (type_table[slot.type].kind != kind)
            slot.type = type_of_kind(kind);
    } else {
        slot.known = false;
    }
    builder->slots[builder->count] = slot;
    builder->terms[builder->count] = term;
    return builder->count++;
}

static void builder_end(struct builder *builder, struct flow *flow)
{
    struct binder *binder = builder->reader.of->binder;
    const int64_t rows = builder->reader.flow->rows;
    *flow = (struct flow){.rows = rows};
    name_columns(binder, builder->slots, builder->count);
    task_set_outputs(binder, builder->task, flow, builder->slots, builder->terms, builder->count);
}

/* The groups of a stage, or rows at hand, while they are lowered. */
struct group_lowering {
    struct aggregation of;
    const struct key_operands *id_keys; /* of group_ids_add, whose groups have keys; NULL: none */
    size_t id_key_count;
    struct lowering passes;
    size_t first_row; /* the partial of the first pass with each group's first row, where id_keys is set */
};

static struct term key_of_row(struct builder *builder, const struct group_lowering *group,
                              const struct key_operands *key)
{
    struct scope *scope = &builder->reader.scope;
    const struct span span = group->of.stage->span;
    const value row = reader_value(&builder->reader, &group->passes.first, group->first_row, span);
    struct term term = term_at(scope, group->of.flow, key->value, row, span);
    term.present = NO_VALUE;
    if (key->nullable) {
        const value missing = term_at(scope, group->of.flow, key->missing, row, span).value;
        term.present = code_unary(scope->code, OP_NOT, missing, span);
    }
    term.logical = key->slot.logical;
    return term;
}

/* The keys of the groups, which are columns of the first pass or of each group's first row. */
static void add_keys(struct builder *builder, const struct group_lowering *group)
{
    const struct pass *first = &group->passes.first;
    const struct span span = group->of.stage->span;
    struct code *code = builder->reader.scope.code;
    for (size_t i = 0; i < group->id_key_count; i++)
        builder_add(builder, key_of_row(builder, group, &group->id_keys[i]), group->id_keys[i].slot);
    size_t column = 0;
    for (size_t i = 0; i < group->of.key_count; i++) {
        value present = NO_VALUE;
        if (first->keys[i].nullable) {
            const value missing = code_input(code, (int64_t)column++, KIND_BOOL, span);
            present = code_unary(code, OP_NOT, missing, span);
        }
        struct slot slot = first->flow.columns[column];
        struct term term = term_of_column(code, &first->flow, column++, span);
        term.present = present;
        builder_add(builder, term, slot);
    }
}

static struct term value_of_call(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    if (!call->known)
        return unknown_term;
    return call->plain ? reader_partial(reader, call->pass, call->partial[0], call->expr->span)
                       : recipe_of(reader->of->binder, call)->finish(reader, call, second);
}

/* Whether the columns of the first pass are the result as they are. */
static bool is_plain(const struct group_lowering *group, const struct aggregate_call *calls, size_t count)
{
    bool plain = !group->id_keys;
    for (size_t i = 0; i < group->of.key_count; i++)
        plain = plain && !group->passes.first.keys[i].nullable;
    for (size_t i = 0; i < count; i++)
        plain = plain && calls[i].plain && calls[i].pass == &group->passes.first;
    return plain;
}

/* The second pass, of calls that need it, and the relation with all values; `between` has those of the others. */
static void lower_again(struct group_lowering *group, struct aggregate_call *calls, size_t count,
                        const struct flow *between, size_t keys, size_t *columns, struct flow *result)
{
    struct lowering *passes = &group->passes;
    struct builder builder;
    passes->between = between;
    pass_begin(&passes->second, &group->of);
    for (size_t i = 0; i < count; i++) {
        if (recipe_of(group->of.binder, &calls[i])->again && calls[i].known)
            recipe_of(group->of.binder, &calls[i])->again(passes, &calls[i]);
    }
    pass_end(&passes->second);
    builder_begin(&builder, &group->of, between, keys + count);
    struct code *code = builder.reader.scope.code;
    for (size_t i = 0; i < keys; i++)
        builder_add(&builder, term_of_column(code, between, i, group->of.stage->span), between->columns[i]);
    for (size_t i = 0; i < count; i++) {
        const bool again = recipe_of(group->of.binder, &calls[i])->again;
        struct term term = again ? value_of_call(&builder.reader, &calls[i], &passes->second)
                                 : term_of_column(code, between, columns[i], calls[i].expr->span);
        columns[i] = builder_add(&builder, term, calls[i].slot);
    }
    builder_end(&builder, result);
}

/* The value's column is named as the call is written: errors and `explain` show it. */
static void name_value(struct binder *binder, struct aggregate_call *call, struct pass *first)
{
    enum { SHOWN = 40 };
    call->slot.name = text_of_span(binder->arena, call->expr->span, SHOWN);
    if (call->plain && call->pass == first)
        first->partials[call->partial[0]].slot.name = first->partials[call->partial[0]].what.name = call->slot.name;
}

/* Lowers calls without calls in their arguments: `result` has the keys, and call i in column columns[i]. Returns
 * whether it is computed of the first pass. */
static bool lower_calls(struct group_lowering *group, struct aggregate_call *calls, size_t count, size_t *columns,
                        struct flow *result)
{
    struct binder *binder = group->of.binder;
    struct lowering *passes = &group->passes;
    const size_t errors = binder->errors, keys = group->of.key_count + group->id_key_count;
    struct builder builder;
    bool again = false;
    passes->of = &group->of;
    pass_begin(&passes->first, &group->of);
    for (size_t i = 0; i < count; i++) {
        if (fits_function(binder, calls[i].expr, calls[i].function)) {
            recipe_of(binder, &calls[i])->begin(passes, &calls[i]);
            name_value(binder, &calls[i], &passes->first);
        }
        again = again || recipe_of(binder, &calls[i])->again;
    }
    if (group->id_keys)
        group->first_row =
            pass_add_plain(&passes->first, AGG_MIN, code_row(passes->first.operands.scope.code, group->of.stage->span),
                           group->of.stage->span);
    pass_end(&passes->first);
    if (is_plain(group, calls, count)) {
        *result = passes->first.flow;
        for (size_t i = 0; i < count; i++)
            columns[i] = passes->first.key_columns + calls[i].partial[0];
        return false;
    }
    builder_begin(&builder, &group->of, &passes->first.flow, keys + count * MOST_BETWEEN);
    add_keys(&builder, group);
    for (size_t i = 0; i < count; i++) {
        const struct aggregate_recipe *recipe = recipe_of(binder, &calls[i]);
        struct term terms[MOST_BETWEEN];
        if (!recipe->between) {
            columns[i] = builder_add(&builder, value_of_call(&builder.reader, &calls[i], NULL), calls[i].slot);
            continue;
        }
        const size_t between = calls[i].known ? recipe->between(&builder.reader, &calls[i], terms) : 0;
        for (size_t k = 0; k < between; k++)
            calls[i].between[k] = builder_add(&builder, terms[k], slot_of_term(&builder.reader.scope, terms[k]));
        if (between == 0)
            columns[i] = builder_add(&builder, unknown_term, calls[i].slot);
    }
    struct flow *between = arena_alloc(binder->arena, sizeof *between);
    builder_end(&builder, between);
    *result = *between;
    if (again && binder->errors == errors)
        lower_again(group, calls, count, between, keys, columns, result);
    return true;
}

static void add_values(struct arena *arena, struct aggregate_values *values, const struct aggregate_call *calls,
                       const size_t *columns, size_t count, const struct flow *flow)
{
    struct flow *kept = arena_copy(arena, flow, sizeof *kept);
    for (size_t i = 0; i < count; i++) {
        *ARENA_PUSH(arena, values->at, values->count, values->capacity) =
            (struct aggregate_value){calls[i].expr, kept, columns[i]};
    }
}

/* Lowers the calls of one level. */
static bool lower_level(struct group_lowering *group, const struct calls *calls, size_t level,
                        struct aggregate_values *values, struct flow *result)
{
    struct arena *arena = calls->arena;
    struct aggregate_call *chosen = arena_array(arena, calls->count + 1, sizeof *chosen);
    size_t *columns = arena_array(arena, calls->count + 1, sizeof *columns), count = 0;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->at[i].level == level)
            chosen[count++] = calls->at[i];
    }
    const bool computed = lower_calls(group, chosen, count, columns, result);
    add_values(arena, values, chosen, columns, count, result);
    return computed;
}

const struct aggregate_values *aggregates_of_stage(struct binder *binder, const struct stage *stage,
                                                   const struct flow *flow, const size_t *ids,
                                                   struct aggregate_values *values)
{
    struct calls calls = {.arena = binder->arena};
    collect_items(binder, stage->items, stage->item_count, &calls);
    if (stage->otherwise)
        collect(binder, stage->otherwise, &calls);
    *values = (struct aggregate_values){.rows = ids ? AGGREGATES_BY_ID : AGGREGATES_OF_ALL};
    values->ids = ids ? *ids : 0;
    if (calls.count == 0)
        return NULL;
    struct flow *kept = arena_copy(binder->arena, flow, sizeof *kept);
    binder->aggregates = values;
    for (size_t level = 0; level <= calls.deepest; level++) {
        struct group_lowering group = {
            .of = {.binder = binder, .stage = stage, .flow = kept, .by_ids = ids, .ids = values->ids}};
        struct flow result;
        lower_level(&group, &calls, level, values, &result);
    }
    binder->aggregates = NULL;
    return values;
}

size_t aggregate_by_ids(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t ids,
                        const struct expr *expr, struct flow *groups)
{
    struct aggregate_call call = {.expr = expr, .function = aggregate_of_call(binder, expr)};
    struct group_lowering group = {.of = {.binder = binder, .stage = stage, .flow = flow, .by_ids = true, .ids = ids}};
    size_t column = 0;
    lower_calls(&group, &call, 1, &column, groups);
    return column;
}

/* Whether some call reads the aggregates of its group row by row. */
static bool needs_ids(const struct binder *binder, const struct calls *calls)
{
    bool needs = calls->deepest > 0;
    for (size_t i = 0; i < calls->count; i++)
        needs = needs || recipe_of(binder, &calls->at[i])->again || recipe_of(binder, &calls->at[i])->by_ids;
    return needs;
}

void groups_lower(struct binder *binder, const struct stage *stage, const struct flow *flow, struct groups *groups)
{
    struct arena *arena = binder->arena;
    struct calls calls = {.arena = arena};
    collect_items(binder, stage->aggregates, stage->aggregate_count, &calls);
    const size_t key_count = stage->item_count;
    struct flow *rows = arena_alloc(arena, sizeof *rows);
    struct key_operands *keys = arena_array(arena, key_count + 1, sizeof *keys);
    *rows = *flow;
    *groups = (struct groups){.key_count = key_count};
    struct group_lowering group = {.of = {.binder = binder, .stage = stage, .flow = rows}};
    if (key_count > 0 && needs_ids(binder, &calls)) {
        group.of.by_ids = true;
        group.of.ids = group_ids_add(binder, stage, stage->items, key_count, rows, keys);
        group.id_keys = keys;
        group.id_key_count = key_count;
    } else {
        group.of.keys = stage->items;
        group.of.key_count = key_count;
    }
    /* Calls within arguments are of the rows' groups. */
    struct aggregate_values inner = {.rows = group.of.by_ids ? AGGREGATES_BY_ID : AGGREGATES_OF_ALL,
                                     .ids = group.of.ids};
    for (size_t level = 0; level < calls.deepest; level++) {
        struct group_lowering within = {.of = group.of};
        struct flow result;
        binder->aggregates = &inner;
        lower_level(&within, &calls, level, &inner, &result);
    }
    binder->aggregates = calls.deepest > 0 ? &inner : binder->aggregates;
    groups->values.rows = AGGREGATES_OF_GROUP;
    groups->computed = lower_level(&group, &calls, calls.deepest, &groups->values, &groups->flow);
    for (size_t i = 0; i < inner.count; i++) {
        *ARENA_PUSH(arena, groups->values.at, groups->values.count, groups->values.capacity) = inner.at[i];
    }
    binder->aggregates = NULL;
    groups->key_names = arena_array(arena, key_count + 1, sizeof *groups->key_names);
    for (size_t i = 0; i < key_count; i++)
        groups->key_names[i] = group.id_keys ? keys[i].slot.name : group.passes.first.keys[i].slot.name;
}
