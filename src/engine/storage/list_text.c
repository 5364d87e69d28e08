/* Lists as JSON text. */
#include "engine/storage/list_store.h"

#include "base/heap.h"
#include "engine/storage/unsorted_column.h"
#include "engine/values/text_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_value(struct strbuf *out, const struct column *column, int64_t row)
{
    if (column->logical.kind == LOGICAL_LIST) {
        list_add_json(out, column, row);
        return;
    }
    const struct scalar element = column_get(column, row);
    const bool number = logical_is_number(element.logical);
    if (element.missing || (element.kind == KIND_FLOAT && !isfinite(element.number))) {
        strbuf_puts(out, "null");
    } else if (element.logical.kind == LOGICAL_TEXT) {
        strbuf_putc(out, '"');
        strbuf_add_json(out, element.text.at, element.text.length);
        strbuf_putc(out, '"');
    } else {
        strbuf_puts(out, number ? "" : "\"");
        scalar_print(out, &element);
        strbuf_puts(out, number ? "" : "\"");
    }
}

/* Columns `from` to `to` - 1 are the fields of a struct, the parts of their names from `at` on. */
struct fields {
    const struct relation *elements;
    size_t from, to, at;
};

static bool all_are_missing(const struct fields *fields, int64_t row)
{
    size_t k = fields->from;
    while (k < fields->to && column_is_missing(fields->elements->columns[k], row))
        k++;
    return k == fields->to;
}

/* The columns from `from` on whose names begin with this one's up to its point. */
static struct fields fields_within(const struct fields *fields, size_t from, size_t length)
{
    const struct relation *elements = fields->elements;
    struct fields within = {elements, from, from + 1, fields->at + length + 1};
    while (within.to < fields->to &&
           strncmp(elements->names[within.to] + fields->at, elements->names[from] + fields->at, length + 1) == 0)
        within.to++;
    return within;
}

/* The field that begins at `from`: one column, or those of a struct within. */
static struct fields field_at(const struct fields *fields, size_t from, size_t *length)
{
    const char *name = fields->elements->names[from] + fields->at;
    *length = strcspn(name, ".");
    return name[*length] == '.' ? fields_within(fields, from, *length)
                                : (struct fields){fields->elements, from, from + 1, 0};
}

/* A struct of which all fields are missing is missing. Those of one within it follow each other. A field that is a
 * value in some rows and a struct in others is both, one behind the other, and is written once, unless a row has both.
 */
static void add_struct(struct strbuf *out, const struct fields *fields, int64_t row)
{
    if (all_are_missing(fields, row)) {
        strbuf_puts(out, "null");
        return;
    }
    strbuf_putc(out, '{');
    for (size_t k = fields->from; k < fields->to;) {
        const char *name = fields->elements->names[k] + fields->at;
        size_t length, length_of_other = 0;
        struct fields field = field_at(fields, k, &length);
        strbuf_puts(out, k > fields->from ? ",\"" : "\"");
        strbuf_add_json(out, name, length);
        strbuf_puts(out, "\":");
        k = field.to;
        if (k < fields->to && strncmp(fields->elements->names[k] + fields->at, name, length) == 0) {
            const struct fields other = field_at(fields, k, &length_of_other);
            const bool none = all_are_missing(&field, row);
            if (length_of_other == length && (none || all_are_missing(&other, row))) {
                field = none ? other : field;
                k = other.to;
            }
        }
        if (field.at > 0)
            add_struct(out, &field, row);
        else
            add_value(out, fields->elements->columns[field.from], row);
    }
    strbuf_putc(out, '}');
}

/* A key of JSON is text. */
static void add_entry(struct strbuf *out, const struct relation *elements, int64_t row)
{
    struct strbuf key = {0};
    add_value(&key, elements->columns[0], row);
    if (key.text[0] == '"') {
        strbuf_add(out, key.text, key.length);
    } else {
        strbuf_putc(out, '"');
        strbuf_add_json(out, key.text, key.length);
        strbuf_putc(out, '"');
    }
    strbuf_free(&key);
    strbuf_putc(out, ':');
    add_value(out, elements->columns[1], row);
}

void list_add_json(struct strbuf *out, const struct column *column, int64_t row)
{
    if (column_is_missing(column, row)) {
        strbuf_puts(out, "null");
        return;
    }
    const struct list_store *store = column->logical.lists;
    const int64_t list = column_get_int(column, row), start = column_get_int(store->starts, list);
    const int64_t length = column_get_int(store->lengths, list);
    /* Values that are structs have a column for each field. */
    const bool plain = list_store_is_plain(store), entries = store->is_map && store->elements->count == 2 &&
                                                             strcmp(store->elements->names[1], "value") == 0;
    strbuf_putc(out, entries ? '{' : '[');
    for (int64_t k = start; k < start + length; k++) {
        strbuf_puts(out, k > start ? "," : "");
        if (plain)
            add_value(out, store->elements->columns[0], k);
        else if (entries)
            add_entry(out, store->elements, k);
        else
            add_struct(out, &(struct fields){store->elements, 0, store->elements->count, 0}, k);
    }
    strbuf_putc(out, entries ? '}' : ']');
}

struct column *column_of_list_texts(const struct column *lists)
{
    struct strbuf text = {0};
    struct text_writer writer = {0};
    const char **places;
    char *bytes;
    bool written = true;
    struct dictionary *dictionary = dictionary_unsorted(NULL, (size_t)lists->rows, 0, &places, &bytes);
    for (int64_t k = 0; k < lists->rows && dictionary && written; k++) {
        strbuf_clear(&text);
        list_add_json(&text, lists, k);
        places[k] = text_writer_add(&writer, (struct text){text.text, text.length});
        written = places[k];
    }
    text_writer_finish(&writer, dictionary);
    struct column *column = dictionary && written ? column_of_places(NULL, dictionary, NULL) : NULL;
    if (column)
        column_set_validity(column, lists->validity ? column_ref(lists->validity) : NULL);
    dictionary_unref(dictionary);
    strbuf_free(&text);
    return column;
}
