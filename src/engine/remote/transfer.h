/* Requests for pieces of an object, in parallel, repeated where they fail. */
#ifndef RQL_ENGINE_REMOTE_TRANSFER_H
#define RQL_ENGINE_REMOTE_TRANSFER_H

#include "base/parallel.h"
#include "base/strbuf.h"
#include "engine/remote/address.h"
#include "engine/remote/block_file.h"
#include "engine/remote/curl_library.h"
#include "engine/remote/remote.h"

#include <pthread.h>

enum { MOST_IDLE = 16 };

struct remote {
    pthread_mutex_t mutex;
    struct curl_library curl;
    bool loaded;
    char *directory; /* NULL: there is no place */
    _Atomic int timeout;
    _Atomic int64_t limit;
    CURLM *idle[MOST_IDLE]; /* with their connections, the last used last */
    size_t idle_count;
    _Atomic int64_t requests, bytes, nanoseconds;
};

/* Loads libcurl, and finds the place for files, once. False: there is no libcurl. */
bool remote_begin(struct remote *remote);

/* The head of an answer. Numbers that are not told are -1, texts "". */
struct answer {
    long status;
    int64_t first, last, total; /* of Content-Range */
    int64_t length;             /* of the body */
    int64_t wait_ms;            /* before another try */
    char etag[ETAG_BYTES], modified[MODIFIED_BYTES], date[MODIFIED_BYTES];
    char type[MODIFIED_BYTES], encoding[MODIFIED_BYTES], region[MODIFIED_BYTES];
};

enum verdict {
    VERDICT_NONE,   /* no head has come */
    VERDICT_BODY,   /* the body is wanted */
    VERDICT_DONE,   /* nothing more is */
    VERDICT_AGAIN,  /* ask again: the piece or the address has been changed */
    VERDICT_STATUS, /* the status decides: another try, or an error */
    VERDICT_FAILED  /* an error was recorded */
};

struct piece {
    int64_t begin, end; /* bytes to be asked for; end -1: the answer tells, */
    bool suffix;        /* of the last `begin` bytes */
    bool whole;         /* of all */
    int64_t at;         /* bytes up to here have been received */
    bool done;

    CURL *easy; /* NULL: no request is in flight */
    struct transfer *transfer;
    struct curl_slist *headers;
    struct answer answer;
    enum verdict verdict;
    struct strbuf error; /* the body of another status than 200 and 206 */
    int tries;           /* that have failed without receiving a block */
    int64_t from;        /* what `at` was when the request began */
    int64_t next;        /* the time of the next try */
    int64_t heard;       /* the last sign of life */
    bool moved;          /* the request went to where redirects have led */
    char detail[CURL_ERROR_SIZE];
};

struct transfer {
    struct remote *remote;
    struct address *address; /* `moved` is set, in the arena */
    struct arena *arena;     /* NULL: redirects are followed again by each request */
    const struct workers *workers;
    struct span span;
    struct diags *diags;
    const char *condition; /* a header, or NULL */
    bool first;            /* nothing is known of the server yet */
    int64_t total;         /* bytes, for the progress; -1: unknown */
    void *context;         /* of: */
    enum verdict (*answered)(void *context, struct piece *piece);
    /* Takes bytes at piece->at, which is moved then. False: an error was recorded. */
    bool (*received)(void *context, struct piece *piece, const char *bytes, size_t length);

    int64_t got, heard;
};

/* Runs the transfers of all pieces. */
enum status transfer_run(struct transfer *transfer, struct piece *pieces, size_t count);

/* request.c: the request for the bytes of a piece that have not come. False: libcurl cannot. */
bool request_prepare(struct piece *piece);

/* remote_report.c: what is wrong where a request has failed. Each returns STATUS_FAILED. */
enum status report_status(const struct transfer *transfer, const struct piece *piece);
enum status report_failure(const struct transfer *transfer, const struct piece *piece, CURLcode code);
enum status report_silence(const struct transfer *transfer);

#endif
