#include "sql/wire/http_report.h"

#include "sql/wire/server_error.h"

#include <string.h>

enum { STATUS_UNAUTHORIZED = 401, STATUS_FORBIDDEN = 403 };

static enum status refused(const struct http_peer *peer, const char *message, struct span span, struct diags *diags)
{
    diag_error(diags, span, "`%s` does not accept %s%s%s: %s", peer->server, peer->user ? "the user `" : "a request",
               peer->user ? peer->user : " without a user", peer->user ? "`" : "", message);
    diag_hint(diags, "~/.netrc holds names and passwords: machine HOST login USER password PASSWORD; or set "
                     "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD");
    return STATUS_FAILED;
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
    diag_error(diags, span, "`%s` answered with HTTP status %ld", peer->server, status);
    diag_hint(diags, "is it the HTTP port of a ClickHouse server?");
    return STATUS_FAILED;
}

static enum status report_no_tls(const struct http_peer *peer, const char *detail, struct span span,
                                 struct diags *diags)
{
    diag_error(diags, span, "no TLS connection to `%s`: %s", peer->server, detail);
    diag_hint(diags, "clickhouse:// connects without TLS");
    return STATUS_FAILED;
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
        diag_error(diags, span, "cannot connect to `%s`: %s", peer->server, detail);
        diag_hint(diags, "the port is that of the HTTP interface, 8123 or with TLS 8443 if none is named");
        return STATUS_FAILED;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        diag_error(diags, span, "the certificate of `%s` is not trusted: %s", peer->server, detail);
        diag_hint(diags, "SSL_CERT_FILE names a file of certificates to trust");
        return STATUS_FAILED;
    case CURLE_SSL_CONNECT_ERROR:
        return report_no_tls(peer, detail, span, diags);
    default:
        return diag_error(diags, span, "the connection to `%s` broke off before all rows were %s: %s", peer->server,
                          sending ? "sent" : "received", detail);
    }
}

enum status http_report_stall(const struct http_peer *peer, int seconds, struct span span, struct diags *diags)
{
    diag_error(diags, span, "`%s` sends nothing, and its query has shown no progress for %d seconds", peer->server,
               seconds);
    diag_hint(diags, "`.set timeout SECONDS` waits longer, `.set timeout off` for ever");
    return STATUS_FAILED;
}
