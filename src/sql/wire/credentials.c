#include "sql/wire/credentials.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_this_machine(const char *host)
{
    struct in_addr address;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

/* Whether the list has the host: `http://HOST` for both ways to connect, HOST for TLS. */
static bool list_names(const char *list, const char *host, bool tls)
{
    static const char separators[] = ", \t\n", plain[] = "http://";
    const size_t length = strlen(host);
    for (const char *at = list + strspn(list, separators); *at; at += strspn(at, separators)) {
        const bool is_plain = strncasecmp(at, plain, sizeof plain - 1) == 0;
        at += is_plain ? sizeof plain - 1 : 0;
        const size_t word = strcspn(at, separators);
        if ((is_plain || tls) && word == length && strncasecmp(at, host, length) == 0)
            return true;
        at += word;
    }
    return false;
}

struct credentials credentials_for(const struct table_url *url)
{
    const char *list = set_variable("CLICKHOUSE_HOST"), *user = set_variable("CLICKHOUSE_USER");
    const char *password = set_variable("CLICKHOUSE_PASSWORD");
    const bool here = is_this_machine(url->host);
    const bool trusted = here || (list && list_names(list, url->host, url->tls));
    return (struct credentials){.user = url->user ? url->user
                                        : trusted ? user
                                                  : NULL,
                                .password = trusted ? password : NULL,
                                .netrc = trusted || url->tls,
                                .withheld = !trusted && (user || password || !url->tls)};
}
