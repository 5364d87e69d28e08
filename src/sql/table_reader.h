/* Tables on servers, read like files: their columns are found when they are opened, and those that a statement needs
 * come with one SELECT. */
#ifndef RQL_SQL_TABLE_READER_H
#define RQL_SQL_TABLE_READER_H

#include "engine/formats/open_file.h"

/* Opens addresses (table_url.h). Columns whose type has no counterpart here are left out with a note. The rows come in
 * the order of the address's columns, equal ones in any. */
struct table_source table_source_of(struct servers *servers);

#endif
