#include "sql/wire/http.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "base/timing.h"
#include "sql/wire/credentials.h"
#include "sql/wire/http_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECT_MS = 10000, /* until a connection is given up */
    POLL_MS = 20,       /* between looks at `cancel` */
    TIDY_MS = 2000,     /* for a statement whose outcome does not matter */
    RECEIVE_BYTES = 1 << 18,
    MOST_ERROR = 1 << 14, /* bytes of an error's text that are kept */
    STATUS_FINE = 200,
    MS_PER_SECOND = 1000
};

struct http {
    struct http_shared *shared; /* NULL: see http_new */
    struct http_watch watch;    /* of the query that runs */
    struct curl_library curl;
    CURL *easy;
    CURLM *multi;
    struct http_peer peer; /* its texts are owned */
    char *base;            /* "http://HOST:PORT/?" and the database: parameters follow */
    char *settings;        /* "&name=value" ... */
    char *password;        /* NULL: ~/.netrc may have it, */
    bool netrc;            /* if it may be asked */
    unsigned queries;      /* so far */
    int limit_ms;          /* of a query; 0: none */
    bool lost;             /* http_has_lost */
    char detail[CURL_ERROR_SIZE];
};

/* A query being answered. */
struct answer {
    struct http *http;
    http_receiver *receive;
    void *context;
    struct strbuf error; /* what came with a status of failure */
    bool ended;          /* by the receiver, or as too long: */
    bool excessive;
    int64_t bytes;
    int64_t rows_read; /* as the server tells when it has read all; -1: it does not */
};

static char *text_of(const char *text)
{
    return text && *text ? heap_text(text) : NULL;
}

struct http *http_new(const struct table_url *url, struct http_shared *shared, struct span span, struct diags *diags)
{
    struct http *http = heap_array(1, sizeof *http);
    struct arena *arena = diags->arena;
    if (!curl_library_load(&http->curl)) {
        free(http);
        (void)curl_library_missing(span, diags);
        return NULL;
    }
    http->easy = http->curl.easy_init();
    http->multi = http->curl.multi_init();
    if (!http->easy || !http->multi)
        heap_exhausted();
    const struct credentials credentials = credentials_for(url);
    http->peer.user = text_of(credentials.user);
    http->peer.plain = !url->tls;
    http->peer.withheld = credentials.withheld;
    http->password = text_of(credentials.password);
    http->netrc = credentials.netrc;
    char *database = url->database ? http->curl.easy_escape(http->easy, url->database, 0) : NULL;
    /* libcurl looks for a user's password in ~/.netrc if the name is in the address. */
    char *user = http->peer.user && !http->password ? http->curl.easy_escape(http->easy, http->peer.user, 0) : NULL;
    http->base = heap_text(arena_printf(arena, "http%s://%s%s%s:%d/?%s%s%s", url->tls ? "s" : "", user ? user : "",
                                        user ? "@" : "", url->host, url->port, database ? "database=" : "",
                                        database ? database : "", database ? "&" : ""));
    http->curl.free(user);
    http->curl.free(database);
    http->peer.server = heap_text(table_url_server(url, arena));
    http->settings = heap_text("");
    http->shared = shared;
    return http;
}

void http_free(struct http *http)
{
    if (!http)
        return;
    http->curl.easy_cleanup(http->easy);
    http->curl.multi_cleanup(http->multi);
    free((void *)http->peer.server);
    free(http->base);
    free(http->settings);
    free((void *)http->peer.user);
    free(http->password);
    free(http);
}

void http_set_settings(struct http *http, const char *settings)
{
    free(http->settings);
    http->settings = heap_text(settings);
}

void http_set_limit(struct http *http, int milliseconds)
{
    http->limit_ms = milliseconds;
}

bool http_has_lost(const struct http *http)
{
    return http->lost;
}

int64_t http_fetch(const struct http *http)
{
    return http->shared ? http->shared->limits.fetch : 0;
}

enum status http_refuse_size(const struct http *http, const char *what, int64_t bytes, struct span span,
                             struct diags *diags)
{
    const int64_t megabyte = 1000000, gigabyte = 1000 * megabyte, most = http_fetch(http);
    const char *allowed = most % gigabyte == 0 ? arena_printf(diags->arena, "%lld GB", (long long)(most / gigabyte))
                                               : arena_printf(diags->arena, "%lld MB", (long long)(most / megabyte));
    const int64_t needed = bytes / gigabyte + 1;
    return diag_error_hint(
        diags, span,
        arena_printf(diags->arena, "`.set fetch %lldGB` allows it, `.set fetch off` any size", (long long)needed),
        "%s, more than the %s that `.set fetch` allows", what, allowed);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    const size_t length = size * count;
    long status = 0;
    answer->http->watch.heard = now_ns();
    answer->bytes += (int64_t)length;
    answer->http->curl.easy_getinfo(answer->http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == STATUS_FINE) {
        const int64_t most = http_fetch(answer->http);
        answer->excessive = most > 0 && answer->bytes > most;
        answer->ended = answer->excessive || !answer->receive(answer->context, bytes, length);
        return answer->ended ? CURL_WRITEFUNC_ERROR : length;
    }
    const size_t room = MOST_ERROR - answer->error.length;
    strbuf_add(&answer->error, bytes, length < room ? length : room);
    return length;
}

/* A line of the answer's head. Servers since 2019 tell what they have read: {"read_rows":"123", ... */
static size_t receive_header(char *line, size_t size, size_t count, void *context)
{
    static const char name[] = "X-ClickHouse-Summary:", field[] = "\"read_rows\":\"";
    struct answer *answer = context;
    const size_t length = size * count;
    const char *found = length > strlen(name) && strncasecmp(line, name, strlen(name)) == 0
                            ? memmem(line, length, field, strlen(field))
                            : NULL;
    if (found && memchr(found + strlen(field), '"', length - (size_t)(found - line) - strlen(field)))
        answer->rows_read = strtoll(found + strlen(field), NULL, 10);
    return length;
}

static void count_traffic(const struct http *http, const struct answer *answer, int64_t nanoseconds)
{
    if (!http->shared)
        return;
    struct table_traffic *traffic = &http->shared->traffic;
    traffic->queries++;
    traffic->nanoseconds += nanoseconds;
    traffic->bytes += answer->bytes;
    traffic->rows_read += answer->rows_read > 0 ? answer->rows_read : 0;
    traffic->queries_told += answer->rows_read >= 0;
}

void http_count_rows(struct http *http, int64_t rows)
{
    if (http->shared)
        http->shared->traffic.rows += rows;
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
    curl->easy_setopt(easy, CURLOPT_NETRC, (long)(http->netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
    if (http->peer.user && http->password) {
        curl->easy_setopt(easy, CURLOPT_USERNAME, http->peer.user);
        curl->easy_setopt(easy, CURLOPT_PASSWORD, http->password);
    }
    if (http->limit_ms > 0)
        curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)http->limit_ms);
    curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* not to wait for a name that is being resolved */
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

void http_tidy(const struct http *http, const char *sql)
{
    CURL *easy = http->curl.easy_init();
    if (!easy)
        return;
    prepare(http, easy);
    post(http, easy, http->base, sql);
    http->curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIDY_MS);
    http->curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    (void)http->curl.easy_perform(easy);
    http->curl.easy_cleanup(easy);
}

/* Tells the server to end a query. Ending the connection would not do: a query that has nothing to send goes on. */
static void kill_query(const struct http *http, const char *id)
{
    struct strbuf sql = {0};
    strbuf_printf(&sql, "KILL QUERY WHERE query_id = '%s' ASYNC", id);
    http_tidy(http, sql.text);
    strbuf_free(&sql);
}

/* Asks the server how far the query is. */
static void look(struct http *http, const char *id, int64_t now)
{
    CURL *easy = http_watch_easy(&http->watch);
    struct strbuf sql = {0};
    if (!easy)
        return;
    http_watch_question(&sql, id);
    http->curl.easy_reset(easy);
    prepare(http, easy);
    http->curl.easy_setopt(easy, CURLOPT_URL, http->base);
    http->curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, sql.text);
    http->curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)CONNECT_MS);
    http_watch_ask(&http->watch, now);
    strbuf_free(&sql);
}

enum outcome { ENDED, INTERRUPTED, STALLED };

/* Runs the prepared request. *code says how the transfer ended. */
static enum outcome transfer(struct http *http, const char *id, const struct workers *workers, CURLcode *code)
{
    const struct curl_library *curl = &http->curl;
    enum outcome outcome = ENDED;
    bool done = false;
    int running, left;
    *code = CURLE_FAILED_INIT;
    curl->multi_add_handle(http->multi, http->easy);
    while (!done && outcome == ENDED && curl->multi_perform(http->multi, &running) == CURLM_OK) {
        for (CURLMsg *message; (message = curl->multi_info_read(http->multi, &left));) {
            if (message->msg != CURLMSG_DONE)
                continue;
            done = done || message->easy_handle == http->easy;
            if (message->easy_handle == http->easy)
                *code = message->data.result;
            else
                http_watch_answered(&http->watch, message->data.result, now_ns());
        }
        if (done)
            break;
        curl->multi_wait(http->multi, NULL, 0, POLL_MS, NULL);
        const int64_t now = now_ns();
        if (http->shared && http_watch_is_due(&http->watch, now))
            look(http, id, now);
        if (workers_cancelled(workers))
            outcome = INTERRUPTED;
        else if (http->shared && http_watch_has_stalled(&http->watch, now))
            outcome = STALLED;
    }
    curl->multi_remove_handle(http->multi, http->easy);
    return outcome;
}

/* Sends the statement, or its rows after it, and receives its answer. */
struct request {
    struct http_statement statement;
    http_sender *send; /* NULL: no rows */
    http_receiver *receive;
    void *context; /* of both */
};

/* Rows being sent. */
struct sending {
    struct http *http;
    const struct request *request;
    struct strbuf piece;
    size_t sent; /* bytes of it */
    bool failed;
};

static size_t send_piece(char *to, size_t size, size_t count, void *context)
{
    struct sending *sending = context;
    if (sending->sent == sending->piece.length) {
        strbuf_clear(&sending->piece);
        sending->sent = 0;
        sending->failed = !sending->request->send(sending->request->context, &sending->piece);
        if (sending->failed)
            return CURL_READFUNC_ABORT;
    }
    const size_t room = size * count, rest = sending->piece.length - sending->sent;
    const size_t length = rest < room ? rest : room;
    if (length > 0)
        memcpy(to, sending->piece.text + sending->sent, length);
    sending->sent += length;
    sending->http->watch.heard = now_ns();
    return length;
}

/* The rows are the body of the request, in pieces, and the statement is in the address. */
static struct curl_slist *prepare_sending(const struct http *http, const char *url, struct sending *sending,
                                          struct arena *arena)
{
    const struct curl_library *curl = &http->curl;
    char *sql = curl->easy_escape(http->easy, sending->request->statement.sql, 0);
    if (!sql)
        heap_exhausted();
    curl->easy_setopt(http->easy, CURLOPT_URL, arena_printf(arena, "%s&query=%s", url, sql));
    curl->free(sql);
    curl->easy_setopt(http->easy, CURLOPT_POST, 1L);
    curl->easy_setopt(http->easy, CURLOPT_READFUNCTION, send_piece);
    curl->easy_setopt(http->easy, CURLOPT_READDATA, sending);
    curl->easy_setopt(http->easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)RECEIVE_BYTES);
    struct curl_slist *headers = curl->slist_append(NULL, "Transfer-Encoding: chunked");
    headers = curl->slist_append(headers, "Expect:"); /* not to wait for permission */
    curl->easy_setopt(http->easy, CURLOPT_HTTPHEADER, headers);
    return headers;
}

/* The address has the statement and describes the tables; the body has their rows. */
static struct curl_slist *prepare_external(const struct http *http, const char *url,
                                           const struct http_statement *statement, const char *id, struct strbuf *body,
                                           struct arena *arena)
{
    const struct curl_library *curl = &http->curl;
    struct strbuf address = {0};
    strbuf_puts(&address, url);
    external_add_address(&address, statement->sql, statement->external);
    external_add_form(body, statement->external, id);
    curl->easy_setopt(http->easy, CURLOPT_URL, strbuf_take(&address, arena));
    curl->easy_setopt(http->easy, CURLOPT_POSTFIELDS, body->text);
    curl->easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->length);
    struct curl_slist *headers =
        curl->slist_append(NULL, arena_printf(arena, "Content-Type: multipart/form-data; boundary=%s", id));
    headers = curl->slist_append(headers, "Expect:");
    curl->easy_setopt(http->easy, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static enum status run(struct http *http, const struct request *request, const struct workers *workers,
                       struct span span, struct diags *diags)
{
    const struct curl_library *curl = &http->curl;
    struct answer answer = {.http = http, .receive = request->receive, .context = request->context, .rows_read = -1};
    struct sending sending = {.http = http, .request = request};
    struct curl_slist *headers = NULL;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *id = arena_printf(diags->arena, "rql-%ld-%lld%09ld-%u", (long)getpid(), (long long)now.tv_sec,
                                  now.tv_nsec, ++http->queries);
    const char *url = arena_printf(diags->arena, "%squery_id=%s%s", http->base, id, http->settings);
    CURLcode code;
    long status = 0;
    *http->detail = '\0';
    http->lost = false;
    curl->easy_reset(http->easy);
    prepare(http, http->easy);
    if (request->send)
        headers = prepare_sending(http, url, &sending, diags->arena);
    else if (request->statement.external)
        headers = prepare_external(http, url, &request->statement, id, &sending.piece, diags->arena);
    else
        post(http, http->easy, url, request->statement.sql);
    curl->easy_setopt(http->easy, CURLOPT_ERRORBUFFER, http->detail);
    curl->easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, receive);
    curl->easy_setopt(http->easy, CURLOPT_WRITEDATA, &answer);
    curl->easy_setopt(http->easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl->easy_setopt(http->easy, CURLOPT_HEADERDATA, &answer);
    const int64_t began = now_ns();
    http_watch_begin(&http->watch, curl, http->multi, workers,
                     http->shared ? http->shared->limits.seconds * MS_PER_SECOND : 0);
    const enum outcome how = transfer(http, id, workers, &code);
    if (answer.rows_read < 0)
        answer.rows_read = http->watch.rows;
    http_watch_end(&http->watch);
    count_traffic(http, &answer, now_ns() - began);
    enum status outcome = how == INTERRUPTED ? STATUS_CANCELLED : STATUS_OK;
    curl->easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    long sent = 0; /* bytes: none without a connection */
    curl->easy_getinfo(http->easy, CURLINFO_REQUEST_SIZE, &sent);
    const bool refused = status != 0 && status != STATUS_FINE; /* perhaps before all was sent */
    if (how == STALLED && sent == 0)
        code = CURLE_OPERATION_TIMEDOUT;
    if ((how != ENDED || answer.ended || sending.failed) && sent > 0) {
        kill_query(http, id);
        if (how == STALLED)
            outcome = http_report_stall(&http->peer, http->shared->limits.seconds, span, diags);
        else if (answer.excessive)
            outcome =
                http_refuse_size(http, arena_printf(diags->arena, "the answer of `%s` is long", http->peer.server),
                                 answer.bytes, span, diags);
    } else if (outcome == STATUS_OK && !answer.ended && !sending.failed) {
        const bool broken = code != CURLE_OK && !(refused && answer.error.length > 0);
        http->lost = broken ? http_transfer_is_lost(code)
                            : answer.error.length > 0 &&
                                  http_answer_is_lost(answer.error.text, answer.error.length, diags->arena);
        if (broken)
            outcome = http_report_transfer(&http->peer, code, *http->detail ? http->detail : curl->easy_strerror(code),
                                           request->send, span, diags);
        else if (refused)
            outcome = http_report_answer(&http->peer, answer.error.text ? answer.error.text : "", answer.error.length,
                                         status, span, diags);
    }
    curl->slist_free_all(headers);
    strbuf_free(&sending.piece);
    strbuf_free(&answer.error);
    return outcome;
}

enum status http_query(struct http *http, const struct http_statement *statement, http_receiver *receiver,
                       void *context, const struct workers *workers, struct span span, struct diags *diags)
{
    const struct request request = {.statement = *statement, .receive = receiver, .context = context};
    return run(http, &request, workers, span, diags);
}

static bool receive_nothing(void *context, const char *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    (void)length;
    return true;
}

enum status http_command(struct http *http, const char *sql, const struct workers *workers, struct span span,
                         struct diags *diags)
{
    return http_query(http, &(struct http_statement){.sql = sql}, receive_nothing, NULL, workers, span, diags);
}

enum status http_send(struct http *http, const char *sql, http_sender *sender, void *context,
                      const struct workers *workers, struct span span, struct diags *diags)
{
    const struct request request = {
        .statement = {.sql = sql}, .send = sender, .receive = receive_nothing, .context = context};
    return run(http, &request, workers, span, diags);
}
