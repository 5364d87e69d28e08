/* Settings of a server that would make answers wrong without a word: rows of a dead shard left out, results cut at a
 * limit. */
#ifndef RQL_SQL_WIRE_SERVER_SETTINGS_H
#define RQL_SQL_WIRE_SERVER_SETTINGS_H

#include "sql/wire/query.h"

/* Adds a SELECT of the settings: rql_0 is their names, rql_1 the values, and rql_2 'setting'. */
void server_settings_ask(struct strbuf *sql);

/* Has the session's queries run with settings that leave nothing out, from an answer that may have other rows, too. An
 * error if the user's profile has others and forbids to change them. *changed: they were others. */
enum status server_settings_pin(struct http *http, const char *server, const struct query_texts *answer, bool *changed,
                                struct span span, struct diags *diags);

#endif
