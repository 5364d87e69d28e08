/* What is wrong where a request has failed. */
#include "engine/remote/transfer.h"

#include <string.h>

enum { UNAUTHORIZED = 401, FORBIDDEN = 403, NOT_FOUND = 404, GONE = 410 };

/* The text of the first element of this name in an answer of S3, "" if there is none. */
static const char *element(const struct strbuf *xml, const char *name, struct arena *arena)
{
    const char *open = arena_printf(arena, "<%s>", name);
    const char *begin = xml->text ? strstr(xml->text, open) : NULL;
    begin = begin ? begin + strlen(open) : "";
    struct strbuf shown = {0};
    strbuf_add_visible(&shown, begin, strcspn(begin, "<"));
    return strbuf_take(&shown, arena);
}

/* ": CODE, MESSAGE" as S3 says it, or the status. */
static const char *reason(const struct piece *piece, struct arena *arena)
{
    const char *code = element(&piece->error, "Code", arena), *message = element(&piece->error, "Message", arena);
    return *code ? arena_printf(arena, "%s%s%s", code, *message ? ": " : "", message)
                 : arena_printf(arena, "HTTP status %ld", piece->answer.status);
}

static enum status report_refusal(const struct transfer *transfer, const struct piece *piece)
{
    const struct address *address = transfer->address;
    const struct aws_settings *aws = &address->aws;
    struct diags *diags = transfer->diags;
    (void)diag_error(diags, transfer->span, "`%s` may not be read%s: %s", address->shown,
                     address->s3 && !aws->key ? " without a key" : "", reason(piece, diags->arena));
    if (!address->s3 && address->secure)
        return diag_hint(diags, "~/.netrc holds names and passwords: machine %s login USER password PASSWORD",
                         address->host);
    if (!address->s3)
        return STATUS_FAILED;
    if (aws->lacks)
        return diag_hint(diags,
                         "the profile `%s` has `%s` instead of a key; before rql: eval \"$(aws configure "
                         "export-credentials --profile %s --format env)\"",
                         aws->profile, aws->lacks, aws->profile);
    if (!aws->key)
        return diag_hint(diags,
                         "the key is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials, of "
                         "AWS_PROFILE if that is set");
    return STATUS_FAILED;
}

enum status report_status(const struct transfer *transfer, const struct piece *piece)
{
    const struct address *address = transfer->address;
    struct diags *diags = transfer->diags;
    const long status = piece->answer.status;
    if (status == UNAUTHORIZED || status == FORBIDDEN)
        return report_refusal(transfer, piece);
    if ((status == NOT_FOUND || status == GONE) &&
        strcmp(element(&piece->error, "Code", diags->arena), "NoSuchBucket") == 0)
        return diag_error(diags, transfer->span, "there is no bucket `%s` at `%s`", address->bucket, address->host);
    if (status == NOT_FOUND || status == GONE)
        return diag_error(diags, transfer->span, "there is no `%s`: `%s` answers with HTTP status %ld", address->shown,
                          address->host, status);
    return diag_error(diags, transfer->span, "`%s` does not give `%s`: %s", address->host, address->shown,
                      reason(piece, diags->arena));
}

enum status report_failure(const struct transfer *transfer, const struct piece *piece, CURLcode code)
{
    const struct address *address = transfer->address;
    struct diags *diags = transfer->diags;
    const char *detail = *piece->detail ? piece->detail : transfer->remote->curl.easy_strerror(code);
    const bool led = piece->answer.status / 100 == 3; /* by a redirect, to another host */
    switch (code) {
    case CURLE_URL_MALFORMAT:
        return diag_error_hint(diags, transfer->span, "as in `https://HOST:PORT/PATH`, with a port below 65536",
                               "`%s` %s not a valid address", address->shown, led ? "leads to what is" : "is");
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        if (led)
            return diag_error(diags, transfer->span, "`%s` leads to a server that cannot be reached: %s",
                              address->shown, detail);
        if (code == CURLE_COULDNT_CONNECT)
            return diag_error(diags, transfer->span, "cannot connect to `%s`: %s", address->host, detail);
        return diag_error(diags, transfer->span, "there is no host `%s`: %s", address->host, detail);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return diag_error_hint(diags, transfer->span, "SSL_CERT_FILE names a file of certificates to trust",
                               "the certificate of `%s` is not trusted: %s", address->host, detail);
    case CURLE_SSL_CONNECT_ERROR:
        return diag_error(diags, transfer->span, "no TLS connection to `%s`: %s", address->host, detail);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        if (code == CURLE_WEIRD_SERVER_REPLY || strstr(detail, "HTTP/0.9")) /* an answer without a head */
            return diag_error(diags, transfer->span, "`%s` does not answer as an HTTP server: %s", address->shown,
                              detail);
        return diag_error(diags, transfer->span, "`%s` leads to an address that is not %s", address->shown,
                          address->secure ? "https://" : "http:// or https://");
    case CURLE_TOO_MANY_REDIRECTS:
        return diag_error(diags, transfer->span, "`%s` leads in circles: %s", address->shown, detail);
    default:
        return diag_error(diags, transfer->span, "`%s` was not received whole: %s", address->shown,
                          code == CURLE_OK ? "the answers of the server end too early" : detail);
    }
}

enum status report_silence(const struct transfer *transfer)
{
    return diag_error_hint(transfer->diags, transfer->span,
                           "`.set timeout SECONDS` waits longer, `.set timeout off` for ever",
                           "`%s` sends nothing more of `%s`", transfer->address->host, transfer->address->shown);
}
