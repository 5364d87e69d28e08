/* split(s, separator): the parts of a text as a list. Each string of the dictionary has one list, whose number is the
 * string's code: rows are not touched. */
#include "engine/expression/texts.h"
#include "engine/lists/lists.h"

#include "base/heap.h"
#include "engine/storage/list_store.h"

#include <stdlib.h>
#include <string.h>

struct text_parts {
    struct interner *interner;
    uint32_t *numbers; /* of all parts */
    size_t count, capacity;
};

static void add_part(struct text_parts *parts, const char *at, size_t length)
{
    *HEAP_PUSH(parts->numbers, parts->count, parts->capacity) =
        interner_add(parts->interner, (struct text){at, length});
}

static void split(struct text_parts *parts, struct text text, struct text separator)
{
    const char *end = text.at + text.length, *found;
    while ((found = memmem(text.at, (size_t)(end - text.at), separator.at, separator.length))) {
        add_part(parts, text.at, (size_t)(found - text.at));
        text.at = found + separator.length;
    }
    add_part(parts, text.at, (size_t)(end - text.at));
}

static struct relation *elements_of(struct column *parts)
{
    const char *name = "";
    struct relation *elements = relation_new(parts->rows, 1, &parts, &name);
    column_unref(parts);
    return elements;
}

/* NULL: there are too many strings, or no memory. */
static struct list_store *split_all(const struct dictionary *dictionary, struct text separator)
{
    struct text_parts parts = {.interner = interner_new()};
    int64_t *offsets = heap_array((size_t)dictionary->count + 1, sizeof *offsets);
    for (int64_t code = 0; code < dictionary->count; code++) {
        split(&parts, dictionary_text(dictionary, code), separator);
        offsets[code + 1] = (int64_t)parts.count;
    }
    uint32_t *map;
    struct dictionary *of_parts = dictionary_of_interners(&parts.interner, 1, &map, NULL);
    struct column *column = of_parts ? column_of_codes(of_parts, map, parts.numbers, (int64_t)parts.count) : NULL;
    struct list_store *store =
        column ? list_store_of_offsets(offsets, dictionary->count, elements_of(column), false) : NULL;
    dictionary_unref(of_parts);
    interner_free(parts.interner);
    free(map);
    free(parts.numbers);
    free(offsets);
    return store;
}

/* Lists of texts that are not known yet. */
static struct list_store *unknown_lists(void)
{
    struct column *texts = column_without_rows(logical_table[LOGICAL_TEXT].stored, logical_table[LOGICAL_TEXT].stored);
    column_set_logical(texts, (struct logical_type){.kind = LOGICAL_TEXT});
    return list_store_unread(elements_of(texts), false);
}

struct term list_of_parts(struct scope *scope, const struct expr *call, struct term text, struct term separator)
{
    struct binder *binder = scope->binder;
    if (!separator.text || separator.present != NO_VALUE)
        return term_error(binder, call->args[1]->span, "usage: split(s, sep) or split(s, sep, k)",
                          "the separator of `split` is a constant text");
    if (separator.text->length == 0)
        return term_error(binder, call->args[1]->span, NULL, "the separator is empty");
    if (!binder->defining && !scope->task)
        return term_error(binder, call->span, "split(s, sep, k) is a text",
                          "a list of parts needs rows, and there are none here");
    text = term_as_column(binder, text);
    const bool known = text.logical.dictionary && !binder->checking && binder->queue;
    struct list_store *store = known ? split_all(text.logical.dictionary, *separator.text) : unknown_lists();
    if (!store)
        return term_error(binder, call->span, NULL, "there are too many parts");
    if (!known && binder->queue)
        binder->queue->unknown_values = true;
    struct term list = text;
    list.logical = (struct logical_type){.kind = LOGICAL_LIST, .lists = store};
    if (binder->queue)
        list_hold(binder, store);
    return list;
}
