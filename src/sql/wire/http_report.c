#include "sql/wire/http_internal.h"

#include "sql/wire/server_error.h"

#include <string.h>

enum { STATUS_UNAUTHORIZED = 401, STATUS_FORBIDDEN = 403 };

static enum status refused(const struct http_peer *peer, const char *message, struct span span, struct diags *diags)
{
    const char *host = arena_text(diags->arena, peer->server, strlen(peer->server));
    host = strrchr(host, '@') ? strrchr(host, '@') + 1 : host;
    const char *port = strrchr(host, ':');
    if (peer->withheld)
        return diag_error_hint(
            diags, span,
            arena_printf(diags->arena, "`export CLICKHOUSE_HOST=%s%.*s` lets it know user and password%s",
                         peer->plain ? "http://" : "", (int)(port ? port - host : (long)strlen(host)), host,
                         peer->plain ? ", which anybody on the way can read" : ""),
            "`%s` does not accept a request without a password: %s", peer->server, message);
    return diag_error_hint(diags, span,
                           "~/.netrc holds names and passwords: machine HOST login USER password PASSWORD; or set "
                           "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD",
                           "`%s` does not accept %s%s%s: %s", peer->server, peer->user ? "the user `" : "a request",
                           peer->user ? peer->user : " without a user", peer->user ? "`" : "", message);
}

enum status http_report_answer(const struct http_peer *peer, const char *text, size_t length, long status,
                               struct span span, struct diags *diags)
{
    struct server_error error;
    if (server_error_parse(text, length, diags->arena, &error))
        return server_error_is_refusal(error.code) ? refused(peer, error.message, span, diags)
                                                   : server_error_report(&error, peer->server, span, diags);
    if (status == STATUS_UNAUTHORIZED || status == STATUS_FORBIDDEN)
        return refused(peer, arena_printf(diags->arena, "HTTP status %ld", status), span, diags);
    return diag_error_hint(diags, span, "is it the HTTP port of a ClickHouse server?",
                           "`%s` answered with HTTP status %ld", peer->server, status);
}

static enum status report_no_tls(const struct http_peer *peer, const char *detail, struct span span,
                                 struct diags *diags)
{
    return diag_error_hint(diags, span, "clickhouse:// connects without TLS", "no TLS connection to `%s`: %s",
                           peer->server, detail);
}

enum status http_report_transfer(const struct http_peer *peer, CURLcode code, const char *detail, bool sending,
                                 struct span span, struct diags *diags)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return diag_error(diags, span, "there is no host of `%s`: %s", peer->server, detail);
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
        if (strstr(detail, "SSL")) /* it was waited for in vain */
            return report_no_tls(peer, detail, span, diags);
        return diag_error_hint(diags, span,
                               "the port is that of the HTTP interface, 8123 or with TLS 8443 if none is named",
                               "cannot connect to `%s`: %s", peer->server, detail);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return diag_error_hint(diags, span, "SSL_CERT_FILE names a file of certificates to trust",
                               "the certificate of `%s` is not trusted: %s", peer->server, detail);
    case CURLE_SSL_CONNECT_ERROR:
        return report_no_tls(peer, detail, span, diags);
    default:
        return diag_error(diags, span, "the connection to `%s` broke off before all rows were %s: %s", peer->server,
                          sending ? "sent" : "received", detail);
    }
}

bool http_transfer_is_lost(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
           code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE;
}

bool http_answer_is_lost(const char *text, size_t length, struct arena *arena)
{
    struct server_error error;
    return server_error_parse(text, length, arena, &error) && server_error_is_lost(error.code);
}

enum status http_report_stall(const struct http_peer *peer, int seconds, struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "`.set timeout SECONDS` waits longer, `.set timeout off` for ever",
                           "`%s` sends nothing, and its query has shown no progress for %d seconds", peer->server,
                           seconds);
}
