#include "engine/parquet/byte_arrays.h"

#include "engine/parquet/encodings.h"

#include <string.h>

/* Prefixes that repeat could make a small page arbitrarily large; no other encoding allows more than this. */
enum { MAX_PAGE_BYTES = INT32_MAX };

static enum read_error read_lengths(struct byte_arrays *in, struct scratch_buffer *buffer, size_t count,
                                    const uint32_t **lengths)
{
    uint32_t *to = scratch_reserve(in->scratch, buffer, count * sizeof *to + 1);
    if (!to)
        return READ_NO_MEMORY;
    *lengths = to;
    return delta_decode(&in->at, in->end, count, sizeof *to, to) ? READ_OK : READ_BAD_VALUES;
}

enum read_error byte_arrays_open(struct byte_arrays *in, int64_t encoding, size_t width, size_t count,
                                 const uint8_t *at, const uint8_t *end, struct scratch *scratch)
{
    *in = (struct byte_arrays){.at = at, .end = end, .encoding = encoding, .width = width, .scratch = scratch};
    enum read_error error = READ_OK;
    switch (encoding) {
    case ENCODING_PLAIN:
        return READ_OK;
    case ENCODING_DELTA_BYTE_ARRAY:
        error = read_lengths(in, &scratch->prefixes, count, &in->prefixes);
        return error == READ_OK ? read_lengths(in, &scratch->lengths, count, &in->lengths) : error;
    case ENCODING_DELTA_LENGTH_BYTE_ARRAY:
        return read_lengths(in, &scratch->lengths, count, &in->lengths);
    default:
        return READ_BAD_ENCODING;
    }
}

/* The next `length` bytes of the page. */
static enum read_error take(struct byte_arrays *in, size_t length, struct text *text)
{
    if (length > (size_t)(in->end - in->at))
        return READ_BAD_VALUES;
    *text = (struct text){(const char *)in->at, length};
    in->at += length;
    return READ_OK;
}

/* Makes room for `size` bytes of text and keeps the first `kept`. */
static char *reserve_text(struct byte_arrays *in, size_t size, size_t kept)
{
    struct scratch_buffer *buffer = &in->scratch->text;
    if (size <= buffer->size && buffer->data)
        return buffer->data;
    struct scratch_buffer old = *buffer;
    *buffer = (struct scratch_buffer){0};
    char *data = scratch_reserve(in->scratch, buffer, 2 * size);
    if (data && kept > 0)
        memcpy(data, old.data, kept);
    struct scratch gone = {.pool = in->scratch->pool, .text = old};
    scratch_free(&gone);
    return data;
}

/* The first bytes are those of the one before. */
static enum read_error join_prefix(struct byte_arrays *in, struct text *text)
{
    const size_t prefix = *in->prefixes++;
    struct text suffix;
    const enum read_error error = take(in, *in->lengths++, &suffix);
    if (error != READ_OK || prefix > in->previous)
        return READ_BAD_VALUES;
    const size_t length = prefix + suffix.length;
    in->total += length;
    if (in->total > MAX_PAGE_BYTES)
        return READ_BAD_VALUES;
    char *data = reserve_text(in, length + 1, prefix);
    if (!data)
        return READ_NO_MEMORY;
    memcpy(data + prefix, suffix.at, suffix.length);
    in->previous = length;
    *text = (struct text){data, length};
    return READ_OK;
}

enum read_error byte_arrays_next(struct byte_arrays *in, struct text *text)
{
    if (in->prefixes)
        return join_prefix(in, text);
    if (in->lengths)
        return take(in, *in->lengths++, text);
    if (in->width > 0)
        return take(in, in->width, text);
    uint32_t length;
    if ((size_t)(in->end - in->at) < sizeof length)
        return READ_BAD_VALUES;
    memcpy(&length, in->at, sizeof length);
    in->at += sizeof length;
    return take(in, length, text);
}
