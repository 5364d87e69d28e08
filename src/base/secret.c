#include "base/secret.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 2048 };

/* The start of the address that byte `at` is within, behind its "://"; SIZE_MAX: it is within none. */
static size_t address_before(const char *text, size_t at)
{
    static const char scheme[] = "://";
    const size_t width = strlen(scheme);
    for (size_t begin = at; begin >= width && at - begin < LONGEST && !strchr(" \t\n'\"", text[begin - 1]); begin--) {
        if (memcmp(text + begin - width, scheme, width) == 0)
            return begin;
    }
    return SIZE_MAX;
}

static bool is_password(const char *text, size_t length, size_t begin, size_t at)
{
    static const char ends[] = "/?# \t\n'\"";
    size_t end = begin;
    while (end < length && text[end] && !strchr(ends, text[end]))
        end++;
    const char *colon = memchr(text + begin, ':', end - begin);
    const char *host = colon ? memchr(colon, '@', (size_t)(text + end - colon)) : NULL;
    return host && text + at > colon && text + at < host;
}

static bool is_parameter(const char *text, size_t begin, size_t at)
{
    static const char *const names[] = {
        "sig=", "signature=", "x-amz-signature=", "x-amz-security-token=", "password=", "token=", "x-goog-signature="};
    size_t start = at;
    while (start > begin && !strchr("?&", text[start - 1]))
        start--;
    for (size_t i = 0; start > begin && i < sizeof names / sizeof *names; i++) {
        const size_t width = strlen(names[i]);
        if (start + width <= at && strncasecmp(text + start, names[i], width) == 0)
            return true;
    }
    return false;
}

bool text_is_secret(const char *text, size_t length, size_t at)
{
    const size_t begin = at < length && !strchr(" \t\n'\"", text[at]) ? address_before(text, at) : SIZE_MAX;
    return begin != SIZE_MAX && (is_password(text, length, begin, at) || is_parameter(text, begin, at));
}
