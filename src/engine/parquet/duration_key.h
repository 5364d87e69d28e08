/* Parquet has times of day but no durations. Other durations are 64-bit integers, and a pair of the file's metadata,
 * with this key, lists the leaves that are microseconds: "0,3,". */
#ifndef RQL_ENGINE_PARQUET_DURATION_KEY_H
#define RQL_ENGINE_PARQUET_DURATION_KEY_H

static const char duration_key[] = "rql.durations";

#endif
