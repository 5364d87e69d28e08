/* Settings of a server that would make answers wrong without a word: rows of a dead shard left out, results cut at a
 * limit. */
#ifndef RQL_SQL_WIRE_SERVER_SETTINGS_H
#define RQL_SQL_WIRE_SERVER_SETTINGS_H

#include "base/parallel.h"
#include "sql/wire/http.h"

/* Has the session's queries run with settings that leave nothing out. An error if the user's profile has others and
 * forbids to change them. */
enum status server_settings_pin(struct http *http, const char *server, const struct workers *workers, struct span span,
                                struct diags *diags);

#endif
