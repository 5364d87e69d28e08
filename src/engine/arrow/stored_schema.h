/* The schema of Arrow in the metadata of a Parquet file, as its writers of Arrow keep it there: a message in base 64.
 * Parquet itself says of timestamps only that they are in UTC, and this the zone. */
#ifndef RQL_ENGINE_ARROW_STORED_SCHEMA_H
#define RQL_ENGINE_ARROW_STORED_SCHEMA_H

#include "base/strbuf.h"
#include "base/text.h"
#include "engine/arrow/ipc.h"
#include "engine/arrow/schema.h"

/* The key of the metadata's pair. */
extern const char stored_schema_key[];

/* The name of the zone of each timestamp that has one, and no name but the unit of durations, which Parquet has as
 * integers; by the path to it: names of fields with points between them, where elements of lists have none. What is
 * damaged has none. */
typedef void stored_zone_fn(void *context, struct text path, struct text zone, enum arrow_unit unit);
void stored_schema_zones(struct text stored, stored_zone_fn *found, void *context);

/* Whether the zones of the columns need it: one is not UTC. */
bool stored_schema_is_needed(const struct nest *root);

/* Appends the value of the pair. `times`: whether the column of a leaf, of durations, has times of day. */
void stored_schema_write(struct strbuf *out, const struct nest *root, const bool *times);

#endif
