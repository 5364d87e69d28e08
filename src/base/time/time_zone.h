/* Time zones of the system: how far local time is ahead of UTC, from the files of zoneinfo (TZif, RFC 9636).
 *
 * A zone is a list of intervals with one offset each. After the last one that its file lists, the file's rule goes on,
 * here until the year 9999. Zones are read once and live until the process ends: a pointer to one is its identity. */
#ifndef RQL_BASE_TIME_TIME_ZONE_H
#define RQL_BASE_TIME_TIME_ZONE_H

#include "base/diag.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An order of times, of which interval k has those from begins[k]. A time is found without a search: the time between
 * `base` and `last` is cut into slots of 2^TIME_ZONE_SLOT microseconds (25 days), and at most `steps` intervals begin
 * within one. */
struct time_intervals {
    const int64_t *begins; /* of interval 0: INT64_MIN; beyond the last one: INT64_MAX */
    const uint16_t *first; /* of each slot: the interval in which it begins */
    int64_t slots;
    int64_t base, last; /* where the first and the last slot begin; earlier and later times are in these */
    int steps;
};

enum { TIME_ZONE_SLOT = 41 };

struct time_zone {
    const char *name, *type_name;     /* the latter of timestamps in it, "timestamp in Europe/Berlin" */
    int64_t count;                    /* of intervals, at least 1 */
    int64_t stored;                   /* elements of `offsets` and `begins`: more, so that one after a step is one */
    const int64_t *offsets;           /* microseconds ahead of UTC */
    const char *const *abbreviations; /* "CET" */
    struct time_intervals utc;        /* by time in UTC */
    struct time_intervals local;      /* by local time: of one that comes twice the first, of one that is left out the
                                         interval      before, so that it moves forward by the gap */
    const struct time_zone *next;
    struct arena *arena; /* that all of it is in; NULL: static */
};

/* The zone named "UTC", which needs no files. */
extern const struct time_zone time_zone_utc;

enum time_zone_found { TIME_ZONE_FOUND, TIME_ZONE_UNKNOWN, TIME_ZONE_NO_FILES };

/* The zone of this name, such as Europe/Berlin, or with a fixed offset, +05:30; of files in $TZDIR or
 * /usr/share/zoneinfo. */
enum time_zone_found time_zone_find(const char *name, const struct time_zone **zone);

/* The names of all zones, in order, for hints and completion; NULL-terminated. */
const char **time_zone_names(struct arena *arena);

/* The directory of the files, for messages. */
const char *time_zone_directory(void);

/* The number of the interval with this time. */
int64_t time_interval(const struct time_intervals *intervals, int64_t time);

/* By how many microseconds the zone is ahead of UTC at this time in UTC. */
int64_t time_zone_offset(const struct time_zone *zone, int64_t time);

/* The time in UTC at which clocks show this local time, the first one if there are two; false beyond 64 bits. */
bool time_zone_instant(const struct time_zone *zone, int64_t local, int64_t *time);

/* The zone of this name, which a file gives to a column; one that is not known here is UTC, with a note. */
const struct time_zone *zone_of_file(struct text name, const char *column, const char *path, struct diags *diags);

#endif
