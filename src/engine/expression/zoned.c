#include "engine/expression/zoned.h"

#include "base/time/calendar.h"
#include "base/time/time_zone.h"
#include "engine/expression/match.h"

#include <string.h>
#include <strings.h>

enum { OPERAND_SHOWN = 40 };

/* The tables of a zone as columns of which typed code reads elements, once for a binding. */
struct zone_columns {
    const struct time_zone *zone;
    struct column *offsets, *begins[2], *first[2]; /* by time in UTC, by local time */
    struct zone_columns *next;
};

enum order { BY_UTC, BY_LOCAL };

static const struct time_intervals *intervals_of(const struct time_zone *zone, enum order order)
{
    return order == BY_UTC ? &zone->utc : &zone->local;
}

static struct column *column_of_slots(const struct time_intervals *intervals, int64_t intervals_count)
{
    struct column *column = column_reserve(TYPE_U16, TYPE_U16, intervals->slots);
    if (!column)
        return NULL;
    memcpy(column_at(column, 0), intervals->first, (size_t)intervals->slots * sizeof *intervals->first);
    column_finish(column, intervals->slots);
    column_set_range(column, true, 0, intervals_count - 1);
    return column;
}

static struct column *column_of_offsets(const struct time_zone *zone)
{
    struct column *column = column_of_ints(zone->offsets, zone->stored);
    if (!column)
        return NULL;
    column->range_known = true;
    column->lo = column->hi = zone->offsets[0];
    for (int64_t k = 1; k < zone->count; k++) {
        column->lo = zone->offsets[k] < column->lo ? zone->offsets[k] : column->lo;
        column->hi = zone->offsets[k] > column->hi ? zone->offsets[k] : column->hi;
    }
    return column;
}

/* NULL: no memory, which is an error. */
static struct zone_columns *columns_of(struct scope *scope, const struct time_zone *zone, struct span span)
{
    struct binder *binder = scope->binder;
    for (struct zone_columns *known = binder->zones; known; known = known->next) {
        if (known->zone == zone)
            return known;
    }
    struct zone_columns *new = ARENA_NEW(binder->arena, struct zone_columns, .zone = zone, .next = binder->zones,
                                         .offsets = column_of_offsets(zone));
    bool whole = new->offsets;
    for (enum order order = BY_UTC; order <= BY_LOCAL; order++) {
        const struct time_intervals *intervals = intervals_of(zone, order);
        new->begins[order] = column_of_ints(intervals->begins, zone->stored);
        new->first[order] = column_of_slots(intervals, zone->count);
        whole = whole && new->begins[order] && new->first[order];
    }
    struct column *const columns[] = {new->offsets, new->begins[0], new->begins[1], new->first[0], new->first[1]};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        if (columns[k])
            queue_hold(binder->queue, columns[k]);
    }
    if (!whole) {
        bind_error(binder, span, NULL, "not enough memory for the time zone %s", zone->name);
        return NULL;
    }
    return binder->zones = new;
}

/* The number of the interval with a time. */
static value interval_of(struct scope *scope, const struct zone_columns *columns, enum order order, value time,
                         struct span span)
{
    const struct time_intervals *intervals = intervals_of(columns->zone, order);
    const value base = code_int(scope->code, intervals->base, span),
                last = code_int(scope->code, intervals->last, span);
    const value within =
        code_binary(scope->code, OP_MIN, code_binary(scope->code, OP_MAX, time, base, span), last, span);
    const value distance = code_binary(scope->code, OP_SUB, within, base, span);
    const value slot = code_with(scope->code, OP_SHR, distance, TIME_ZONE_SLOT, span);
    value k = match_table(scope, columns->first[order], KIND_INT, slot, "slots", span);
    for (int step = 0; step < intervals->steps; step++) {
        const value next = code_with(scope->code, OP_ADD, k, 1, span);
        const value begin = match_table(scope, columns->begins[order], KIND_INT, next, "changes", span);
        const value begun = code_binary(scope->code, OP_LE, begin, time, span);
        k = code_binary(scope->code, OP_ADD, k, code_binary(scope->code, OP_BOOL_TO_INT, begun, NO_VALUE, span), span);
    }
    return k;
}

/* Whether the code can read tables where it is. */
static bool has_tables(struct scope *scope, struct span span)
{
    if (scope->combines)
        refuse_in_combiner(scope, span, text_of_span(scope->binder->arena, span, OPERAND_SHOWN), "reads a time zone");
    return scope->task && scope->binder->queue && !scope->combines;
}

/* What the zone is ahead of UTC. NO_VALUE: it cannot be told here. */
static value offset_of(struct scope *scope, enum order order, value time, const struct time_zone *zone,
                       struct span span)
{
    if (zone->count == 1)
        return code_int(scope->code, zone->offsets[0], span);
    const struct instr *instr = &scope->code->at[time];
    if (instr->op == OP_CONST)
        return code_int(scope->code, zone->offsets[time_interval(intervals_of(zone, order), instr->integer)], span);
    const struct zone_columns *columns = has_tables(scope, span) ? columns_of(scope, zone, span) : NULL;
    if (!columns)
        return NO_VALUE;
    return match_table(scope, columns->offsets, KIND_INT, interval_of(scope, columns, order, time, span), "offsets",
                       span);
}

value zoned_local(struct scope *scope, value instant, const struct time_zone *zone, struct span span)
{
    const value ahead = zone ? offset_of(scope, BY_UTC, instant, zone, span) : NO_VALUE;
    return ahead == NO_VALUE ? instant : code_binary(scope->code, OP_ADD, instant, ahead, span);
}

value zoned_instant(struct scope *scope, value local, const struct time_zone *zone, struct span span)
{
    const value ahead = zone ? offset_of(scope, BY_LOCAL, local, zone, span) : NO_VALUE;
    return ahead == NO_VALUE ? local : code_binary(scope->code, OP_SUB, local, ahead, span);
}

value zoned_start(struct scope *scope, value local, const struct time_zone *zone, struct span span)
{
    const value instant = zoned_instant(scope, local, zone, span);
    const struct instr *instr = &scope->code->at[local];
    if (!zone || zone->count == 1 || !scope->task || !scope->binder->queue || scope->combines)
        return instant;
    if (instr->op == OP_CONST)
        return code_binary(
            scope->code, OP_MIN, instant,
            code_int(scope->code, zone->utc.begins[time_interval(&zone->local, instr->integer) + 1], span), span);
    const struct zone_columns *columns = columns_of(scope, zone, span);
    if (!columns)
        return instant;
    const value next = code_with(scope->code, OP_ADD, interval_of(scope, columns, BY_LOCAL, local, span), 1, span);
    return code_binary(scope->code, OP_MIN, instant,
                       match_table(scope, columns->begins[BY_UTC], KIND_INT, next, "changes", span), span);
}

void zoned_as(struct scope *scope, struct term *term, const struct time_zone *zone, struct span span)
{
    term_to_timestamp(scope->code, term, span);
    if (!term->logical.zone)
        term->value = zoned_instant(scope, term->value, zone, span);
    if (zone)
        term->logical.zone = zone;
}

const struct time_zone *zoned_both(struct term a, struct term b)
{
    const struct time_zone *first = a.logical.zone, *second = b.logical.zone;
    return !first || first == second ? second : !second ? first : &time_zone_utc;
}

const char *zoned_advice(struct arena *arena, const char *a_name, const struct logical_type *a, const char *b_name,
                         const struct logical_type *b)
{
    if (a->kind != LOGICAL_TIMESTAMP || b->kind != LOGICAL_TIMESTAMP || !a->zone == !b->zone)
        return NULL;
    if (b->zone && !a_name)
        return arena_printf(arena, "say where clocks showed these times, as in `t in \"%s\"`", b->zone->name);
    const char *name = name_written(a->zone ? b_name : a_name, arena);
    return arena_printf(arena, "%s`derive %s = %s in \"%s\"` says where clocks showed these times",
                        a->zone ? "within the source " : "", name, name, a->zone ? a->zone->name : b->zone->name);
}

/* Names whose last part this is, as `berlin` in Europe/Berlin, or else those that differ little. */
static const char *similar_names(struct binder *binder, const char *name)
{
    const char **names = time_zone_names(binder->arena);
    size_t count = 0;
    for (; names[count]; count++) {
        const char *slash = strrchr(names[count], '/');
        if (strcasecmp(names[count], name) == 0 || (slash && strcasecmp(slash + 1, name) == 0))
            return arena_printf(binder->arena, "; did you mean `%s`?", names[count]);
    }
    return did_you_mean(binder->arena, name, names, count);
}

const struct time_zone *zone_named(struct binder *binder, const char *name, struct span span)
{
    const struct time_zone *zone;
    switch (time_zone_find(name, &zone)) {
    case TIME_ZONE_FOUND:
        return zone;
    case TIME_ZONE_UNKNOWN:
        bind_error(binder, span, "zones have names such as \"Europe/Berlin\", \"UTC\" or \"+05:30\"",
                   "unknown time zone `%s`%s", name, similar_names(binder, name));
        break;
    case TIME_ZONE_NO_FILES:
        bind_error(binder, span,
                   "the package `tzdata` has them, or $TZDIR names their directory; \"UTC\" and \"+05:30\" need none",
                   "there are no files of time zones in %s", time_zone_directory());
        break;
    }
    return NULL;
}

/* The zone's expression: a text, or a name that does not mean a relation. */
static const struct expr *zone_operand(struct scope *scope, const struct expr *expr)
{
    if (!expr->source)
        return expr->args[1];
    const struct source_node *source = expr->source;
    if (source->kind != SOURCE_NAME)
        return NULL;
    const char *argument = name_argument(&source->name);
    const struct binding *binding = env_find(scope->binder->env, argument ? argument : source->name.text);
    if (!argument && !name_is_taken(scope, source->name.text) && !binding)
        return NULL;
    if (binding && binding->relation)
        return NULL;
    struct expr *name = arena_alloc(scope->binder->arena, sizeof *name);
    *name = (struct expr){.kind = EXPR_NAME, .span = source->span, .name = source->name};
    return name;
}

bool is_in_zone(struct scope *scope, const struct expr *expr, struct term term)
{
    const enum term_class which = term_is_known(term) ? class_of(scope->code, term) : CLASS_TIMESTAMP;
    return (which == CLASS_TIMESTAMP || which == CLASS_DATE) && zone_operand(scope, expr);
}

struct term bind_in_zone(struct scope *scope, const struct expr *expr, struct term term)
{
    struct binder *binder = scope->binder;
    const struct expr *operand = zone_operand(scope, expr);
    const struct term name = bind_term(scope, operand);
    if (!term_is_known(term) || !term_is_known(name))
        return unknown_term;
    if (class_of(scope->code, name) != CLASS_TEXT)
        return term_error(binder, operand->span, "as in `t in \"Europe/Berlin\"`, or `t in [...]` for a list",
                          "a time is in a time zone, but `%s` is %s",
                          text_of_span(binder->arena, operand->span, OPERAND_SHOWN),
                          class_noun(class_of(scope->code, name)));
    if (!name.text) {
        if (!binder->checking)
            bind_error(binder, operand->span, "as in `t in \"Europe/Berlin\"`",
                       "a time zone must be the same for all rows");
        return unknown_term;
    }
    const char *text = arena_text(binder->arena, name.text->at, name.text->length);
    const struct time_zone *zone = zone_named(binder, text, operand->span);
    if (!zone)
        return unknown_term;
    zoned_as(scope, &term, zone, expr->span);
    return term;
}
