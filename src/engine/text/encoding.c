#include "engine/text/encoding.h"

#include "engine/storage/growing_buffer.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

/* The characters of Windows-1252 from 0x80 on that latin1 does not have there; 0: it has the same. */
static const uint16_t windows1252[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                         0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                         0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                         0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* Appends a character below U+110000, at most four bytes; halves of surrogate pairs become three that are not UTF-8. */
static char *put(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> 6 * more);
    for (int i = more; i-- > 0;)
        *to++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return to;
}

enum { BLOCK = 1 << 16 };

/* Returns false if there is no memory. */
static bool convert_bytes(const uint8_t *text, size_t length, bool windows, struct growing_buffer *out)
{
    for (size_t at = 0; at < length;) {
        const size_t end = length - at < BLOCK ? length : at + BLOCK;
        if (!growing_buffer_reserve(out, 3 * (end - at)))
            return false;
        char *to = out->data + out->used, *begin = to;
        for (; at < end; at++) {
            const uint8_t c = text[at];
            const uint16_t other = windows && c >= 0x80 && c < 0xa0 ? windows1252[c - 0x80] : 0;
            to = put(to, other ? other : c);
        }
        out->used += (size_t)(to - begin);
    }
    return true;
}

static uint32_t unit_at(const uint8_t *at, bool big)
{
    return big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

/* A byte behind the last whole unit is left out. */
static bool convert_utf16(const uint8_t *text, size_t length, bool big, struct growing_buffer *out)
{
    length -= length % 2;
    size_t at = length >= 2 && unit_at(text, big) == 0xfeff ? 2 : 0;
    while (at < length) {
        const size_t end = length - at < BLOCK ? length : at + BLOCK;
        if (!growing_buffer_reserve(out, 2 * (end - at) + 4))
            return false;
        char *to = out->data + out->used, *begin = to;
        while (at < end) {
            uint32_t code = unit_at(text + at, big);
            at += 2;
            const uint32_t low = code >> 10 == 0x36 && at < length ? unit_at(text + at, big) : 0;
            if (low >> 10 == 0x37) {
                code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
                at += 2;
            }
            to = put(to, code);
        }
        out->used += (size_t)(to - begin);
    }
    return true;
}

static int64_t line_of(const struct growing_buffer *out)
{
    int64_t line = 1;
    for (size_t i = 0; i < out->used; i++)
        line += out->data[i] == '\n';
    return line;
}

/* By the C library, which knows some hundred encodings. */
static enum status convert_others(const struct format_job *job, const char *encoding, const struct mapping *mapping,
                                  struct growing_buffer *out)
{
    iconv_t converter = iconv_open("UTF-8", encoding);
    if (converter == (iconv_t)-1)
        return diag_error_hint(job->diags, job->span, "`iconv -l` lists those that there are", "unknown encoding `%s`",
                               encoding);
    char *from = (char *)(uintptr_t)mapping_data(mapping);
    size_t left = mapping_length(mapping);
    enum status status = STATUS_OK;
    while (left > 0 && status == STATUS_OK) {
        if (!growing_buffer_reserve(out, 4 * BLOCK)) {
            status = file_memory_error(mapping_path(mapping), job->span, job->diags);
            break;
        }
        char *to = out->data + out->used, *begin = to;
        size_t room = 4 * BLOCK, some = left < BLOCK ? left : BLOCK;
        const size_t before = some;
        const size_t result = iconv(converter, &from, &some, &to, &room);
        out->used += (size_t)(to - begin);
        left -= before - some;
        const bool cut = result == (size_t)-1 && errno == EINVAL && before == BLOCK && some < before;
        if (result == (size_t)-1 && errno != E2BIG && !cut)
            status = diag_error(job->diags, job->span, "`%s`, line %lld: text that is not %s", mapping_path(mapping),
                                (long long)line_of(out), encoding);
    }
    iconv_close(converter);
    return status;
}

const char *encoding_of_mark(const char *text, size_t length)
{
    return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0) ? "utf16" : NULL;
}

const char *encoding_guess(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (((unsigned char)text[i] & 0xe0) == 0x80)
            return "windows1252";
    }
    return "latin1";
}

enum status encoding_convert(const struct format_job *job, const char *encoding, struct mapping **mapping)
{
    struct growing_buffer out = {.pool = job->workers->pool};
    const uint8_t *text = mapping_data(*mapping);
    const size_t length = mapping_length(*mapping);
    const bool windows = strcmp(encoding, "windows1252") == 0;
    bool made = true;
    enum status status = STATUS_OK;
    if (windows || strcmp(encoding, "latin1") == 0)
        made = convert_bytes(text, length, windows, &out);
    else if (strncmp(encoding, "utf16", 5) == 0)
        made = convert_utf16(text, length,
                             strcmp(encoding, "utf16be") == 0 ||
                                 (encoding[5] == '\0' && length >= 2 && text[0] == 0xfe && text[1] == 0xff),
                             &out);
    else
        status = convert_others(job, encoding, *mapping, &out);
    if (!made)
        status = file_memory_error(mapping_path(*mapping), job->span, job->diags);
    if (status == STATUS_OK) {
        struct mapping *content = mapping_from_buffer(mapping_path(*mapping), mapping_stamp(*mapping), &out);
        mapping_unref(*mapping);
        *mapping = content;
    } else {
        growing_buffer_free(&out);
    }
    return status;
}
