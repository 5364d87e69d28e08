#include "engine/formats/netpbm.h"

#include "engine/formats/raw.h"

#include <string.h>

enum { MAX_CHANNELS = 3, MAX_SIDE = 1 << 30, BLOCK_BYTES = 96 * 1024 };

/* An image format: its first bytes and its columns. */
struct image_kind {
    const char *extension;
    const char *images;              /* in messages */
    const char *binary, *plain;      /* the first two bytes */
    int channels;                    /* values per pixel */
    int64_t max;                     /* the largest value written */
    const char *names[MAX_CHANNELS]; /* "": named after the file */
};

static const struct image_kind image_kinds[] = {
    {".pgm", ".pgm images", "P5", "P2", 1, UINT16_MAX, {""}},
    {".ppm", ".ppm images", "P6", "P3", 3, UINT8_MAX, {"red", "green", "blue"}},
};
enum { KIND_COUNT = sizeof image_kinds / sizeof image_kinds[0] };

static const struct image_kind *kind_of(const struct format *format)
{
    size_t i = 0;
    while (strcmp(image_kinds[i].extension, format->extension) != 0)
        i++;
    return &image_kinds[i];
}

/* The state of reading a file. */
struct image_reader {
    const struct image_kind *kind;
    const char *path;
    const unsigned char *at, *end;
    bool plain; /* numbers are text */
    struct shape shape;
    int64_t max; /* the header's maximum value */
    struct span span;
    struct diags *diags;
};

static enum type type_for(int64_t max)
{
    return max > UINT8_MAX ? TYPE_U16 : TYPE_U8;
}

static bool begins_with(const struct image_reader *reader, const char *magic)
{
    const size_t length = strlen(magic);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, magic, length) == 0;
}

static enum status read_magic(struct image_reader *reader)
{
    const struct image_kind *kind = reader->kind;
    reader->plain = begins_with(reader, kind->plain);
    if (reader->plain || begins_with(reader, kind->binary)) {
        reader->at += strlen(kind->binary);
        return STATUS_OK;
    }
    diag_error(reader->diags, reader->span, "`%s` is not a %s image: it does not begin with %s or %s", reader->path,
               kind->extension, kind->binary, kind->plain);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (begins_with(reader, image_kinds[i].binary) || begins_with(reader, image_kinds[i].plain))
            diag_hint(reader->diags, "its first bytes are those of a %s image", image_kinds[i].extension);
    }
    return STATUS_FAILED;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skips a comment and its newline; false if there is none. */
static bool skip_comment(struct image_reader *reader)
{
    if (reader->at == reader->end || *reader->at != '#')
        return false;
    const unsigned char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    reader->at = newline ? newline + 1 : reader->end;
    return true;
}

static void skip_blank(struct image_reader *reader)
{
    do {
        while (reader->at < reader->end && is_space(*reader->at))
            reader->at++;
    } while (skip_comment(reader));
}

/* Reads the next number of the header or of a plain image. Too large a number stays too large, but may change. */
static bool read_number(struct image_reader *reader, int64_t *number)
{
    skip_blank(reader);
    const unsigned char *begin = reader->at;
    for (*number = 0; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        if (*number <= MAX_SIDE)
            *number = *number * 10 + (*reader->at - '0');
    }
    return reader->at > begin;
}

static enum status read_field(struct image_reader *reader, const char *what, int64_t max, int64_t *number)
{
    if (read_number(reader, number) && *number >= 1 && *number <= max)
        return STATUS_OK;
    return diag_error(reader->diags, reader->span, "the header of `%s` has no %s from 1 to %lld", reader->path, what,
                      (long long)max);
}

static enum status read_header(struct image_reader *reader)
{
    if (read_magic(reader) != STATUS_OK ||
        read_field(reader, "width", MAX_SIDE, &reader->shape.extents[1]) != STATUS_OK ||
        read_field(reader, "height", MAX_SIDE, &reader->shape.extents[0]) != STATUS_OK ||
        read_field(reader, "maximum value", UINT16_MAX, &reader->max) != STATUS_OK)
        return STATUS_FAILED;
    /* A single white space separates the header from the pixels; more may be pixels. */
    if (skip_comment(reader))
        return STATUS_OK;
    if (reader->at < reader->end && !is_space(*reader->at))
        return diag_error(reader->diags, reader->span, "the header of `%s` does not end after its maximum value",
                          reader->path);
    reader->at += reader->at < reader->end;
    return STATUS_OK;
}

static enum status trailing_data_error(const struct image_reader *reader)
{
    return diag_error_hint(reader->diags, reader->span, "a file must hold exactly one image",
                           "`%s` has data after its %lld x %lld pixels", reader->path,
                           (long long)reader->shape.extents[1], (long long)reader->shape.extents[0]);
}

/* Checks that the file has the bytes for its pixels before allocating: a header may state any size. */
static enum status check_length(const struct image_reader *reader)
{
    const struct shape *shape = &reader->shape;
    const int64_t values = shape->extents[0] * shape->extents[1] * reader->kind->channels;
    const int64_t bytes = (int64_t)type_table[type_for(reader->max)].size;
    /* In plain files each value takes a digit and a separator. */
    const int64_t needed = reader->plain ? 2 * values - 1 : bytes * values;
    const int64_t length = reader->end - reader->at;
    if (length < needed)
        return diag_error(reader->diags, reader->span,
                          "`%s` is truncated: %lld x %lld pixels take %s%lld bytes, but it has %lld", reader->path,
                          (long long)shape->extents[1], (long long)shape->extents[0], reader->plain ? "at least " : "",
                          (long long)needed, (long long)length);
    return length > needed && !reader->plain ? trailing_data_error(reader) : STATUS_OK;
}

static enum status pixel_error(const struct image_reader *reader, int64_t row, int64_t sample)
{
    if (sample >= 0)
        return diag_error(reader->diags, reader->span,
                          "`%s`, row %lld: the pixel exceeds %lld, the maximum value of the header", reader->path,
                          (long long)row, (long long)reader->max);
    if (reader->at == reader->end)
        return diag_error(reader->diags, reader->span, "`%s` is truncated: it ends at row %lld", reader->path,
                          (long long)row);
    return diag_error(reader->diags, reader->span, "`%s`, row %lld: the pixel is not a number", reader->path,
                      (long long)row);
}

/* The next value of a pixel; -1: none. check_length guarantees those of binary files. */
static int64_t next_sample(struct image_reader *reader, enum type type)
{
    int64_t sample;
    if (reader->plain)
        return read_number(reader, &sample) ? sample : -1;
    if (type == TYPE_U8)
        return *reader->at++;
    sample = reader->at[0] << 8 | reader->at[1];
    reader->at += 2;
    return sample;
}

static enum status read_pixels(struct image_reader *reader, struct column *const *columns)
{
    const enum type type = columns[0]->store;
    const int64_t rows = reader->shape.extents[0] * reader->shape.extents[1];
    void *data[MAX_CHANNELS];
    for (int c = 0; c < reader->kind->channels; c++)
        data[c] = column_at(columns[c], 0);
    for (int64_t row = 0; row < rows; row++) {
        for (int c = 0; c < reader->kind->channels; c++) {
            const int64_t sample = next_sample(reader, type);
            if (sample < 0 || sample > reader->max)
                return pixel_error(reader, row, sample);
            if (type == TYPE_U8)
                ((uint8_t *)data[c])[row] = (uint8_t)sample;
            else
                ((uint16_t *)data[c])[row] = (uint16_t)sample;
        }
    }
    if (reader->plain)
        skip_blank(reader);
    return reader->at < reader->end ? trailing_data_error(reader) : STATUS_OK;
}

static enum status read_columns(struct image_reader *reader, struct column **columns)
{
    const int64_t rows = reader->shape.extents[0] * reader->shape.extents[1];
    const enum type type = type_for(reader->max);
    for (int c = 0; c < reader->kind->channels; c++) {
        columns[c] = column_reserve(type, type, rows);
        if (!columns[c])
            return file_memory_error(reader->path, reader->span, reader->diags);
    }
    const enum status status = read_pixels(reader, columns);
    for (int c = 0; c < reader->kind->channels; c++) {
        column_finish(columns[c], rows);
        column_set_range(columns[c], true, 0, reader->max);
    }
    return status;
}

enum status read_image(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{

    const unsigned char *data = mapping_data(mapping);
    struct image_reader reader = {.kind = kind_of(job->format),
                                  .shape = {.axes = 2},
                                  .path = mapping_path(mapping),
                                  .at = data,
                                  .end = data ? data + mapping_length(mapping) : NULL,
                                  .span = job->span,
                                  .diags = job->diags};
    struct column *columns[MAX_CHANNELS] = {NULL};
    enum status status = read_header(&reader);
    if (status == STATUS_OK)
        status = check_length(&reader);
    if (status == STATUS_OK)
        status = read_columns(&reader, columns);
    if (status == STATUS_OK) {
        *relation = relation_new(columns[0]->rows, (size_t)reader.kind->channels, columns, reader.kind->names);
        relation_set_shape(*relation, &reader.shape);
    }
    columns_unref(columns, (size_t)reader.kind->channels);
    return status;
}

static enum status value_error(const char *extension, int64_t row, int64_t integer, int64_t max, struct span span,
                               struct diags *diags)
{
    diag_error(diags, span, "row %lld: %lld does not fit a %s image", (long long)row, (long long)integer, extension);
    return diag_hint(diags, "it holds 0 to %lld; nothing was written", (long long)max);
}

static enum status float_error(const char *name, const char *extension, struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "convert it with `map int(...)`, or save as .f64",
                           "column `%s` holds floats, but %s images hold integers", name, extension);
}

/* Checks the values to be written and sets the header's maximum value. */
static enum status check_values(const struct image_kind *kind, const struct relation *relation, int64_t *max,
                                struct span span, struct diags *diags)
{
    *max = UINT8_MAX;
    for (size_t c = 0; c < relation->count; c++) {
        if (type_table[relation->columns[c]->type].kind == KIND_FLOAT)
            return float_error(relation->names[c], kind->extension, span, diags);
    }
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t c = 0; c < relation->count; c++) {
            const int64_t integer = column_get_int(relation->columns[c], row);
            if (integer < 0 || integer > kind->max)
                return value_error(kind->extension, row, integer, kind->max, span, diags);
            if (integer > *max)
                *max = kind->max;
        }
    }
    for (size_t c = 0; c < relation->count; c++) {
        if (relation->columns[c]->type == TYPE_U16)
            *max = kind->max;
    }
    return STATUS_OK;
}

enum status write_image(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const struct image_kind *kind = kind_of(job->format);
    if (check_plain_numbers(relation, kind->images, job->span, job->diags) != STATUS_OK)
        return STATUS_FAILED;
    int64_t max;
    const enum status status = check_values(kind, relation, &max, job->span, job->diags);
    if (status != STATUS_OK)
        return status;
    struct strbuf header = {0};
    strbuf_printf(&header, "%s\n%lld %lld\n%lld\n", kind->binary, (long long)relation->shape.extents[1],
                  (long long)relation->shape.extents[0], (long long)max);
    writer_add(writer, header.text, header.length);
    strbuf_free(&header);

    unsigned char block[BLOCK_BYTES];
    size_t used = 0;
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t c = 0; c < relation->count; c++) {
            const int64_t integer = column_get_int(relation->columns[c], row);
            if (max > UINT8_MAX)
                block[used++] = (unsigned char)(integer >> 8);
            block[used++] = (unsigned char)integer;
        }
        if (used > BLOCK_BYTES - 2 * MAX_CHANNELS) {
            writer_add(writer, block, used);
            used = 0;
        }
    }
    writer_add(writer, block, used);
    return STATUS_OK;
}
