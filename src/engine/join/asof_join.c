/* asof join: of the rows of the right with equal keys the latest that is not after that of the left, or the first that
 * is not before it, or the closer one of these, perhaps only within a distance. Found by a binary search in typed code:
 * as many steps as the most rows of an id need. */
#include "engine/join/join.h"

#include "engine/lower/over.h"

#include <string.h>

enum { SHOWN = 40 };

static const struct item *time_of(const struct join *join)
{
    return join->items[join->equal_count];
}

static bool is_nearest(const struct join *join)
{
    return join->stage->nearness.text && strcmp(join->stage->nearness.text, "nearest") == 0;
}

static bool is_forward(const struct join *join)
{
    const enum binary_op compared = time_of(join)->compared;
    return compared ? compared == BINARY_LT || compared == BINARY_LE : join->stage->nearness.text && !is_nearest(join);
}

/* t > time, t < time: not at the same time. */
static bool is_strict(const struct join *join)
{
    const enum binary_op compared = time_of(join)->compared;
    return compared == BINARY_LT || compared == BINARY_GT;
}

const char *join_asof_row(const struct join *join)
{
    if (is_nearest(join))
        return "the nearest";
    return is_forward(join)  ? is_strict(join) ? "the first after" : "the first not before"
           : is_strict(join) ? "the last before"
                             : "the last not after";
}

/* Checks what is written of the order, which other joins have not. */
static bool check_words(const struct join *join)
{
    const struct stage *stage = join->stage;
    const bool asof = join->kind == JOIN_ASOF;
    if (!asof && (stage->nearness.text || stage->within))
        return bind_error(join->binder, stage->nearness.text ? stage->nearness.span : stage->within->span,
                          "as in `asof join quotes on sym, time nearest within 5min`", "`%s` belongs to `asof join`",
                          stage->nearness.text ? stage->nearness.text : "within");
    for (size_t i = 0; i < join->equal_count && asof; i++) {
        if (join->items[i]->compared)
            return bind_error(join->binder, join->items[i]->span, "the other keys must be equal",
                              "only the last key of an asof join is compared by an order");
    }
    if (asof && time_of(join)->compared && stage->nearness.text)
        return bind_error(join->binder, stage->nearness.span, "`time >= t` looks back, `time <= t` forward",
                          "the inequality says already where to look");
    return true;
}

/* A distance in decimals of this scale: a literal, an integer or a decimal. */
static bool scaled_distance(const struct expr *within, const struct scalar *scalar, int scale, int64_t *distance)
{
    const bool literal = within->kind == EXPR_FLOAT && within->decimal;
    const int digits = literal ? within->scale : scalar->logical.kind == LOGICAL_DECIMAL ? scalar->logical.scale : 0;
    if ((!literal && (scalar->kind != KIND_INT || !scalar_fits(scalar))) || scalar->missing || digits > scale)
        return false;
    int128 scaled = literal ? within->integer : scalar->integer;
    for (int i = digits; i < scale && scaled < INT64_MAX && scaled > INT64_MIN; i++)
        scaled *= 10;
    *distance = (int64_t)scaled;
    return scaled <= INT64_MAX && scaled >= INT64_MIN;
}

/* Finds the greatest distance from the time; false after an error. */
static bool bind_within(struct join *join, enum term_class which, int scale)
{
    struct binder *binder = join->binder;
    const struct expr *within = join->stage->within;
    const char *text = text_of_span(binder->arena, within->span, SHOWN);
    struct scalar scalar;
    struct scope constants = scope_without_columns(binder, NULL, "the distance is the same for all rows");
    if (within->kind == EXPR_MONTHS)
        return bind_error(binder, within->span, "use days, as in `within 30d`", "months differ in length");
    if (bind_constant(&constants, within, &scalar) != KNOWN_VALUE)
        return true;
    const bool decimal = which == CLASS_DECIMAL;
    if (!(decimal ? scaled_distance(within, &scalar, scale, &join->distance)
                  : distance_in(which, &scalar, &join->distance)))
        return bind_error(binder, within->span,
                          which == CLASS_INT || decimal ? "as in `within 10`"
                          : which == CLASS_DATE         ? "as in `within 7` or `within 1w`"
                                                        : "as in `within 5min`",
                          "`%s` is no distance in `%s`", text,
                          join->left.columns[join->left_keys[join->equal_count]].name);
    join->bounded = true;
    return join->distance >= 0 ||
           bind_error(binder, within->span, "`forward` looks for later rows", "the distance %s is negative", text);
}

bool join_check_order(struct join *join, struct scope *scope)
{
    if (!check_words(join))
        return false;
    if (join->kind != JOIN_ASOF)
        return true;
    const size_t last = join->key_count - 1;
    const struct slot *slot = &join->left.columns[join->left_keys[last]];
    struct term term = term_of_column(scope->code, &join->left, join->left_keys[last], join->stage->span);
    if (!term_is_known(term))
        return true;
    if (scope->code->at[term.value].kind == KIND_INT && slot->logical.kind != LOGICAL_TEXT)
        return !join->stage->within || bind_within(join, class_of(scope->code, term), slot->logical.scale);
    return bind_error(join->binder, join->items[last]->span, "as in `asof join quotes on sym, time`",
                      "the last key of an asof join is a time, a date or an integer, but `%s` is %s", slot->name,
                      logical_type_name(slot->logical, slot->type));
}

/* A row of the left, and those of the right with its keys: begin .. end - 1, in order. */
struct search {
    const struct join *join;
    struct scope *scope;
    value begin, end, time;
};

static value last_place(const struct search *search, enum op below)
{
    const struct join_index *index = search->join->right->index;
    return match_last(search->scope, index->order, index->most, search->begin, search->end, below, search->time,
                      search->join->stage->span);
}

/* The time at a place, which may be beyond the ends. */
static value time_at(const struct search *search, value place)
{
    const struct join_index *index = search->join->right->index;
    const struct span span = search->join->stage->span;
    struct code *code = search->scope->code;
    const value last = code_int(code, index->rows - 1, span);
    const value inside = code_binary(code, OP_MIN, code_with(code, OP_MAX, place, 0, span), last, span);
    return match_table(search->scope, index->order, KIND_INT, inside, "order", span);
}

/* The closer one of the last that is not after, and the one behind it. */
static struct match nearest_place(const struct search *search)
{
    const struct span span = search->join->stage->span;
    struct code *code = search->scope->code;
    const value one = code_exact_int(code, 1, span);
    const value before = last_place(search, OP_LE), after = code_binary(code, OP_ADD, before, one, span);
    const value a = time_at(search, before), b = time_at(search, after);
    /* Half of a + b, rounded down, without their sum: time - a <= b - time where the time is not beyond it. */
    const value half = code_binary(code, OP_SHR, code_binary(code, OP_XOR, a, b, span), one, span);
    const value middle = code_binary(code, OP_ADD, code_binary(code, OP_BITAND, a, b, span), half, span);
    const value has_before = code_binary(code, OP_LE, search->begin, before, span);
    const value has_after = code_binary(code, OP_LT, after, search->end, span);
    const value closer = code_binary(code, OP_LE, search->time, middle, span);
    const value no_after = code_binary(code, OP_NOT, has_after, NO_VALUE, span);
    const value back = code_binary(code, OP_AND, has_before, code_binary(code, OP_OR, no_after, closer, span), span);
    return (struct match){.row = code_op(code, OP_SELECT, back, before, after, span),
                          .found = code_binary(code, OP_OR, has_before, has_after, span)};
}

static struct match place_of_time(const struct search *search)
{
    const struct join *join = search->join;
    const struct span span = join->stage->span;
    struct code *code = search->scope->code;
    const bool strict = is_strict(join);
    if (is_nearest(join))
        return nearest_place(search);
    if (!is_forward(join)) {
        const value at = last_place(search, strict ? OP_LT : OP_LE);
        return (struct match){.row = at, .found = code_binary(code, OP_LE, search->begin, at, span)};
    }
    const value before = last_place(search, strict ? OP_LE : OP_LT);
    const value at = code_with(code, OP_ADD, before, 1, span);
    return (struct match){.row = at, .found = code_binary(code, OP_LT, at, search->end, span)};
}

/* Whether the time at the place is at most so far. The sums are of times from which they fit. */
static value is_near(const struct search *search, value place)
{
    const struct join *join = search->join;
    const int64_t distance = join->distance;
    const struct span span = join->stage->span;
    struct code *code = search->scope->code;
    const value far = code_int(code, distance, span), held = time_at(search, place);
    value near = NO_VALUE;
    if (is_nearest(join) || !is_forward(join)) {
        value from = code_binary(code, OP_MAX, search->time, code_int(code, INT64_MIN + distance, span), span);
        from = code_binary(code, OP_SUB, from, far, span);
        near = code_binary(code, OP_LE, from, held, span);
    }
    if (is_nearest(join) || is_forward(join)) {
        value to = code_binary(code, OP_MIN, search->time, code_int(code, INT64_MAX - distance, span), span);
        to = code_binary(code, OP_ADD, to, far, span);
        near = present_both(code, code_binary(code, OP_LE, held, to, span), near, span);
    }
    return near;
}

static struct match asof_place(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    value zero = code_exact_int(code, 0, span), one = code_exact_int(code, 1, span);
    struct match place = {.row = zero, .found = code_bool(code, false, span)};
    struct term time = term_of_column(code, &join->left, join->left_keys[join->equal_count], span);
    if (index->rows == 0 || (join->stage->within && !join->bounded))
        return place;
    const value id = join_index_id(join, scope);
    struct search search = {.join = join, .scope = scope, .time = time.value};
    search.begin = match_table(scope, index->starts, KIND_INT, id, "starts", span);
    search.end = match_table(scope, index->starts, KIND_INT, code_binary(code, OP_ADD, id, one, span), "starts", span);
    place = place_of_time(&search);
    place.found = present_both(code, place.found, time.present, span);
    if (join->stage->within)
        place.found = code_binary(code, OP_AND, place.found, is_near(&search, place.row), span);
    place.row = code_binary(code, OP_MAX, place.row, zero, span);
    if (is_nearest(join) || is_forward(join))
        place.row = code_binary(code, OP_MIN, place.row, code_int(code, index->rows - 1, span), span);
    if (!index->in_order)
        place.row = match_table(scope, index->row_of, KIND_INT, place.row, "rows", span);
    return place;
}

void join_asof(struct join *join, struct scope *scope, struct flow *flow)
{
    const struct match place = join->right->relation ? asof_place(join, scope) : join_any_place(join, scope);
    join_set_outputs(join, scope->task, join_left_terms(join, scope->code), place, flow);
}
