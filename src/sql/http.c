#include "sql/http.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "sql/curl_library.h"
#include "sql/server_error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECT_MS = 10000, /* until a connection is given up */
    POLL_MS = 20,       /* between looks at `cancel` */
    KILL_MS = 2000,     /* for telling the server to end a query */
    RECEIVE_BYTES = 1 << 18,
    MOST_ERROR = 1 << 14, /* bytes of an error's text that are kept */
    STATUS_FINE = 200,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403
};

struct http {
    struct curl_library curl;
    CURL *easy;
    CURLM *multi;
    const atomic_int *cancel;
    char *server;     /* for messages */
    char *base;       /* "http://HOST:PORT/?" and the database: parameters follow */
    char *settings;   /* "&name=value" ... */
    char *password;   /* NULL: ~/.netrc may have it */
    char *user;       /* NULL: ~/.netrc may name one */
    unsigned queries; /* so far */
    char detail[CURL_ERROR_SIZE];
};

/* A query being answered. */
struct answer {
    struct http *http;
    http_receiver *receive;
    void *context;
    struct strbuf error; /* what came with a status of failure */
    bool ended;          /* by the receiver */
};

static char *text_of(const char *text)
{
    return text && *text ? heap_text(text) : NULL;
}

struct http *http_new(const struct table_url *url, const atomic_int *cancel, struct span span, struct diags *diags)
{
    struct http *http = heap_array(1, sizeof *http);
    struct arena *arena = diags->arena;
    if (!curl_library_load(&http->curl)) {
        free(http);
        diag_error(diags, span, "libcurl is not installed: addresses of servers cannot be opened");
        diag_hint(diags, "on Debian: apt-get install libcurl4");
        return NULL;
    }
    http->easy = http->curl.easy_init();
    http->multi = http->curl.multi_init();
    if (!http->easy || !http->multi)
        heap_exhausted();
    http->user = text_of(url->user ? url->user : getenv("CLICKHOUSE_USER"));
    http->password = text_of(getenv("CLICKHOUSE_PASSWORD"));
    char *database = url->database ? http->curl.easy_escape(http->easy, url->database, 0) : NULL;
    /* libcurl looks for a user's password in ~/.netrc if the name is in the address. */
    char *user = http->user && !http->password ? http->curl.easy_escape(http->easy, http->user, 0) : NULL;
    http->base = heap_text(arena_printf(arena, "http%s://%s%s%s:%d/?%s%s%s", url->tls ? "s" : "", user ? user : "",
                                        user ? "@" : "", url->host, url->port, database ? "database=" : "",
                                        database ? database : "", database ? "&" : ""));
    http->curl.free(user);
    http->curl.free(database);
    http->server = heap_text(table_url_server(url, arena));
    http->settings = heap_text("");
    http->cancel = cancel;
    return http;
}

void http_free(struct http *http)
{
    if (!http)
        return;
    http->curl.easy_cleanup(http->easy);
    http->curl.multi_cleanup(http->multi);
    free(http->server);
    free(http->base);
    free(http->settings);
    free(http->user);
    free(http->password);
    free(http);
}

void http_set_settings(struct http *http, const char *settings)
{
    free(http->settings);
    http->settings = heap_text(settings);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    const size_t length = size * count;
    long status = 0;
    answer->http->curl.easy_getinfo(answer->http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == STATUS_FINE) {
        answer->ended = !answer->receive(answer->context, bytes, length);
        return answer->ended ? CURL_WRITEFUNC_ERROR : length;
    }
    const size_t room = MOST_ERROR - answer->error.length;
    strbuf_add(&answer->error, bytes, length < room ? length : room);
    return length;
}

/* What all requests have in common. */
static void prepare(const struct http *http, CURL *easy)
{
    const struct curl_library *curl = &http->curl;
    const char *certificates = getenv("SSL_CERT_FILE");
    curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(easy, CURLOPT_PROXY, "");
    curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    if (http->user && http->password) {
        curl->easy_setopt(easy, CURLOPT_USERNAME, http->user);
        curl->easy_setopt(easy, CURLOPT_PASSWORD, http->password);
    }
    if (certificates)
        curl->easy_setopt(easy, CURLOPT_CAINFO, certificates);
}

static void post(const struct http *http, CURL *easy, const char *url, const char *sql)
{
    http->curl.easy_setopt(easy, CURLOPT_URL, url);
    http->curl.easy_setopt(easy, CURLOPT_POSTFIELDS, sql);
    http->curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(sql));
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* Tells the server to end a query. Ending the connection would not do: a query that has nothing to send goes on. */
static void kill_query(const struct http *http, const char *id)
{
    CURL *easy = http->curl.easy_init();
    struct strbuf sql = {0};
    if (!easy)
        return;
    strbuf_printf(&sql, "KILL QUERY WHERE query_id = '%s' ASYNC", id);
    prepare(http, easy);
    post(http, easy, http->base, sql.text);
    http->curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)KILL_MS);
    http->curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    (void)http->curl.easy_perform(easy);
    http->curl.easy_cleanup(easy);
    strbuf_free(&sql);
}

/* Runs the prepared request. *code says how the transfer ended. */
static enum status transfer(const struct http *http, CURLcode *code)
{
    const struct curl_library *curl = &http->curl;
    int running = 1, left;
    *code = CURLE_FAILED_INIT;
    curl->multi_add_handle(http->multi, http->easy);
    while (running) {
        if (http->cancel && *http->cancel)
            break;
        if (curl->multi_perform(http->multi, &running) != CURLM_OK)
            break;
        if (running)
            curl->multi_wait(http->multi, NULL, 0, POLL_MS, NULL);
    }
    for (CURLMsg *message; (message = curl->multi_info_read(http->multi, &left));) {
        if (message->msg == CURLMSG_DONE)
            *code = message->data.result;
    }
    curl->multi_remove_handle(http->multi, http->easy);
    return running && http->cancel && *http->cancel ? STATUS_CANCELLED : STATUS_OK;
}

static enum status refused(const struct http *http, const char *message, struct span span, struct diags *diags)
{
    diag_error(diags, span, "`%s` does not accept %s%s%s: %s", http->server, http->user ? "the user `" : "a request",
               http->user ? http->user : " without a user", http->user ? "`" : "", message);
    diag_hint(diags, "~/.netrc holds names and passwords: machine HOST login USER password PASSWORD; or set "
                     "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD");
    return STATUS_FAILED;
}

/* An answer with a status of failure: the server's own message, if it is one. */
static enum status report_answer(const struct answer *answer, long status, struct span span, struct diags *diags)
{
    const struct http *http = answer->http;
    struct server_error error;
    const char *text = answer->error.text ? answer->error.text : "";
    if (server_error_parse(text, answer->error.length, diags->arena, &error))
        return server_error_is_refusal(error.code) ? refused(http, error.message, span, diags)
                                                   : diag_error(diags, span, "`%s`: %s", http->server, error.message);
    if (status == STATUS_UNAUTHORIZED || status == STATUS_FORBIDDEN)
        return refused(http, arena_printf(diags->arena, "HTTP status %ld", status), span, diags);
    diag_error(diags, span, "`%s` answered with HTTP status %ld", http->server, status);
    diag_hint(diags, "is it the HTTP port of a ClickHouse server?");
    return STATUS_FAILED;
}

static enum status report_no_tls(const struct http *http, const char *detail, struct span span, struct diags *diags)
{
    diag_error(diags, span, "no TLS connection to `%s`: %s", http->server, detail);
    diag_hint(diags, "clickhouse:// connects without TLS");
    return STATUS_FAILED;
}

/* There was no answer, or not all of it. */
static enum status report_transfer(const struct http *http, CURLcode code, struct span span, struct diags *diags)
{
    const char *detail = *http->detail ? http->detail : http->curl.easy_strerror(code);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return diag_error(diags, span, "there is no host of `%s`: %s", http->server, detail);
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
        if (strstr(detail, "SSL")) /* it was waited for in vain */
            return report_no_tls(http, detail, span, diags);
        diag_error(diags, span, "cannot connect to `%s`: %s", http->server, detail);
        diag_hint(diags, "the port is that of the HTTP interface, 8123 or with TLS 8443 if none is named");
        return STATUS_FAILED;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        diag_error(diags, span, "the certificate of `%s` is not trusted: %s", http->server, detail);
        diag_hint(diags, "SSL_CERT_FILE names a file of certificates to trust");
        return STATUS_FAILED;
    case CURLE_SSL_CONNECT_ERROR:
        return report_no_tls(http, detail, span, diags);
    default:
        return diag_error(diags, span, "the connection to `%s` broke off before all rows were received: %s",
                          http->server, detail);
    }
}

enum status http_query(struct http *http, const char *sql, http_receiver *receiver, void *context, struct span span,
                       struct diags *diags)
{
    const struct curl_library *curl = &http->curl;
    struct answer answer = {.http = http, .receive = receiver, .context = context};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *id = arena_printf(diags->arena, "rql-%ld-%lld%09ld-%u", (long)getpid(), (long long)now.tv_sec,
                                  now.tv_nsec, ++http->queries);
    const char *url = arena_printf(diags->arena, "%squery_id=%s%s", http->base, id, http->settings);
    CURLcode code;
    long status = 0;
    *http->detail = '\0';
    curl->easy_reset(http->easy);
    prepare(http, http->easy);
    post(http, http->easy, url, sql);
    curl->easy_setopt(http->easy, CURLOPT_ERRORBUFFER, http->detail);
    curl->easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, receive);
    curl->easy_setopt(http->easy, CURLOPT_WRITEDATA, &answer);
    enum status outcome = transfer(http, &code);
    curl->easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    long sent = 0; /* bytes: none without a connection */
    curl->easy_getinfo(http->easy, CURLINFO_REQUEST_SIZE, &sent);
    if ((outcome == STATUS_CANCELLED || answer.ended) && sent > 0)
        kill_query(http, id);
    else if (outcome == STATUS_OK && !answer.ended && code != CURLE_OK)
        outcome = report_transfer(http, code, span, diags);
    else if (outcome == STATUS_OK && !answer.ended && status != STATUS_FINE)
        outcome = report_answer(&answer, status, span, diags);
    strbuf_free(&answer.error);
    return outcome;
}
