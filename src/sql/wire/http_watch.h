/* A look at a query while its server runs it: how far it is, for the progress bar, and whether it goes on at all.
 *
 * A second connection asks system.processes, which servers of all versions have. */
#ifndef RQL_SQL_WIRE_HTTP_WATCH_H
#define RQL_SQL_WIRE_HTTP_WATCH_H

#include "base/parallel.h"
#include "base/strbuf.h"
#include "sql/wire/curl_library.h"

struct http_watch {
    const struct curl_library *curl;
    CURLM *multi;
    CURL *easy; /* asks; NULL: nothing was asked yet */
    bool asking;
    const struct workers *workers; /* has the progress listener */
    int64_t limit;                 /* ns without a sign of life until the query has stalled; 0: it never has */
    int64_t heard;                 /* when there was the last sign of life: bytes, or another answer than before */
    int64_t next;                  /* when to ask */
    int64_t rows;                  /* that the server has read, at the last answer */
    struct strbuf answer, before;
};

/* Begins to watch a request on `multi`; limit_ms 0: none. */
void http_watch_begin(struct http_watch *watch, const struct curl_library *curl, CURLM *multi,
                      const struct workers *workers, int limit_ms);

/* Whether it is time to ask; then the caller prepares http_watch_easy for its server and calls http_watch_ask. */
bool http_watch_is_due(const struct http_watch *watch, int64_t now);
CURL *http_watch_easy(struct http_watch *watch);
void http_watch_ask(struct http_watch *watch, int64_t now);

/* The question about a query; read_rows, total_rows_approx and other numbers that change while it goes on. */
void http_watch_question(struct strbuf *sql, const char *query_id);

/* The answer is there, or there will be none. */
void http_watch_answered(struct http_watch *watch, CURLcode code, int64_t now);

bool http_watch_has_stalled(const struct http_watch *watch, int64_t now);
void http_watch_end(struct http_watch *watch);

#endif
