/* The summaries of columns as a relation: a row for each. */
#include "engine/operators/describe.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum description_column {
#define DESCRIPTION_COLUMN(what, title, store, meaning) DESCRIBED_##what,
#include "engine/plan/description.def"
    DESCRIBED_COLUMNS
};

static struct text text_of(struct arena *arena, const char *text)
{
    const size_t length = strlen(text);
    return (struct text){arena_text(arena, text, length), length};
}

static struct text printed(struct arena *arena, const struct scalar *scalar)
{
    struct strbuf out = {0};
    scalar_print(&out, scalar);
    const struct text text = {arena_text(arena, out.text, out.length), out.length};
    strbuf_free(&out);
    return text;
}

static struct text text_cell(const struct column_summary *summary, enum description_column what, struct arena *arena)
{
    const bool extremes = !summary->empty && summary->top_count == 0;
    if (what == DESCRIBED_NAME)
        return text_of(arena, summary->name);
    if (what == DESCRIBED_TYPE)
        return text_of(arena, summary->type_name);
    if (what == DESCRIBED_TOP && summary->top_count > 0)
        return summary->top[0];
    if (extremes && what == DESCRIBED_LOW)
        return printed(arena, &summary->least);
    if (extremes && what == DESCRIBED_HIGH)
        return printed(arena, &summary->greatest);
    return (struct text){0};
}

/* False: the column has no such number. */
static bool int_cell(const struct description *description, size_t k, enum description_column what, int64_t *number)
{
    const struct column_summary *summary = &description->columns[k];
    *number = what == DESCRIBED_ROWS      ? summary->rows
              : what == DESCRIBED_MISSING ? summary->missing
              : what == DESCRIBED_NANS    ? summary->nans
                                          : summary->distinct;
    return what == DESCRIBED_NANS ? summary->floats : what != DESCRIBED_DISTINCT || !summary->empty;
}

static bool float_cell(const struct column_summary *summary, enum description_column what, double *number)
{
    const struct scalar *scalar = what == DESCRIBED_MIN   ? &summary->least
                                  : what == DESCRIBED_MAX ? &summary->greatest
                                                          : &summary->mean;
    if (summary->empty || summary->top_count > 0 || !logical_is_number(scalar->logical))
        return false;
    *number = scalar->kind == KIND_FLOAT ? scalar->number : (double)scalar->integer;
    for (int i = 0; i < scalar->logical.scale; i++)
        *number /= 10;
    return true;
}

struct column *column_of_texts(const struct text *texts, size_t count)
{
    struct interner *interner = interner_new();
    struct logical_type logical = {.kind = LOGICAL_TEXT};
    uint32_t *map, *numbers = heap_resize(NULL, count + 1, sizeof *numbers);
    for (size_t k = 0; k < count; k++)
        numbers[k] = interner_add(interner, texts[k].at ? texts[k] : (struct text){"", 0});
    logical.dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    const enum type type = dictionary_code_type(logical.dictionary->count);
    struct column *column = column_reserve(type, type, (int64_t)count);
    for (size_t k = 0; k < count; k++)
        column_set_int(column, (int64_t)k, map[numbers[k]]);
    column_finish(column, (int64_t)count);
    column_set_logical(column, logical);
    dictionary_unref(logical.dictionary);
    interner_free(interner);
    free(map);
    free(numbers);
    return column;
}

static struct column *column_of_what(const struct description *description, enum description_column what, bool *valid,
                                     struct arena *arena)
{
    static const struct {
        enum type type;
        enum logical logical;
    } columns[DESCRIBED_COLUMNS] = {
#define DESCRIPTION_COLUMN(what, title, store, meaning) [DESCRIBED_##what] = {store, meaning},
#include "engine/plan/description.def"
    };
    const size_t count = description->count;
    struct text *texts = arena_array(arena, count + 1, sizeof *texts);
    int64_t *ints = arena_array(arena, count + 1, sizeof *ints);
    double *floats = arena_array(arena, count + 1, sizeof *floats);
    for (size_t k = 0; k < count; k++) {
        if (columns[what].logical == LOGICAL_TEXT) {
            texts[k] = text_cell(&description->columns[k], what, arena);
            valid[k] = texts[k].at;
        } else if (columns[what].type == TYPE_F64) {
            valid[k] = float_cell(&description->columns[k], what, &floats[k]);
        } else {
            valid[k] = int_cell(description, k, what, &ints[k]);
        }
    }
    if (columns[what].logical == LOGICAL_TEXT)
        return column_of_texts(texts, count);
    return columns[what].type == TYPE_F64 ? column_of_floats(floats, (int64_t)count)
                                          : column_of_ints(ints, (int64_t)count);
}

struct relation *description_relation(const struct description *description, struct arena *arena)
{
    static const char *const names[DESCRIBED_COLUMNS] = {
#define DESCRIPTION_COLUMN(what, title, store, meaning) [DESCRIBED_##what] = (title),
#include "engine/plan/description.def"
    };
    struct column *columns[DESCRIBED_COLUMNS];
    bool *valid = arena_array(arena, description->count + 1, sizeof *valid);
    for (size_t i = 0; i < DESCRIBED_COLUMNS; i++) {
        bool lacks = false;
        columns[i] = column_of_what(description, (enum description_column)i, valid, arena);
        for (size_t k = 0; k < description->count; k++)
            lacks = lacks || !valid[k];
        if (!lacks)
            continue;
        struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, (int64_t)description->count);
        for (size_t k = 0; k < description->count; k++)
            column_set_int(validity, (int64_t)k, valid[k]);
        column_finish(validity, (int64_t)description->count);
        column_set_validity(columns[i], validity);
    }
    struct relation *relation = relation_new((int64_t)description->count, DESCRIBED_COLUMNS, columns, names);
    for (size_t i = 0; i < DESCRIBED_COLUMNS; i++)
        column_unref(columns[i]);
    return relation;
}
