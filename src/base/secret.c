#include "base/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* An address is looked at no further than this, so that a text of many is read in linear time. */
enum { LONGEST = 4096 };

static bool is_blank(char c)
{
    return !c || strchr(" \t\r\n", c);
}

/* Whether a quote of the kind of the opening one closes it: in a password it may stand for itself. */
static bool closes(const char *text, const char *end, char quote)
{
    static const char follow[] = "|,;:.)]}`'\"";
    return *text == quote && (text + 1 == end || is_blank(text[1]) || strchr(follow, text[1]));
}

/* The end of the address whose host begins at `host`: at the closing quote, without quotes at a blank. */
static char *address_end(char *host, char *end, char quote)
{
    while (host < end && *host && *host != '\n' && !(quote ? closes(host, end, quote) : is_blank(*host)))
        host++;
    return host;
}

/* The quote before SCHEME://; 0: none. */
static char quote_before(const char *text, const char *scheme)
{
    while (scheme > text && (isalnum((unsigned char)scheme[-1]) || strchr("+-.", scheme[-1])))
        scheme--;
    return (char)(scheme > text && strchr("'\"`", scheme[-1]) ? scheme[-1] : 0);
}

/* Where a password that begins at `at` ends: before the last `@`, or where the middle of a long address was left out.
 * NULL: it is none. */
static char *password_end(char *at, char *end)
{
    static const char left_out[] = "…";
    char *last = memrchr(at, '@', (size_t)(end - at));
    return last ? last : memmem(at, (size_t)(end - at), left_out, strlen(left_out));
}

/* A number, or the word for one in hints. */
static bool is_port(const char *at, const char *end)
{
    enum { MOST_DIGITS = 5 };
    static const char word[] = "PORT";
    const size_t width = strlen(word);
    size_t length = 0;
    while (at + length < end && isdigit((unsigned char)at[length]))
        length++;
    if ((size_t)(end - at) >= width && memcmp(at, word, width) == 0)
        length = width;
    return length > 0 && length <= MOST_DIGITS && (at + length == end || strchr("/?#", at[length]));
}

static bool mask(char *begin, const char *end)
{
    if (begin < end)
        memset(begin, '*', (size_t)(end - begin));
    return begin < end;
}

static bool mask_password(char *host, char *end, char *reach, bool cut)
{
    char *at = host;
    while (at < end && !strchr(":/?#", *at))
        at++;
    if (at + 1 >= end || *at != ':')
        return false;
    at++;
    if (is_port(at, end))
        return false;
    /* What is no port may be a password with blanks. */
    char *last = password_end(at, end);
    if (!last)
        last = password_end(at, address_end(at, reach, '\n'));
    if (!last && cut)
        last = end;
    return last && mask(at, last);
}

static bool mask_parameters(char *at, char *end)
{
    static const char *const names[] = {
        "sig=", "signature=", "x-amz-signature=", "x-amz-security-token=", "password=", "token=", "x-goog-signature="};
    bool found = false;
    for (; at < end; at++) {
        for (size_t i = 0; strchr("?&", *at) && i < sizeof names / sizeof *names; i++) {
            const size_t width = strlen(names[i]);
            if (width >= (size_t)(end - at) || strncasecmp(at + 1, names[i], width) != 0)
                continue;
            char *value = at + 1 + width, *value_end = value;
            while (value_end < end && !strchr("?&", *value_end))
                value_end++;
            found = mask(value, value_end) || found;
        }
    }
    return found;
}

bool secrets_mask(char *text, size_t length, bool cut)
{
    static const char scheme[] = "://";
    char *const end = text + length;
    bool found = false;
    for (char *at = text; (at = memmem(at, (size_t)(end - at), scheme, strlen(scheme)));) {
        const char quote = quote_before(text, at);
        at += strlen(scheme);
        char *reach = end - at > LONGEST ? at + LONGEST : end;
        char *address = address_end(at, reach, quote);
        found = mask_password(at, address, reach, cut) || found;
        found = mask_parameters(at, address) || found;
    }
    return found;
}
