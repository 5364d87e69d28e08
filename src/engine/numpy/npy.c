#include "engine/numpy/npy.h"

#include "base/heap.h"
#include "engine/formats/row_formats.h"
#include "engine/numpy/npy_header.h"

#include <string.h>

/* Appends a Python string literal in single quotes. */
static void add_quoted(struct strbuf *out, const char *name)
{
    struct strbuf clean = {0};
    add_clean_name(&clean, name);
    strbuf_putc(out, '\'');
    for (size_t i = 0; i < clean.length; i++) {
        const unsigned char c = (unsigned char)clean.text[i];
        if (c == '\'' || c == '\\')
            strbuf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            strbuf_printf(out, "\\x%02x", c);
        else
            strbuf_putc(out, (char)c);
    }
    strbuf_putc(out, '\'');
    strbuf_free(&clean);
}

static void add_type(struct strbuf *out, const struct column *column, size_t width)
{
    strbuf_putc(out, '\'');
    npy_add_type(out, column, width);
    strbuf_putc(out, '\'');
}

static void add_dictionary(struct strbuf *out, const struct relation *relation, const size_t *widths)
{
    strbuf_puts(out, "{'descr': ");
    if (relation->count == 1) {
        add_type(out, relation->columns[0], widths[0]);
    } else {
        for (size_t k = 0; k < relation->count; k++) {
            strbuf_puts(out, k > 0 ? ", (" : "[(");
            add_quoted(out, relation->names[k]);
            strbuf_puts(out, ", ");
            add_type(out, relation->columns[k], widths[k]);
            strbuf_putc(out, ')');
        }
        strbuf_putc(out, ']');
    }
    strbuf_puts(out, ", 'fortran_order': False, 'shape': (");
    const struct shape *shape = &relation->shape;
    for (int i = 0; i < shape->axes; i++)
        strbuf_printf(out, i > 0 ? ", %lld" : "%lld", (long long)shape->extents[i]);
    if (!shape_is_set(shape))
        strbuf_printf(out, "%lld,", (long long)relation->rows);
    strbuf_puts(out, "), }");
}

/* The oldest version that can express it: 2.0 for long headers, 3.0 for UTF-8 names. */
static unsigned char version_of(const struct strbuf *dictionary)
{
    for (size_t i = 0; i < dictionary->length; i++) {
        if ((unsigned char)dictionary->text[i] >= 0x80)
            return 3;
    }
    return dictionary->length + 2 * NPY_ALIGNMENT > UINT16_MAX ? 2 : 1;
}

/* Appends the header with the dictionary, which is freed. */
static void add_header(struct strbuf *out, struct strbuf *dictionary)
{
    const unsigned char version = version_of(dictionary);
    const size_t length_bytes = version == 1 ? 2 : 4;
    const size_t prefix = NPY_MAGIC_BYTES + 2 + length_bytes;
    const size_t total = (prefix + dictionary->length + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    const size_t spaces = total - prefix - dictionary->length - 1;
    strbuf_add(out, npy_magic, NPY_MAGIC_BYTES);
    strbuf_putc(out, (char)version);
    strbuf_putc(out, '\0');
    for (size_t i = 0; i < length_bytes; i++)
        strbuf_putc(out, (char)((total - prefix) >> (8 * i) & 0xff));
    strbuf_add(out, dictionary->text, dictionary->length);
    for (size_t i = 0; i < spaces; i++)
        strbuf_putc(out, ' ');
    strbuf_putc(out, '\n');
    strbuf_free(dictionary);
}

static void fill_npy(struct frame *frame, const struct relation *relation)
{
    struct strbuf dictionary = {0};
    frame->widths = heap_array(relation->count, sizeof *frame->widths);
    for (size_t k = 0; k < relation->count; k++)
        frame->widths[k] = npy_width(relation->columns[k]);
    add_dictionary(&dictionary, relation, frame->widths);
    add_header(&frame->head, &dictionary);
}

static void encode_npy(struct strbuf *out, const struct frame *frame, const struct relation *relation, int64_t begin,
                       int64_t end)
{
    size_t size = 0;
    for (size_t k = 0; k < relation->count; k++)
        size += frame->widths[k];
    const struct column *first = relation->columns[0];
    if (relation->count == 1 && npy_is_as_stored(first)) {
        strbuf_add(out, (const char *)first->data + (size_t)begin * size, (size_t)(end - begin) * size);
        return;
    }
    for (int64_t row = begin; row < end; row++) {
        char *to = strbuf_reserve(out, size);
        for (size_t k = 0; k < relation->count; k++) {
            npy_encode(relation->columns[k], frame->widths[k], row, to);
            to += frame->widths[k];
        }
        strbuf_commit(out, size);
    }
}

void npy_add_scalar_header(struct strbuf *out, enum type type)
{
    struct strbuf dictionary = {0};
    strbuf_printf(&dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (), }", type_table[type].numpy);
    add_header(out, &dictionary);
}

void npy_add_column_header(struct strbuf *out, const struct column *column, size_t width)
{
    struct strbuf dictionary = {0};
    strbuf_puts(&dictionary, "{'descr': ");
    add_type(&dictionary, column, width);
    strbuf_printf(&dictionary, ", 'fortran_order': False, 'shape': (%lld,), }", (long long)column->rows);
    add_header(out, &dictionary);
}

enum status npy_check(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        if (ROW_NAMED(relation->names, i, relation->names[i]))
            return diag_error_hint(diags, span, "rename one with `map ... as NAME`",
                                   "two columns are named `%s`, but the fields of an array need distinct names",
                                   relation->names[i]);
    }
    for (size_t k = 0; k < relation->count; k++) {
        if (npy_check_column(relation->columns[k], relation->rows, relation->names[k], span, diags) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

const struct row_style style_npy = {.binary = true, .check = npy_check, .fill_frame = fill_npy, .rows = encode_npy};
