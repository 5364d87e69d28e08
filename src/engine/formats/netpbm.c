#include "engine/formats/netpbm.h"

#include <string.h>

enum { MAX_CHANNELS = 3, MAX_SIDE = 1 << 30, BLOCK_BYTES = 96 * 1024 };

/* The formats of a family: how a file begins, and what its columns are. */
struct image_kind {
    const char *ending;
    const char *binary, *plain;      /* the first two bytes */
    int channels;                    /* values a pixel */
    int64_t most;                    /* the greatest value that is written */
    const char *names[MAX_CHANNELS]; /* "": called after the file */
};

static const struct image_kind image_kinds[] = {
    {".pgm", "P5", "P2", 1, UINT16_MAX, {""}},
    {".ppm", "P6", "P3", 3, UINT8_MAX, {"red", "green", "blue"}},
};
enum { KIND_COUNT = sizeof image_kinds / sizeof image_kinds[0] };

static const struct image_kind *kind_of(const struct format *format)
{
    size_t i = 0;
    while (strcmp(image_kinds[i].ending, format->ending) != 0)
        i++;
    return &image_kinds[i];
}

/* A file while it is read. */
struct image_reader {
    const struct image_kind *kind;
    const char *path;
    const unsigned char *at, *end;
    bool plain; /* numbers as text */
    struct shape extents;
    int64_t most; /* the greatest value, as the header says */
    struct span span;
    struct diags *diags;
};

static enum type type_for(int64_t most)
{
    return most > UINT8_MAX ? TYPE_U16 : TYPE_U8;
}

static bool begins_with(const struct image_reader *reader, const char *magic)
{
    size_t length = strlen(magic);
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
    diag_error(reader->diags, reader->span, "`%s` is no %s picture: it does not begin with %s or %s", reader->path,
               kind->ending, kind->binary, kind->plain);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (begins_with(reader, image_kinds[i].binary) || begins_with(reader, image_kinds[i].plain))
            diag_hint(reader->diags, "by its first bytes its ending should be %s", image_kinds[i].ending);
    }
    return STATUS_FAILED;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Past a comment, with its newline, if there is one here. */
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

/* The next number of the header or a plain picture; one that is too large for any use may come out as another such. */
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

static enum status read_field(struct image_reader *reader, const char *what, int64_t most, int64_t *number)
{
    if (read_number(reader, number) && *number >= 1 && *number <= most)
        return STATUS_OK;
    return diag_error(reader->diags, reader->span, "the header of `%s` gives no %s from 1 to %lld", reader->path, what,
                      (long long)most);
}

static enum status read_header(struct image_reader *reader)
{
    if (read_magic(reader) != STATUS_OK || read_field(reader, "width", MAX_SIDE, &reader->extents.cols) != STATUS_OK ||
        read_field(reader, "height", MAX_SIDE, &reader->extents.rows) != STATUS_OK ||
        read_field(reader, "greatest value", UINT16_MAX, &reader->most) != STATUS_OK)
        return STATUS_FAILED;
    /* One white space parts the header from the pixels, which may look like more of it. */
    if (skip_comment(reader))
        return STATUS_OK;
    if (reader->at < reader->end && !is_space(*reader->at))
        return diag_error(reader->diags, reader->span, "the header of `%s` does not end after its greatest value",
                          reader->path);
    reader->at += reader->at < reader->end;
    return STATUS_OK;
}

static enum status too_long(const struct image_reader *reader)
{
    diag_error(reader->diags, reader->span, "`%s` goes on after its %lld x %lld pixels", reader->path,
               (long long)reader->extents.cols, (long long)reader->extents.rows);
    diag_hint(reader->diags, "only one picture a file can be loaded, with nothing behind it");
    return STATUS_FAILED;
}

/* Whether the file has the bytes for its pixels, before memory is asked for: a header may say anything. */
static enum status check_length(const struct image_reader *reader)
{
    const struct shape *extents = &reader->extents;
    int64_t values = extents->rows * extents->cols * reader->kind->channels;
    int64_t bytes = (int64_t)type_table[type_for(reader->most)].size;
    /* In plain files a value has a digit at least, and something between it and the next. */
    int64_t least = reader->plain ? 2 * values - 1 : bytes * values;
    int64_t length = reader->end - reader->at;
    if (length < least)
        return diag_error(reader->diags, reader->span,
                          "`%s` is cut short: %lld x %lld pixels take %s%lld bytes, of which it has %lld", reader->path,
                          (long long)extents->cols, (long long)extents->rows, reader->plain ? "at least " : "",
                          (long long)least, (long long)length);
    return length > least && !reader->plain ? too_long(reader) : STATUS_OK;
}

static enum status pixel_error(const struct image_reader *reader, int64_t row, int64_t sample)
{
    if (sample >= 0)
        return diag_error(reader->diags, reader->span,
                          "`%s`, row %lld: the pixel is above %lld, the greatest value by the header", reader->path,
                          (long long)row, (long long)reader->most);
    if (reader->at == reader->end)
        return diag_error(reader->diags, reader->span, "`%s` is cut short: it ends at row %lld", reader->path,
                          (long long)row);
    return diag_error(reader->diags, reader->span, "`%s`, row %lld: the pixel is not a number", reader->path,
                      (long long)row);
}

/* The next value of a pixel; -1: there is none. check_length has found those of binary files. */
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
    const int64_t rows = reader->extents.rows * reader->extents.cols;
    void *data[MAX_CHANNELS];
    for (int c = 0; c < reader->kind->channels; c++)
        data[c] = column_at(columns[c], 0);
    for (int64_t row = 0; row < rows; row++) {
        for (int c = 0; c < reader->kind->channels; c++) {
            int64_t sample = next_sample(reader, type);
            if (sample < 0 || sample > reader->most)
                return pixel_error(reader, row, sample);
            if (type == TYPE_U8)
                ((uint8_t *)data[c])[row] = (uint8_t)sample;
            else
                ((uint16_t *)data[c])[row] = (uint16_t)sample;
        }
    }
    if (reader->plain)
        skip_blank(reader);
    return reader->at < reader->end ? too_long(reader) : STATUS_OK;
}

static enum status read_columns(struct image_reader *reader, struct column **columns)
{
    const int64_t rows = reader->extents.rows * reader->extents.cols;
    const enum type type = type_for(reader->most);
    for (int c = 0; c < reader->kind->channels; c++) {
        columns[c] = column_reserve(type, type, rows);
        if (!columns[c])
            return diag_error(reader->diags, reader->span, "there is no memory for `%s`", reader->path);
    }
    enum status status = read_pixels(reader, columns);
    for (int c = 0; c < reader->kind->channels; c++) {
        column_finish(columns[c], rows);
        columns[c]->range_known = true;
        columns[c]->lo = 0;
        columns[c]->hi = reader->most;
    }
    return status;
}

enum status read_image(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    struct diags *diags = job->diags;
    const unsigned char *data = mapping_data(mapping);
    struct image_reader reader = {.kind = kind_of(job->format),
                                  .path = mapping_path(mapping),
                                  .at = data,
                                  .end = data ? data + mapping_length(mapping) : NULL,
                                  .span = job->span,
                                  .diags = diags};
    struct column *columns[MAX_CHANNELS] = {NULL};
    size_t diags_before = diags->count;
    enum status status = read_header(&reader);
    if (status == STATUS_OK)
        status = check_length(&reader);
    if (status == STATUS_OK)
        status = read_columns(&reader, columns);
    if (mapping_changed(mapping)) { /* what is wrong with it then means nothing */
        diags->count = diags_before;
        status = diag_error(diags, job->span, "`%s` changed while it was read", reader.path);
    }
    if (status == STATUS_OK) {
        *relation = relation_new(columns[0]->rows, (size_t)reader.kind->channels, columns, reader.kind->names);
        (*relation)->shape = reader.extents;
    }
    for (int c = 0; c < reader.kind->channels; c++)
        column_unref(columns[c]);
    return status;
}

static enum status value_error(const char *ending, int64_t row, int64_t integer, int64_t most, struct span span,
                               struct diags *diags)
{
    diag_error(diags, span, "row %lld: %lld does not fit a %s picture", (long long)row, (long long)integer, ending);
    diag_hint(diags, "it holds 0 to %lld; nothing was written", (long long)most);
    return STATUS_FAILED;
}

static enum status float_error(const char *name, const char *ending, struct span span, struct diags *diags)
{
    diag_error(diags, span, "`%s` is a column of floats, but %s pictures hold integers", name, ending);
    diag_hint(diags, "`map int(...)` before, or save as .f64");
    return STATUS_FAILED;
}

/* Checks what is to be written; `greatest` is what the header will say. */
static enum status check_values(const struct image_kind *kind, const struct relation *relation, int64_t *greatest,
                                struct span span, struct diags *diags)
{
    *greatest = UINT8_MAX;
    for (size_t c = 0; c < relation->count; c++) {
        if (type_table[relation->columns[c]->type].kind == KIND_FLOAT)
            return float_error(relation->names[c], kind->ending, span, diags);
    }
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t c = 0; c < relation->count; c++) {
            int64_t integer = column_get_int(relation->columns[c], row);
            if (integer < 0 || integer > kind->most)
                return value_error(kind->ending, row, integer, kind->most, span, diags);
            if (integer > *greatest)
                *greatest = kind->most;
        }
    }
    for (size_t c = 0; c < relation->count; c++) {
        if (relation->columns[c]->type == TYPE_U16)
            *greatest = kind->most;
    }
    return STATUS_OK;
}

enum status write_image(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const struct image_kind *kind = kind_of(job->format);
    int64_t greatest;
    enum status status = check_values(kind, relation, &greatest, job->span, job->diags);
    if (status != STATUS_OK)
        return status;
    struct strbuf header = {0};
    strbuf_printf(&header, "%s\n%lld %lld\n%lld\n", kind->binary, (long long)relation->shape.cols,
                  (long long)relation->shape.rows, (long long)greatest);
    writer_add(writer, header.text, header.length);
    strbuf_free(&header);

    unsigned char block[BLOCK_BYTES];
    size_t used = 0;
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t c = 0; c < relation->count; c++) {
            int64_t integer = column_get_int(relation->columns[c], row);
            if (greatest > UINT8_MAX)
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
