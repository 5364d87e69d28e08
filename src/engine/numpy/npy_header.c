#include "engine/numpy/npy_header.h"

#include "base/number_text.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/time/calendar.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

const char npy_magic[NPY_MAGIC_BYTES + 1] = "\x93NUMPY";

enum { MAX_FIELDS = 1 << 16, MAX_ITEM = 1 << 28 };

/* The state of reading the dictionary: a Python literal of strings, integers, booleans, tuples and lists. */
struct literal {
    const struct format_job *job;
    const char *path;
    const char *at, *end;
    bool latin1; /* text encoding before version 3 */
    bool failed; /* the syntax is wrong; reported at the end */
};

static void skip_blank(struct literal *literal)
{
    while (literal->at < literal->end && (*literal->at == ' ' || *literal->at == '\n' || *literal->at == '\t'))
        literal->at++;
}

/* Skips blanks and the character; false if it does not come next. */
static bool accept(struct literal *literal, char c)
{
    skip_blank(literal);
    if (literal->at == literal->end || *literal->at != c)
        return false;
    literal->at++;
    return true;
}

static void expect(struct literal *literal, char c)
{
    literal->failed = literal->failed || !accept(literal, c);
}

static bool accept_word(struct literal *literal, const char *word)
{
    skip_blank(literal);
    const size_t length = strlen(word);
    if ((size_t)(literal->end - literal->at) < length || memcmp(literal->at, word, length) != 0)
        return false;
    literal->at += length;
    return true;
}

static void add_utf8(struct strbuf *out, uint32_t code)
{
    char bytes[4];
    strbuf_add(out, bytes, utf8_encode(code, bytes));
}

/* Appends the character for an escape sequence, after its backslash. */
static void add_escaped(struct literal *literal, struct strbuf *out)
{
    const char letter = literal->at < literal->end ? *literal->at++ : '\0';
    const int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    uint32_t code = 0;
    const char *end = digits > 0 ? scan_hex(literal->at, literal->end, digits, &code) : literal->at;
    if (!end || (digits > 0 && (code == 0 || code > 0x10ffff))) {
        literal->failed = true;
        return;
    }
    literal->at = end;
    if (digits > 0)
        add_utf8(out, code);
    else if (letter == 't' || letter == 'n' || letter == 'r')
        strbuf_putc(out, letter == 't' ? '\t' : letter == 'n' ? '\n' : '\r');
    else if (letter)
        strbuf_putc(out, letter);
}

/* Reads a string into the arena; sets `failed` if none comes next. */
static const char *read_string(struct literal *literal)
{
    skip_blank(literal);
    if (literal->at + 1 < literal->end && (*literal->at == 'u' || *literal->at == 'b'))
        literal->at++;
    const char quote = literal->at < literal->end ? *literal->at : '\0';
    struct strbuf text = {0};
    bool closed = false;
    literal->at += quote == '\'' || quote == '"';
    while ((quote == '\'' || quote == '"') && !closed && literal->at < literal->end && !literal->failed) {
        const char c = *literal->at++;
        closed = c == quote;
        if (c == '\\')
            add_escaped(literal, &text);
        else if (literal->latin1 && (unsigned char)c >= 0x80)
            add_utf8(&text, (unsigned char)c);
        else if (!closed)
            strbuf_putc(&text, c);
    }
    literal->failed = literal->failed || !closed;
    return strbuf_take(&text, literal->job->diags->arena);
}

static int64_t read_integer(struct literal *literal)
{
    int64_t number = 0;
    skip_blank(literal);
    const char *begin = literal->at;
    for (; literal->at < literal->end && *literal->at >= '0' && *literal->at <= '9'; literal->at++) {
        if (number > (INT64_MAX - 9) / 10)
            literal->failed = true;
        else
            number = number * 10 + (*literal->at - '0');
    }
    literal->failed = literal->failed || literal->at == begin;
    (void)accept(literal, 'L'); /* Python 2's suffix of long integers */
    return number;
}

static enum status type_error(const struct literal *literal, const char *what, const char *hint)
{
    return diag_error_hint(literal->job->diags, literal->job->span, hint, "`%s` %s", literal->path, what);
}

/* NumPy's units of time, as days or microseconds. Months and years are not of one length. */
static void read_unit(struct npy_field *field, bool is_date)
{
    static const struct unit {
        const char *name;
        int64_t multiply, divide;
        bool days;
    } units[] = {
        {"[W]", 7, 1, true},         {"[D]", 1, 1, true},        {"[h]", 3600000000, 1, false},
        {"[m]", 60000000, 1, false}, {"[s]", 1000000, 1, false}, {"[ms]", 1000, 1, false},
        {"[us]", 1, 1, false},       {"[ns]", 1, 1000, false},
    };
    const struct unit *unit = field->size == 8 ? TABLE_ROW(units, field->type + 3) : NULL;
    if (!unit)
        return;
    field->reading = NPY_TIME;
    field->as = is_date && unit->days ? TYPE_I32 : TYPE_I64;
    field->multiply = unit->multiply * (!is_date && unit->days ? DAY_US : 1);
    field->divide = unit->divide;
    field->logical.kind = !is_date ? LOGICAL_DURATION : unit->days ? LOGICAL_DATE : LOGICAL_TIMESTAMP;
}

/* Nothing in a file attests the number of texts of no bytes. */
static void set_text(struct npy_field *field, enum npy_reading reading)
{
    field->reading = field->size > 0 ? reading : NPY_NOT_READ;
    field->as = TYPE_U32;
    field->logical.kind = LOGICAL_TEXT;
}

static void set_number(struct npy_field *field)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (strcmp(type_table[t].numpy + 1, field->type + 1) == 0) {
            field->reading = NPY_AS_IS;
            field->as = (enum type)t;
        }
    }
    if (strcmp(field->type + 1, "u8") == 0) {
        field->reading = NPY_U64;
        field->as = TYPE_I64;
    }
}

/* Sets the field's type and size from its NumPy name. */
static enum status read_type(struct literal *literal, struct npy_field *field)
{
    const char *type = field->type;
    const char kind = *type ? type[1] : '\0';
    if (kind == 'O')
        return type_error(literal, "holds Python objects, not numbers", "convert it in NumPy with `a.astype(...)`");
    if (*type == '>')
        return type_error(literal, "is big-endian", "convert it in NumPy with `a.astype(a.dtype.newbyteorder('<'))`");
    long size = 0;
    if (kind == '\0' || sscanf(type + 2, "%9ld", &size) != 1 || size < 0 || size > MAX_ITEM / 4) {
        literal->failed = true;
        return STATUS_OK;
    }
    field->size = (size_t)(kind == 'U' ? 4 * size : size);
    field->multiply = field->divide = 1;
    if (kind == 'M' || kind == 'm')
        read_unit(field, kind == 'M');
    else if (kind == 'S' || kind == 'a' || kind == 'U')
        set_text(field, kind == 'U' ? NPY_UNICODE : NPY_BYTES);
    else
        set_number(field);
    return STATUS_OK;
}

/* ('name', '<i4'), after the opening parenthesis. */
static enum status read_field(struct literal *literal, struct npy_field *field)
{
    if (accept(literal, '(')) { /* a title and a name */
        (void)read_string(literal);
        expect(literal, ',');
        field->name = read_string(literal);
        expect(literal, ')');
    } else {
        field->name = read_string(literal);
    }
    expect(literal, ',');
    skip_blank(literal);
    if (literal->at < literal->end && *literal->at == '[')
        return type_error(literal, "has nested fields", "select one in NumPy with `a['FIELD']`");
    field->type = read_string(literal);
    const enum status status = literal->failed ? STATUS_OK : read_type(literal, field);
    if (status != STATUS_OK)
        return status;
    if (accept(literal, ',') && !accept(literal, ')'))
        return type_error(literal, "has fields that are arrays", "select one in NumPy with `a['FIELD']`");
    if (literal->at > literal->end - 1 || literal->at[-1] != ')')
        expect(literal, ')');
    return status;
}

static enum status read_fields(struct literal *literal, struct npy_header *header)
{
    size_t capacity = 0;
    struct arena *arena = literal->job->diags->arena;
    enum status status = STATUS_OK;
    header->structured = true;
    while (status == STATUS_OK && !literal->failed && accept(literal, '(')) {
        header->fields = arena_reserve(arena, header->fields, header->count, &capacity, sizeof *header->fields);
        struct npy_field *field = &header->fields[header->count++];
        status = read_field(literal, field);
        field->offset = header->size;
        header->size += field->size;
        literal->failed = literal->failed || header->count > MAX_FIELDS || header->size > MAX_ITEM;
        (void)accept(literal, ',');
    }
    if (status == STATUS_OK)
        expect(literal, ']');
    return status;
}

static enum status read_description(struct literal *literal, struct npy_header *header)
{
    if (accept(literal, '['))
        return read_fields(literal, header);
    header->fields = arena_alloc(literal->job->diags->arena, sizeof *header->fields);
    header->count = 1;
    header->fields->name = "";
    header->fields->type = read_string(literal);
    const enum status status = literal->failed ? STATUS_OK : read_type(literal, header->fields);
    header->size = header->fields->size;
    return status;
}

static void read_shape(struct literal *literal, struct npy_header *header)
{
    expect(literal, '(');
    while (!literal->failed && !accept(literal, ')')) {
        if (header->dimension_count == NPY_MAX_DIMENSIONS) {
            literal->failed = true;
            return;
        }
        header->dimensions[header->dimension_count++] = read_integer(literal);
        if (!accept(literal, ',') && !literal->failed) {
            expect(literal, ')');
            return;
        }
    }
}

static enum status read_dictionary(struct literal *literal, struct npy_header *header)
{
    enum status status = STATUS_OK;
    unsigned seen = 0;
    expect(literal, '{');
    while (status == STATUS_OK && !literal->failed && !accept(literal, '}')) {
        const char *key = read_string(literal);
        expect(literal, ':');
        if (literal->failed)
            break;
        if (strcmp(key, "descr") == 0 && !(seen & 1)) {
            seen |= 1;
            status = read_description(literal, header);
        } else if (strcmp(key, "shape") == 0 && !(seen & 2)) {
            seen |= 2;
            read_shape(literal, header);
        } else if (strcmp(key, "fortran_order") == 0 && !(seen & 4)) {
            seen |= 4;
            header->fortran = accept_word(literal, "True");
            literal->failed = literal->failed || (!header->fortran && !accept_word(literal, "False"));
        } else {
            literal->failed = true;
        }
        (void)accept(literal, ',');
    }
    literal->failed = literal->failed || (status == STATUS_OK && seen != 7);
    return status;
}

/* Finds the dictionary by the magic, version and length before it; false if they are invalid. */
static bool find_dictionary(const unsigned char *data, size_t length, struct npy_header *header, size_t *begin)
{
    if (length < NPY_MAGIC_BYTES + 4 || memcmp(data, npy_magic, NPY_MAGIC_BYTES) != 0)
        return false;
    const unsigned version = data[NPY_MAGIC_BYTES];
    const size_t bytes = version == 1 ? 2 : 4;
    *begin = NPY_MAGIC_BYTES + 2 + bytes;
    if (version < 1 || version > 3 || length < *begin)
        return false;
    size_t dictionary = 0;
    for (size_t i = 0; i < bytes; i++)
        dictionary |= (size_t)data[NPY_MAGIC_BYTES + 2 + i] << (8 * i);
    header->data = *begin + dictionary;
    return header->data <= length;
}

enum status npy_read_header(const struct format_job *job, const char *path, const void *data, size_t length,
                            struct npy_header *header)
{
    *header = (struct npy_header){0};
    const unsigned char *bytes = data;
    size_t begin = 0;
    if (!bytes || !find_dictionary(bytes, length, header, &begin))
        return diag_error(job->diags, job->span,
                          "`%s` is not a NumPy array or is truncated: it does not begin with a header", path);
    struct literal literal = {.job = job,
                              .path = path,
                              .at = (const char *)bytes + begin,
                              .end = (const char *)bytes + header->data,
                              .latin1 = bytes[NPY_MAGIC_BYTES] < 3};
    const enum status status = read_dictionary(&literal, header);
    if (status == STATUS_OK && literal.failed)
        return diag_error(job->diags, job->span, "the header of `%s` is not a valid NumPy header", path);
    return status;
}
