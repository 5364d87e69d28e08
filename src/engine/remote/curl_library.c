#include "engine/remote/curl_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t place; /* of the pointer in struct curl_library */
};

static const struct symbol symbols[] = {
    {"curl_global_init", offsetof(struct curl_library, global_init)},
    {"curl_getdate", offsetof(struct curl_library, getdate)},
    {"curl_easy_init", offsetof(struct curl_library, easy_init)},
    {"curl_easy_cleanup", offsetof(struct curl_library, easy_cleanup)},
    {"curl_easy_reset", offsetof(struct curl_library, easy_reset)},
    {"curl_easy_setopt", offsetof(struct curl_library, easy_setopt)},
    {"curl_easy_getinfo", offsetof(struct curl_library, easy_getinfo)},
    {"curl_easy_perform", offsetof(struct curl_library, easy_perform)},
    {"curl_easy_strerror", offsetof(struct curl_library, easy_strerror)},
    {"curl_easy_escape", offsetof(struct curl_library, easy_escape)},
    {"curl_free", offsetof(struct curl_library, free)},
    {"curl_slist_append", offsetof(struct curl_library, slist_append)},
    {"curl_slist_free_all", offsetof(struct curl_library, slist_free_all)},
    {"curl_multi_init", offsetof(struct curl_library, multi_init)},
    {"curl_multi_cleanup", offsetof(struct curl_library, multi_cleanup)},
    {"curl_multi_add_handle", offsetof(struct curl_library, multi_add_handle)},
    {"curl_multi_remove_handle", offsetof(struct curl_library, multi_remove_handle)},
    {"curl_multi_perform", offsetof(struct curl_library, multi_perform)},
    {"curl_multi_poll", offsetof(struct curl_library, multi_poll)},
    {"curl_multi_wait", offsetof(struct curl_library, multi_wait)},
    {"curl_multi_info_read", offsetof(struct curl_library, multi_info_read)},
};

bool curl_library_load(struct curl_library *library)
{
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle && i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(handle, symbols[i].name);
        if (!found)
            return false;
        memcpy((char *)library + symbols[i].place, &found, sizeof found);
    }
    return handle && library->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

enum status curl_library_missing(struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "on Debian: apt-get install libcurl4",
                           "libcurl is not installed: addresses of servers cannot be opened");
}
