/* The servers that a session has used: what `.connections` shows of them, and the names that Tab completes. */
#ifndef RQL_SQL_WIRE_SERVERS_H
#define RQL_SQL_WIRE_SERVERS_H

#include "engine/formats/open_file.h"
#include "sql/wire/table_url.h"

struct servers;
struct http_shared;  /* http.h */
struct kept_answers; /* kept_answers.h */

struct servers *servers_new(void);
void servers_free(struct servers *servers);

/* What the queries of the session share; lives as long. */
struct http_shared *servers_shared(struct servers *servers);
/* What they have answered to the statement that runs, and the end of it. */
struct kept_answers *servers_kept(struct servers *servers);
void servers_forget(struct servers *servers);
void servers_set_limits(struct servers *servers, const struct table_limits *limits);
struct table_limits servers_limits(const struct servers *servers);
struct table_traffic servers_traffic(const struct servers *servers);

/* Notes that a table of this address's server is read or saved. */
void servers_meet(struct servers *servers, const struct table_url *url);

/* Asks each of these servers, for a second at most if it does not answer, how it is; in the arena. */
struct table_connection *servers_connections(struct servers *servers, struct arena *arena, size_t *count);

/* Finds a table's columns, in the arena. False: the server does not name them within 300 ms. */
bool servers_peek(struct servers *servers, const char *address, struct arena *arena,
                  const struct reader_column **columns, size_t *count);

/* Addresses that begin as the one being typed, in the arena: one more database, table or column, as the server names
 * them within 300 ms, or a server that has been used. */
const char **servers_complete(struct servers *servers, const char *typed, struct arena *arena, size_t *count);

#endif
