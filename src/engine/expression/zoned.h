/* Timestamps in time zones: instants, whose local time is that of clocks there. */
#ifndef RQL_ENGINE_EXPRESSION_ZONED_H
#define RQL_ENGINE_EXPRESSION_ZONED_H

#include "engine/expression/expression.h"

/* The local time of an instant; the value itself where `zone` is NULL. */
value zoned_local(struct scope *scope, value instant, const struct time_zone *zone, struct span span);

/* The instant at which clocks show a local time, the first one if there are two; one that is left out moves forward by
 * the gap. The value itself where `zone` is NULL. */
value zoned_instant(struct scope *scope, value local, const struct time_zone *zone, struct span span);

/* The instant at which a local time that is a start, of a day or of an interval, is over: as zoned_instant, but of one
 * that is left out the end of the gap. */
value zoned_start(struct scope *scope, value local, const struct time_zone *zone, struct span span);

/* A timestamp or a date in the type of others: midnight of a date, and the instant of a time without a zone where
 * `zone` is not NULL. */
void zoned_as(struct scope *scope, struct term *term, const struct time_zone *zone, struct span span);

/* The zone in which two timestamps are shown together. */
const struct time_zone *zoned_both(struct term a, struct term b);

/* The zone of this name; NULL after an error at the span. */
const struct time_zone *zone_named(struct binder *binder, const char *name, struct span span);

/* Whether `expr`, IN_SOURCE, is `TIME in ZONE`. */
bool is_in_zone(struct scope *scope, const struct expr *expr, struct term term);
struct term bind_in_zone(struct scope *scope, const struct expr *expr, struct term term);

/* How to give the times of a, or of b, which is of a source, the other's zone; NULL: they do not differ in having one.
 * `a_name` is NULL where a is no column. */
const char *zoned_advice(struct arena *arena, const char *a_name, const struct logical_type *a, const char *b_name,
                         const struct logical_type *b);

#endif
