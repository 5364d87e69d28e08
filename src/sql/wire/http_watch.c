#include "sql/wire/http_internal.h"

#include "base/timing.h"

#include <stdlib.h>
#include <string.h>

enum { SHOW_MS = 200, MOST_LOOKS = 4 }; /* between questions for the progress bar; within the limit without one */
static const int64_t ms = 1000000;

void http_watch_begin(struct http_watch *watch, const struct curl_library *curl, CURLM *multi,
                      const struct workers *workers, int limit_ms)
{
    const int64_t now = now_ns();
    *watch = (struct http_watch){
        .curl = curl, .multi = multi, .workers = workers, .limit = limit_ms * ms, .heard = now, .rows = -1};
    watch->next = workers->progress ? now + SHOW_MS * ms : now + watch->limit / MOST_LOOKS;
}

bool http_watch_is_due(const struct http_watch *watch, int64_t now)
{
    return !watch->asking && now >= watch->next && (watch->workers->progress || watch->limit > 0);
}

CURL *http_watch_easy(struct http_watch *watch)
{
    if (!watch->easy)
        watch->easy = watch->curl->easy_init();
    return watch->easy;
}

void http_watch_question(struct strbuf *sql, const char *query_id)
{
    strbuf_printf(sql,
                  "SELECT read_rows, total_rows_approx, read_bytes, written_rows, memory_usage, "
                  "ProfileEvents.Values[indexOf(ProfileEvents.Names, 'UserTimeMicroseconds')] FROM system.processes "
                  "WHERE query_id = '%s' FORMAT TabSeparated",
                  query_id);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    enum { MOST = 4096 };
    struct http_watch *watch = context;
    if (watch->answer.length + size * count <= MOST)
        strbuf_add(&watch->answer, bytes, size * count);
    return size * count;
}

void http_watch_ask(struct http_watch *watch, int64_t now)
{
    strbuf_clear(&watch->answer);
    watch->curl->easy_setopt(watch->easy, CURLOPT_WRITEFUNCTION, receive);
    watch->curl->easy_setopt(watch->easy, CURLOPT_WRITEDATA, watch);
    watch->asking = watch->curl->multi_add_handle(watch->multi, watch->easy) == CURLM_OK;
    const int64_t look = watch->workers->progress ? SHOW_MS * ms : watch->limit / MOST_LOOKS;
    watch->next = now + look;
}

static void show(struct http_watch *watch, int64_t rows, int64_t total)
{
    struct progress_step step = watch->workers->whole;
    if (total <= 0)
        return;
    step.rows = total;
    step.part = rows >= total ? 1 : (double)rows / (double)total;
    progress_report(watch->workers->progress, &step);
}

void http_watch_answered(struct http_watch *watch, CURLcode code, int64_t now)
{
    long status = 0;
    watch->asking = false;
    watch->curl->easy_getinfo(watch->easy, CURLINFO_RESPONSE_CODE, &status);
    watch->curl->multi_remove_handle(watch->multi, watch->easy);
    if (code != CURLE_OK || status != 200 || watch->answer.length == 0)
        return; /* no sign of life: it does not know the query, or does not answer */
    char *end = watch->answer.text;
    watch->rows = strtoll(end, &end, 10);
    const int64_t total = strtoll(end, NULL, 10);
    if (!watch->before.text || strcmp(watch->before.text, watch->answer.text) != 0)
        watch->heard = now;
    const struct strbuf old = watch->before;
    watch->before = watch->answer;
    watch->answer = old;
    show(watch, watch->rows, total);
}

bool http_watch_has_stalled(const struct http_watch *watch, int64_t now)
{
    return watch->limit > 0 && now - watch->heard > watch->limit;
}

void http_watch_end(struct http_watch *watch)
{
    if (watch->asking)
        watch->curl->multi_remove_handle(watch->multi, watch->easy);
    if (watch->easy)
        watch->curl->easy_cleanup(watch->easy);
    strbuf_free(&watch->answer);
    strbuf_free(&watch->before);
}
