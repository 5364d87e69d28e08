/* Joins by inequalities: `on a >= lo, a < hi`.
 *
 * The rows of the right with equal keys are in the order of the column of the first inequality, so those that fulfil it
 * are the first or the last of them, which a binary search in typed code counts. If the column of the second one
 * ascends in that order, as for intervals of which none lies within another, those that fulfil both are neighbours:
 * another search, and rows are expanded. If besides no two intervals overlap, there is at most one, and the join is a
 * gather. Else an operator finds the rows between by maxima (expand.c). Whether there is any at all, for a semi join,
 * the greatest value up to a place tells. */
#include "engine/join/join.h"

#include "engine/bind/facts.h"
#include "engine/expression/texts.h"

static enum binary_op compared_by(const struct join *join, size_t which)
{
    return join->items[join->equal_count + which]->compared;
}

/* a >= b, a > b: those of the right that are not beyond it. */
static bool is_lower(enum binary_op compared)
{
    return compared == BINARY_GE || compared == BINARY_GT;
}

static bool or_equal(enum binary_op compared)
{
    return compared == BINARY_GE || compared == BINARY_LE;
}

static bool refuse(const struct join *join, struct span span, const char *hint, const char *what)
{
    return bind_error(join->binder, span, hint, "%s", what);
}

bool join_order_items(struct join *join)
{
    const struct stage *stage = join->stage;
    size_t count = 0;
    join->items = arena_array(join->binder->arena, stage->item_count + 1, sizeof *join->items);
    for (int compared = 0; compared < 2; compared++) {
        for (size_t i = 0; i < stage->item_count; i++) {
            if (join->kind == JOIN_ASOF ? !compared : !!stage->items[i].compared == !!compared)
                join->items[count++] = &stage->items[i];
        }
        if (!compared)
            join->equal_count = count;
    }
    join->key_count = count;
    if (join->kind == JOIN_ASOF) {
        join->equal_count = count - 1;
        return true;
    }
    join->compared_count = count - join->equal_count;
    if (join->compared_count > 2)
        return refuse(join, join->items[join->equal_count + 2]->span, "put others into a `select` after the join",
                      "a join takes at most two inequalities");
    if (join->compared_count > 0 && join->kind == JOIN_FULL)
        return refuse(join, join->items[join->equal_count]->span,
                      "`left join` keeps the rows of the left; `anti join` the other way finds those of the right",
                      "a full join is by equal keys");
    const struct item **first = &join->items[join->equal_count];
    if (join->compared_count == 2 && !is_lower(first[0]->compared) && is_lower(first[1]->compared)) {
        const struct item *item = first[0];
        first[0] = first[1];
        first[1] = item;
    }
    return true;
}

/* Whether a value of the left is compared with both ends of intervals of the right. */
static bool has_intervals(const struct join *join)
{
    const size_t *left = &join->left_keys[join->equal_count];
    return join->compared_count == 2 && left[0] == left[1] && is_lower(compared_by(join, 0)) &&
           !is_lower(compared_by(join, 1));
}

/* Sets the places of the texts that end intervals among those that begin them. */
static void rank_texts(const struct join *join, struct join_keys *indexed)
{
    const size_t *right = &join->right_keys[join->equal_count];
    const struct dictionary *begins = join->right->columns[right[0]].logical.dictionary;
    const struct dictionary *ends = join->right->columns[right[1]].logical.dictionary;
    struct binder *binder = join->binder;
    const bool first_sorted = !texts_need_order(binder, begins), sorted = !texts_need_order(binder, ends);
    if (begins == ends || !begins || !ends || !first_sorted || !sorted) {
        indexed->intervals = begins == ends;
        return;
    }
    int32_t *less = arena_array(binder->arena, (size_t)ends->count + 1, sizeof *less);
    int64_t *ranks = arena_array(binder->arena, (size_t)ends->count + 1, sizeof *ranks);
    for (int equal = 0; equal < 2; equal++) {
        if (!dictionary_map_order(ends, begins, equal, binder->facts->workers, less))
            binder->cancelled = true;
        for (int64_t code = 0; code < ends->count; code++)
            ranks[code] += less[code];
    }
    indexed->ranks = ranks;
}

static bool is_closed(const struct join *join)
{
    return or_equal(compared_by(join, 0)) && or_equal(compared_by(join, 1));
}

void join_set_order(const struct join *join, struct column *const *keys, struct join_keys *indexed)
{
    if (join->compared_count == 0)
        return;
    indexed->order = keys[join->equal_count];
    indexed->members_only = false;
    if (join->compared_count == 1)
        return;
    indexed->second = keys[join->equal_count + 1];
    indexed->second_negated = is_lower(compared_by(join, 1));
    indexed->intervals = has_intervals(join);
    indexed->closed = indexed->intervals && is_closed(join);
    if (indexed->intervals)
        rank_texts(join, indexed);
    if (is_lower(compared_by(join, 0)))
        indexed->peaks = PEAKS_FROM_FIRST;
    else if (!join_takes_columns(join))
        indexed->peaks = PEAKS_TO_LAST;
}

bool join_is_disjoint(const struct join *join)
{
    const struct join_second *second = &join->right->index->second;
    return has_intervals(join) && second->disjoint && (!second->touching || !is_closed(join));
}

/* What is known of a row of the left: the rows of the right with its keys, in the order of the first column, those that
 * fulfil the first inequality, and what it is compared with. */
struct compared {
    value begin, end;
    value first, last; /* NO_VALUE: those of begin .. end - 1 */
    value values[2];
    value present; /* NO_VALUE: always */
};

static struct compared compare_first(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    const value one = code_exact_int(code, 1, span), id = join_index_id(join, scope);
    struct compared compared = {.present = NO_VALUE};
    for (size_t k = 0; k < join->compared_count; k++) {
        const size_t key = join->equal_count + k;
        const struct term term = term_of_column(code, &join->left, join->left_keys[key], span);
        const struct logical_type *logical = &join->right->columns[join->right_keys[key]].logical;
        compared.values[k] = match_ordered(scope, term, logical, compared_by(join, k), &compared.present, span);
    }
    compared.begin = match_table(scope, index->starts, KIND_INT, id, "starts", span);
    compared.end =
        match_table(scope, index->starts, KIND_INT, code_binary(code, OP_ADD, id, one, span), "starts", span);
    return compared;
}

/* The place behind the last element that is less, or with `equal` not greater. */
static value search(const struct join *join, struct scope *scope, struct column *table, const struct compared *compared,
                    value limit, bool equal)
{
    const struct span span = join->stage->span;
    const value last = match_last(scope, table, join->right->index->most, compared->begin, compared->end,
                                  equal ? OP_LE : OP_LT, limit, span);
    return code_with(scope->code, OP_ADD, last, 1, span);
}

/* Those that fulfil the first inequality. */
static void search_first(const struct join *join, struct scope *scope, struct compared *compared)
{
    struct column *order = join->right->index->order;
    const enum binary_op by = compared_by(join, 0);
    const bool lower = is_lower(by);
    const value at = search(join, scope, order, compared, compared->values[0], lower == or_equal(by));
    compared->first = lower ? compared->begin : at;
    compared->last = lower ? at : compared->end;
}

static struct places find_places(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    struct compared compared = compare_first(join, scope);
    struct places places = {.most = index->rows, .limit = NO_VALUE};
    search_first(join, scope, &compared);
    if (join->compared_count == 2) {
        const enum binary_op by = compared_by(join, 1);
        const value limit =
            is_lower(by) ? code_binary(code, OP_BITNOT, compared.values[1], NO_VALUE, span) : compared.values[1];
        /* Where the values, or the greatest so far, begin to be great enough. */
        struct column *rising = index->second.ascending ? index->second.values : index->second.peaks;
        if (index->second.ascending || is_lower(compared_by(join, 0))) {
            const value from = search(join, scope, rising, &compared, limit, !or_equal(by));
            compared.first = code_binary(code, OP_MAX, compared.first, from, span);
        }
        if (!index->second.ascending) {
            places.limit = limit;
            places.above = (struct expand_above){
                .elements = index->second.values, .or_equal = or_equal(by), .keeps = join_keeps_left(join)};
            queue_hold(join->binder->queue, column_ref(index->second.values));
        }
    }
    const value zero = code_exact_int(code, 0, span);
    value count = code_binary(code, OP_SUB, compared.last, compared.first, span);
    count = code_binary(code, OP_MAX, count, zero, span);
    if (compared.present != NO_VALUE)
        count = code_op(code, OP_SELECT, compared.present, count, zero, span);
    places.begin = compared.first;
    places.count = count;
    return places;
}

/* The one interval that may contain the value: the last that does not begin after it. */
static struct match find_interval(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    struct compared compared = compare_first(join, scope);
    search_first(join, scope, &compared);
    const value zero = code_exact_int(code, 0, span);
    const value at = code_with(code, OP_SUB, compared.last, 1, span);
    struct match place = {.row = code_binary(code, OP_MAX, at, zero, span),
                          .found = code_binary(code, OP_LE, compared.begin, at, span)};
    const value end = match_table(scope, index->second.values, KIND_INT, place.row, "ends", span);
    const enum op below = or_equal(compared_by(join, 1)) ? OP_LE : OP_LT;
    place.found = code_binary(code, OP_AND, place.found, code_binary(code, below, compared.values[1], end, span), span);
    place.found = present_both(code, place.found, compared.present, span);
    if (!index->in_order)
        place.row = match_table(scope, index->row_of, KIND_INT, place.row, "rows", span);
    return place;
}

/* Whether any row of the right fulfils both. */
static value find_any(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    const value one = code_exact_int(code, 1, span), zero = code_exact_int(code, 0, span);
    struct compared compared = compare_first(join, scope);
    const bool lower = is_lower(compared_by(join, 0));
    value at, held, limit;
    const enum binary_op by = compared_by(join, join->compared_count - 1);
    if (join->compared_count == 1) { /* the least or the greatest of all does, or none */
        at = lower ? compared.begin : code_binary(code, OP_SUB, compared.end, one, span);
        compared.first = compared.begin;
        compared.last = compared.end;
        limit = compared.values[0];
    } else {
        search_first(join, scope, &compared);
        at = lower ? code_binary(code, OP_SUB, compared.last, one, span) : compared.first;
        limit = is_lower(by) ? code_binary(code, OP_BITNOT, compared.values[1], NO_VALUE, span) : compared.values[1];
    }
    struct column *table = join->compared_count == 1 ? index->order : index->second.peaks;
    at = code_binary(code, OP_MIN, code_binary(code, OP_MAX, at, zero, span), code_int(code, index->rows - 1, span),
                     span);
    held = match_table(scope, table, KIND_INT, at, "order", span);
    const enum op below = or_equal(by) ? OP_LE : OP_LT;
    value found = join->compared_count == 1 && lower ? code_binary(code, below, held, limit, span)
                                                     : code_binary(code, below, limit, held, span);
    found = code_binary(code, OP_AND, found, code_binary(code, OP_LT, compared.first, compared.last, span), span);
    return present_both(code, found, compared.present, span);
}

void join_compared(struct join *join, struct scope *scope, struct flow *flow)
{
    const struct span span = join->stage->span;
    const bool any = join->right->relation->rows > 0;
    const value never = code_bool(scope->code, false, span);
    const struct match none = {.row = code_exact_int(scope->code, 0, span), .found = never};
    if (!join_takes_columns(join)) {
        join_keep(join, scope, any ? find_any(join, scope) : never, flow);
    } else if (!any) {
        join_gather(join, scope, none, flow);
    } else if (join_is_disjoint(join)) {
        join_gather(join, scope, find_interval(join, scope), flow);
    } else if (join->kind == JOIN_LOOKUP) {
        bind_error(join->binder, join->items[join->equal_count]->span,
                   has_intervals(join) ? "`left join` takes all of them"
                                       : "as in `lookup s on day >= first, day < last`; `left join` takes all rows",
                   has_intervals(join) ? "`lookup` finds one row at most, but intervals of `%s` overlap"
                                       : "`lookup` finds one row at most: by equal keys, or in intervals of `%s`",
                   join_source_text(join));
        task_set_slots(join->binder, scope->task, flow, NULL, NULL, 0, 0);
        flow->open = true;
    } else {
        const struct places places = find_places(join, scope);
        join_expand(join, scope, &places, flow);
    }
}
