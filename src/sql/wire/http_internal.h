/* What http.c is made of. */
#ifndef RQL_SQL_WIRE_HTTP_INTERNAL_H
#define RQL_SQL_WIRE_HTTP_INTERNAL_H

#include "base/diag.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "engine/remote/curl_library.h"

/* http_watch.c: monitors a query while its server runs it: its progress, for the progress bar, and whether it has
 * stalled. A second connection polls system.processes, which servers of all versions have. */
struct http_watch {
    const struct curl_library *curl;
    CURLM *multi;
    CURL *easy;                    /* polls; NULL: not created yet */
    bool asking;                   /* a poll is in flight */
    const struct workers *workers; /* has the progress listener */
    int64_t limit;                 /* ns without progress until the query has stalled; 0: it never has */
    int64_t heard;                 /* the time of the last progress: bytes received, or a changed answer */
    int64_t next;                  /* the time of the next poll */
    int64_t rows;                  /* that the server has read, at the last answer */
    struct strbuf answer, before;
};

/* Begins to watch a request on `multi`; limit_ms 0: none. */
void http_watch_begin(struct http_watch *watch, const struct curl_library *curl, CURLM *multi,
                      const struct workers *workers, int limit_ms);

/* Whether a poll is due; if so, the caller prepares http_watch_easy for its server and calls http_watch_ask. */
bool http_watch_is_due(const struct http_watch *watch, int64_t now);
CURL *http_watch_easy(struct http_watch *watch);
void http_watch_ask(struct http_watch *watch, int64_t now);

/* Appends the query to poll with: read_rows, total_rows_approx and other numbers that change while the query runs. */
void http_watch_question(struct strbuf *sql, const char *query_id);

/* To be called when the poll has ended, with its outcome. */
void http_watch_answered(struct http_watch *watch, CURLcode code, int64_t now);

bool http_watch_has_stalled(const struct http_watch *watch, int64_t now);
void http_watch_end(struct http_watch *watch);

/* http_report.c: what is wrong where a request to a server has failed. */

struct http_peer {
    const char *server; /* for messages */
    const char *user;   /* NULL: none is named */
    bool plain;         /* without TLS */
    bool withheld;      /* credentials.h */
};

/* An answer with a status of failure: the server's own message, if it is one. */
enum status http_report_answer(const struct http_peer *peer, const char *text, size_t length, long status,
                               struct span span, struct diags *diags);

/* There was no answer, or not all of it; `detail` is libcurl's own text. */
enum status http_report_transfer(const struct http_peer *peer, CURLcode code, const char *detail, bool sending,
                                 struct span span, struct diags *diags);

/* Whether that is of a connection that broke off or was refused: to the server, or, as an answer with a status of
 * failure says, between servers. */
bool http_transfer_is_lost(CURLcode code);
bool http_answer_is_lost(const char *text, size_t length, struct arena *arena);

/* A query was given up after as many seconds without progress. */
enum status http_report_stall(const struct http_peer *peer, int seconds, struct span span, struct diags *diags);

#endif
