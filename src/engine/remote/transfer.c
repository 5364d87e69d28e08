#include "engine/remote/transfer.h"

#include "base/heap.h"
#include "base/timing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_AT_ONCE = 16,
    MOST_TRIES = 5,
    POLL_MS = 20,       /* between looks at `cancel` */
    BACKOFF_MS = 100,   /* before the second try; doubles */
    RESTART_MS = 15000, /* of silence, until a request is sent again */
    MS_PER_SECOND = 1000
};
static const int64_t ms = 1000000;

static CURLM *multi_take(struct remote *remote)
{
    pthread_mutex_lock(&remote->mutex);
    CURLM *multi = remote->idle_count > 0 ? remote->idle[--remote->idle_count] : remote->curl.multi_init();
    pthread_mutex_unlock(&remote->mutex);
    if (!multi)
        heap_exhausted();
    return multi;
}

static void multi_give(struct remote *remote, CURLM *multi)
{
    pthread_mutex_lock(&remote->mutex);
    const bool kept = remote->idle_count < MOST_IDLE;
    if (kept)
        remote->idle[remote->idle_count++] = multi;
    pthread_mutex_unlock(&remote->mutex);
    if (!kept)
        remote->curl.multi_cleanup(multi);
}

static void end_request(CURLM *multi, struct piece *piece)
{
    const struct curl_library *curl = &piece->transfer->remote->curl;
    if (!piece->easy)
        return;
    curl->multi_remove_handle(multi, piece->easy);
    curl->easy_cleanup(piece->easy);
    curl->slist_free_all(piece->headers);
    piece->easy = NULL;
    piece->headers = NULL;
}

static enum status begin_request(CURLM *multi, struct piece *piece)
{
    struct transfer *transfer = piece->transfer;
    const struct curl_library *curl = &transfer->remote->curl;
    piece->easy = curl->easy_init();
    if (!piece->easy)
        heap_exhausted();
    if (piece->end < 0 || piece->whole)
        piece->at = piece->suffix ? 0 : piece->begin;
    else if (!piece->suffix)
        piece->at -= piece->at % BLOCK_BYTES; /* blocks are marked whole */
    piece->from = piece->at;
    piece->heard = now_ns();
    transfer->remote->requests++;
    if (!request_prepare(piece))
        return diag_error_hint(transfer->diags, transfer->span, "libcurl 7.75 and later sign requests for S3",
                               "libcurl is too old to read `%s` by a key", transfer->address->shown);
    curl->multi_add_handle(multi, piece->easy);
    return STATUS_OK;
}

static bool may_pass(long status)
{
    return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

/* Whether another try may go better. */
static bool is_transient(const struct transfer *transfer, CURLcode code)
{
    switch (code) {
    case CURLE_OK:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_SSL_CONNECT_ERROR:
        return !transfer->first; /* of a server that has answered before */
    default:
        return false;
    }
}

/* Waits before the next try; false: there were enough. */
static bool try_again(struct piece *piece)
{
    if (!piece->whole && piece->at - piece->from >= BLOCK_BYTES) /* without ranges the next try starts over */
        piece->tries = 0;
    if (++piece->tries > MOST_TRIES)
        return false;
    const int64_t backoff = (int64_t)BACKOFF_MS << (piece->tries - 1);
    const int64_t wait = piece->answer.wait_ms > backoff ? piece->answer.wait_ms : backoff;
    piece->next = now_ns() + wait * ms;
    return true;
}

/* Notes where redirects have led to, for the requests that follow. */
static void note_moved(struct transfer *transfer, const struct piece *piece)
{
    char *url = NULL;
    long redirects = 0;
    if (!transfer->arena || (piece->verdict != VERDICT_BODY && piece->verdict != VERDICT_DONE))
        return;
    transfer->remote->curl.easy_getinfo(piece->easy, CURLINFO_REDIRECT_COUNT, &redirects);
    transfer->remote->curl.easy_getinfo(piece->easy, CURLINFO_EFFECTIVE_URL, &url);
    if (redirects > 0 && url)
        transfer->address->moved = arena_text(transfer->arena, url, strlen(url));
}

/* Whether the request went to where redirects had led, and is refused there, as where a signature has expired. */
static bool leads_elsewhere(struct transfer *transfer, const struct piece *piece)
{
    const long status = piece->answer.status;
    if (!piece->moved || piece->verdict != VERDICT_STATUS || status / 100 != 4 || may_pass(status))
        return false;
    transfer->address->moved = NULL;
    return true;
}

/* A request has ended. */
static enum status settle(CURLM *multi, struct piece *piece, CURLcode code)
{
    struct transfer *transfer = piece->transfer;
    if (piece->verdict == VERDICT_NONE && code == CURLE_OK) /* without a body */
        piece->verdict = transfer->answered(transfer->context, piece);
    note_moved(transfer, piece);
    end_request(multi, piece);
    if (leads_elsewhere(transfer, piece))
        piece->verdict = VERDICT_AGAIN;
    switch (piece->verdict) {
    case VERDICT_DONE:
        piece->done = true;
        return STATUS_OK;
    case VERDICT_FAILED:
        return STATUS_FAILED;
    case VERDICT_AGAIN:
        piece->next = 0;
        return STATUS_OK;
    case VERDICT_STATUS:
        return may_pass(piece->answer.status) && try_again(piece) ? STATUS_OK : report_status(transfer, piece);
    case VERDICT_BODY:
        piece->done = piece->done || (code == CURLE_OK && (piece->end < 0 || piece->whole || piece->at >= piece->end));
        break;
    case VERDICT_NONE:
        break;
    }
    if (piece->done || (is_transient(transfer, code) && try_again(piece)))
        return STATUS_OK;
    return report_failure(transfer, piece, code);
}

static enum status settle_ended(struct transfer *transfer, CURLM *multi)
{
    const struct curl_library *curl = &transfer->remote->curl;
    enum status status = STATUS_OK;
    int left;
    for (CURLMsg *message; status == STATUS_OK && (message = curl->multi_info_read(multi, &left));) {
        struct piece *piece = NULL;
        const CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &piece);
        status = settle(multi, piece, code);
    }
    return status;
}

/* Pieces are begun in their order: those before `low` are done, those from `high` on not begun. */
struct window {
    struct piece *pieces;
    size_t count, low, high;
};

/* Sends requests again that have been silent for long, unless the server may still be making its first answer. */
static enum status restart_silent(struct transfer *transfer, CURLM *multi, const struct window *window)
{
    const int64_t now = now_ns(), timeout = (int64_t)transfer->remote->timeout * MS_PER_SECOND * ms;
    const int64_t most = timeout > 0 && timeout / 2 < RESTART_MS * ms ? timeout / 2 : RESTART_MS * ms;
    if (timeout > 0 && now - transfer->heard > timeout)
        return report_silence(transfer);
    for (size_t i = window->low; i < window->high; i++) {
        struct piece *piece = &window->pieces[i];
        if (!piece->easy || now - piece->heard <= most || (transfer->first && piece->answer.status == 0))
            continue;
        end_request(multi, piece);
        if (!try_again(piece))
            return report_silence(transfer);
    }
    return STATUS_OK;
}

static void show(const struct transfer *transfer)
{
    struct progress_step step = transfer->workers->whole;
    step.rows = 0;
    step.received = true;
    step.bytes = transfer->total > 0 ? transfer->total : 0;
    step.part = transfer->total > 0 ? (double)transfer->got / (double)transfer->total : 0;
    step.part = step.part < 1 ? step.part : 1;
    progress_report(transfer->workers->progress, &step);
}

/* Begins requests until as many run as may, and counts these. */
static enum status begin_waiting(CURLM *multi, struct window *window, size_t *running)
{
    const int64_t now = now_ns();
    enum status status = STATUS_OK;
    *running = 0;
    while (window->low < window->count && window->pieces[window->low].done)
        window->low++;
    for (size_t i = window->low; i < window->high; i++)
        *running += !!window->pieces[i].easy;
    for (size_t i = window->low; i < window->count && *running < MOST_AT_ONCE && status == STATUS_OK; i++) {
        struct piece *piece = &window->pieces[i];
        if (piece->done || piece->easy || piece->next > now)
            continue;
        status = begin_request(multi, piece);
        window->high = i < window->high ? window->high : i + 1;
        ++*running;
    }
    return status;
}

static enum status run(struct transfer *transfer, CURLM *multi, struct window *window)
{
    const struct curl_library *curl = &transfer->remote->curl;
    const struct timespec pause = {.tv_nsec = POLL_MS / 4 * ms};
    for (;;) {
        size_t running;
        int active;
        enum status status = begin_waiting(multi, window, &running);
        if (status != STATUS_OK || window->low == window->count)
            return status;
        if (workers_cancelled(transfer->workers))
            return STATUS_CANCELLED;
        (void)curl->multi_perform(multi, &active);
        if (workers_cancelled(transfer->workers))
            return STATUS_CANCELLED;
        status = settle_ended(transfer, multi);
        if (status == STATUS_OK)
            status = restart_silent(transfer, multi, window);
        if (status != STATUS_OK)
            return status;
        show(transfer);
        if (running == 0)
            (void)nanosleep(&pause, NULL);
        else if (active > 0)
            (void)curl->multi_poll(multi, NULL, 0, POLL_MS, NULL);
    }
}

enum status transfer_run(struct transfer *transfer, struct piece *pieces, size_t count)
{
    const int64_t began = now_ns();
    CURLM *multi = multi_take(transfer->remote);
    transfer->heard = began;
    for (size_t i = 0; i < count; i++) {
        pieces[i].transfer = transfer;
        pieces[i].at = pieces[i].suffix ? 0 : pieces[i].begin;
    }
    struct window window = {.pieces = pieces, .count = count};
    const enum status status = run(transfer, multi, &window);
    for (size_t i = 0; i < count; i++) {
        end_request(multi, &pieces[i]);
        strbuf_free(&pieces[i].error);
    }
    multi_give(transfer->remote, multi);
    transfer->remote->nanoseconds += now_ns() - began;
    return status;
}
