/* libcurl, loaded when the first address is opened, so that rql starts as fast and runs without it. These functions are
 * used; those with a variable number of arguments are called like libcurl's own. */
#ifndef RQL_ENGINE_REMOTE_CURL_LIBRARY_H
#define RQL_ENGINE_REMOTE_CURL_LIBRARY_H

#include "base/diag.h"

#include <curl/curl.h>
#include <stdbool.h>

struct curl_library {
    CURLcode (*global_init)(long flags);
    time_t (*getdate)(const char *text, const time_t *unused);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    void (*easy_reset)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_perform)(CURL *easy);
    const char *(*easy_strerror)(CURLcode code);
    char *(*easy_escape)(CURL *easy, const char *text, int length);
    void (*free)(void *text);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *extra, unsigned count, int timeout_ms, int *ready);
    CURLMcode (*multi_wait)(CURLM *multi, struct curl_waitfd *extra, unsigned count, int timeout_ms, int *ready);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
};

/* Loads the library, which stays loaded. False: there is none. */
bool curl_library_load(struct curl_library *library);

/* Records that there is none. Returns STATUS_FAILED. */
enum status curl_library_missing(struct span span, struct diags *diags);

#endif
