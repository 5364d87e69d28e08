/* What is wrong where a request to a server has failed. */
#ifndef RQL_SQL_WIRE_HTTP_REPORT_H
#define RQL_SQL_WIRE_HTTP_REPORT_H

#include "base/diag.h"

#include <curl/curl.h>

struct http_peer {
    const char *server; /* for messages */
    const char *user;   /* NULL: none is named */
};

/* An answer with a status of failure: the server's own message, if it is one. */
enum status http_report_answer(const struct http_peer *peer, const char *text, size_t length, long status,
                               struct span span, struct diags *diags);

/* There was no answer, or not all of it; `detail` is libcurl's own text. */
enum status http_report_transfer(const struct http_peer *peer, CURLcode code, const char *detail, bool sending,
                                 struct span span, struct diags *diags);

/* A query was given up after as many seconds without progress. */
enum status http_report_stall(const struct http_peer *peer, int seconds, struct span span, struct diags *diags);

#endif
