#include "engine/formats/npy.h"

#include "engine/formats/npy_header.h"
#include "engine/formats/row_formats.h"

#include <string.h>

/* Appends a Python string literal in single quotes. */
static void add_quoted(struct strbuf *out, const char *name)
{
    struct strbuf clean = {0};
    add_clean_name(&clean, name);
    strbuf_putc(out, '\'');
    for (size_t i = 0; i < clean.length; i++) {
        unsigned char c = (unsigned char)clean.text[i];
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

static void add_dictionary(struct strbuf *out, const struct relation *relation)
{
    strbuf_puts(out, "{'descr': ");
    if (relation->count == 1) {
        strbuf_printf(out, "'%s'", npy_names[relation->columns[0]->type]);
    } else {
        for (size_t k = 0; k < relation->count; k++) {
            strbuf_puts(out, k > 0 ? ", (" : "[(");
            add_quoted(out, relation->names[k]);
            strbuf_printf(out, ", '%s')", npy_names[relation->columns[k]->type]);
        }
        strbuf_putc(out, ']');
    }
    const struct shape *shape = &relation->shape;
    if (shape->rows > 0)
        strbuf_printf(out, ", 'fortran_order': False, 'shape': (%lld, %lld), }", (long long)shape->rows,
                      (long long)shape->cols);
    else
        strbuf_printf(out, ", 'fortran_order': False, 'shape': (%lld,), }", (long long)relation->rows);
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
    unsigned char version = version_of(dictionary);
    size_t length_bytes = version == 1 ? 2 : 4;
    size_t prefix = NPY_MAGIC_BYTES + 2 + length_bytes;
    size_t total = (prefix + dictionary->length + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    size_t spaces = total - prefix - dictionary->length - 1;

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
    add_dictionary(&dictionary, relation);
    add_header(&frame->head, &dictionary);
}

void npy_add_scalar_header(struct strbuf *out, enum type type)
{
    struct strbuf dictionary = {0};
    strbuf_printf(&dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (), }", npy_names[type]);
    add_header(out, &dictionary);
}

static enum status check_names(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(relation->names[i], relation->names[j]) == 0) {
                diag_error(diags, span, "two columns are named `%s`, but the fields of an array need distinct names",
                           relation->names[i]);
                diag_hint(diags, "rename one with `map ... as NAME`");
                return STATUS_FAILED;
            }
        }
    }
    return STATUS_OK;
}

const struct row_style style_npy = {
    .binary = true, .check = check_names, .fill_frame = fill_npy, .rows = encode_binary};
