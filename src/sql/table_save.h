/* Saving into tables on servers. */
#ifndef RQL_SQL_TABLE_SAVE_H
#define RQL_SQL_TABLE_SAVE_H

#include "engine/formats/open_file.h"

/* Checks the syntax of an address to save to; does not connect to the server. */
enum status table_save_check(const char *address, struct span span, struct diags *diags);

/* Saves all rows, which are on the host, into a table of the natural types, ordered by the address's columns. The rows
 * go into a new table, which is renamed when all are there; an existing one is dropped then. On any error, and if
 * cancelled, the old table stays. */
enum status table_save(struct servers *servers, const char *address, const struct relation *relation,
                       const struct format_job *job);

#endif
