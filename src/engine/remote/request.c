/* One request, and the head of its answer. */
#include "engine/remote/transfer.h"

#include "base/timing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CONNECT_MS = 10000, MOST_REDIRECTS = 10, RECEIVE_BYTES = 1 << 18, MOST_ERROR = 1 << 14, MOST_WAIT_S = 30 };

static struct answer new_answer(long status)
{
    return (struct answer){.status = status, .first = -1, .last = -1, .total = -1, .length = -1};
}

static int64_t number(const char *text)
{
    return *text >= '0' && *text <= '9' ? strtoll(text, NULL, 10) : -1;
}

/* bytes 0-99/1234, bytes 0-99/ *, or bytes * /1234 */
static void read_content_range(struct answer *answer, const char *value)
{
    static const char unit[] = "bytes ";
    if (strncasecmp(value, unit, strlen(unit)) != 0)
        return;
    value += strlen(unit);
    const char *dash = strchr(value, '-'), *slash = strchr(value, '/');
    answer->total = slash ? number(slash + 1) : -1;
    if (dash && slash && dash < slash) {
        answer->first = number(value);
        answer->last = number(dash + 1);
    }
}

static void read_field(struct answer *answer, const char *name, const char *value)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } texts[] = {{"etag", answer->etag, sizeof answer->etag},
                 {"last-modified", answer->modified, sizeof answer->modified},
                 {"date", answer->date, sizeof answer->date},
                 {"content-type", answer->type, sizeof answer->type},
                 {"content-encoding", answer->encoding, sizeof answer->encoding},
                 {"x-amz-bucket-region", answer->region, sizeof answer->region}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcasecmp(name, texts[i].name) == 0 && strlen(value) < texts[i].size)
            memcpy(texts[i].to, value, strlen(value) + 1);
    }
    if (strcasecmp(name, "content-range") == 0)
        read_content_range(answer, value);
    else if (strcasecmp(name, "content-length") == 0)
        answer->length = number(value);
    else if (strcasecmp(name, "retry-after") == 0 && number(value) >= 0)
        answer->wait_ms = (number(value) < MOST_WAIT_S ? number(value) : MOST_WAIT_S) * 1000;
}

/* Lines of the heads of all answers, those of redirects included. */
static size_t receive_header(char *line, size_t size, size_t count, void *context)
{
    struct piece *piece = context;
    const size_t length = size * count;
    char field[1024];
    piece->heard = piece->transfer->heard = now_ns();
    if (length >= sizeof field)
        return length;
    memcpy(field, line, length);
    size_t end = length;
    while (end > 0 && strchr(" \t\r\n", field[end - 1]))
        end--;
    field[end] = '\0';
    char *colon = strchr(field, ':'), *blank = strchr(field, ' ');
    if (strncmp(field, "HTTP/", 5) == 0) {
        piece->answer = new_answer(blank ? (long)number(blank + 1) : 0);
    } else if (colon) {
        *colon = '\0';
        read_field(&piece->answer, field, colon + 1 + strspn(colon + 1, " \t"));
    }
    return length;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct piece *piece = context;
    struct transfer *transfer = piece->transfer;
    const size_t length = size * count;
    piece->heard = transfer->heard = now_ns();
    transfer->remote->bytes += (int64_t)length;
    if (workers_cancelled(transfer->workers)) /* one call of libcurl may receive for long */
        return CURL_WRITEFUNC_ERROR;
    if (piece->verdict == VERDICT_NONE)
        piece->verdict = transfer->answered(transfer->context, piece);
    if (piece->verdict == VERDICT_STATUS) {
        const size_t room = MOST_ERROR - piece->error.length;
        strbuf_add(&piece->error, bytes, length < room ? length : room);
        return length;
    }
    if (piece->verdict != VERDICT_BODY)
        return CURL_WRITEFUNC_ERROR;
    const int64_t before = piece->at;
    if (!transfer->received(transfer->context, piece, bytes, length)) {
        piece->verdict = VERDICT_FAILED;
        return CURL_WRITEFUNC_ERROR;
    }
    transfer->got += piece->at - before;
    if (piece->end >= 0 && piece->at >= piece->end && !piece->whole) { /* more than was asked for */
        piece->done = true;
        return piece->at > piece->end ? CURL_WRITEFUNC_ERROR : length;
    }
    return length;
}

/* Signs by libcurl. False: it is too old. */
static bool sign(struct piece *piece)
{
    const struct curl_library *curl = &piece->transfer->remote->curl;
    const struct aws_settings *aws = &piece->transfer->address->aws;
    struct strbuf text = {0};
    strbuf_printf(&text, "aws:amz:%s:s3", aws->region);
    const bool able = curl->easy_setopt(piece->easy, CURLOPT_AWS_SIGV4, text.text) == CURLE_OK;
    curl->easy_setopt(piece->easy, CURLOPT_USERNAME, aws->key);
    curl->easy_setopt(piece->easy, CURLOPT_PASSWORD, aws->secret);
    /* of an empty body */
    piece->headers = curl->slist_append(
        piece->headers, "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    if (aws->token) {
        strbuf_clear(&text);
        strbuf_printf(&text, "x-amz-security-token: %s", aws->token);
        piece->headers = curl->slist_append(piece->headers, text.text);
    }
    strbuf_free(&text);
    return able;
}

static void set_range(const struct piece *piece)
{
    struct strbuf range = {0};
    if (piece->suffix)
        strbuf_printf(&range, "-%lld", (long long)piece->begin);
    else
        strbuf_printf(&range, "%lld-%lld", (long long)piece->at, (long long)piece->end - 1);
    if (!piece->whole)
        piece->transfer->remote->curl.easy_setopt(piece->easy, CURLOPT_RANGE, range.text);
    strbuf_free(&range);
}

bool request_prepare(struct piece *piece)
{
    const struct transfer *transfer = piece->transfer;
    const struct curl_library *curl = &transfer->remote->curl;
    const struct address *address = transfer->address;
    CURL *easy = piece->easy;
    const char *certificates = getenv("SSL_CERT_FILE");
    const bool is_signed = address->s3 && address->aws.key;
    piece->answer = new_answer(0);
    piece->verdict = VERDICT_NONE;
    *piece->detail = '\0';
    strbuf_clear(&piece->error);
    piece->moved = address->moved;
    curl->easy_setopt(easy, CURLOPT_URL, address->moved ? address->moved : address->url);
    curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); /* a connection for each request */
    curl->easy_setopt(easy, CURLOPT_USERAGENT, "rql");
    curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, address->secure ? "https" : "http,https");
    curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, is_signed ? 0L : 1L);
    curl->easy_setopt(easy, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS);
    curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* not to wait for a name that is being resolved */
    curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, piece->detail);
    curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl->easy_setopt(easy, CURLOPT_WRITEDATA, piece);
    curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl->easy_setopt(easy, CURLOPT_HEADERDATA, piece);
    curl->easy_setopt(easy, CURLOPT_PRIVATE, piece);
    if (certificates)
        curl->easy_setopt(easy, CURLOPT_CAINFO, certificates);
    if (address->secure && !address->s3)
        curl->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    if (transfer->condition)
        piece->headers = curl->slist_append(piece->headers, transfer->condition);
    set_range(piece);
    const bool able = !is_signed || sign(piece);
    curl->easy_setopt(easy, CURLOPT_HTTPHEADER, piece->headers);
    return able;
}
