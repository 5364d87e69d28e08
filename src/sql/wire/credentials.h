/* Which servers may be told who the user is. A script from others can name any server: what the environment holds goes
 * only to those that CLICKHOUSE_HOST names, and to this machine. */
#ifndef RQL_SQL_WIRE_CREDENTIALS_H
#define RQL_SQL_WIRE_CREDENTIALS_H

#include "sql/wire/table_url.h"

#include <stdbool.h>

struct credentials {
    const char *user, *password; /* borrowed, or NULL */
    bool netrc;                  /* ~/.netrc may have what is missing: it names its hosts itself */
    bool withheld;               /* there is a user or a password that the server does not get */
};

/* CLICKHOUSE_HOST is a list of hosts, separated by commas or blanks; without TLS a host must be written `http://HOST`
 * there, since anybody on the way can read what is sent. */
struct credentials credentials_for(const struct table_url *url);

#endif
