/* A hash table of groups for each thread, and how they are joined: each thread merges a part of all hashes. */
#ifndef RQL_ENGINE_GROUPING_GROUP_TABLES_H
#define RQL_ENGINE_GROUPING_GROUP_TABLES_H

#include "engine/grouping/group_table.h"

#include <stdatomic.h>

struct group_tables {
    const struct grouping *grouping;
    struct group_table **at; /* of each thread, NULL until it has rows; once merged, of each part of hashes */
    int64_t most;            /* groups of a table */
    int shared_bits;         /* of hashes: see group_table.h */
    _Atomic bool failed;     /* too little memory, or too many groups to be numbered */
};

void group_tables_init(struct group_tables *tables, const struct grouping *grouping);
void group_tables_free(struct group_tables *tables);

/* Drops all tables; the next ones are for this many groups, whose hashes share this many bits. */
void group_tables_renew(struct group_tables *tables, int64_t most, int shared_bits);

/* The thread's table; NULL, and `failed`: no memory. */
struct group_table *group_tables_get(struct group_tables *tables, int member);

/* Puts each group into one table only; false if cancelled. */
bool group_tables_merge(struct group_tables *tables);

int64_t group_tables_count(const struct group_tables *tables); /* of groups in all tables */

/* Emits the groups of all tables, in any order, from result row `at` on; returns how many there are. */
int64_t group_tables_emit(const struct group_tables *tables, int64_t at);

#endif
