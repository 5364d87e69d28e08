/* The contents of a file of zoneinfo. */
#ifndef RQL_BASE_TIME_TIME_ZONE_FILE_H
#define RQL_BASE_TIME_TIME_ZONE_FILE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_zone_change {
    int64_t begin;  /* seconds since 1970; of the first one INT64_MIN */
    int64_t offset; /* seconds ahead of UTC from then on */
    const char *abbreviation;
};

struct time_zone_changes {
    struct time_zone_change *at;
    size_t count, capacity;
    struct arena *arena;
};

/* Appends the changes of a TZif file, those of its rule until the year 9999 included; false if it is none, or counts
 * leap seconds. */
bool time_zone_file_read(const unsigned char *bytes, size_t length, struct time_zone_changes *changes);

/* time_zone_rule.c: appends what a rule as of the variable TZ (POSIX) gives after the last change until the year 9999,
 * `CET-1CEST,M3.5.0,M10.5.0/3`; false if it is none. */
bool time_zone_rule_read(const char *rule, struct time_zone_changes *changes);

void time_zone_add_change(struct time_zone_changes *changes, struct time_zone_change change);

#endif
