/* From parsed values to columns. */
#include "engine/text/pass.h"

#include "base/heap.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>

/* Sets the range of the elements; missing values are 0. */
static void set_range(struct column *column, const struct seen *seen)
{
    const bool none = seen->values == 0;
    column_set_range(column, column->rows > 0, none || (seen->missing > 0 && seen->lo > 0) ? 0 : seen->lo,
                     none || (seen->missing > 0 && seen->hi < 0) ? 0 : seen->hi);
}

/* Replaces numbers of strings by codes. */
struct translation {
    const struct pass *pass;
    const struct step *step;
    const uint32_t *numbers;
    uint32_t *const *maps; /* by member */
    void *codes;
    enum type type;
};

static void translate_chunk(void *context, int member, int64_t part)
{
    (void)member;
    const struct translation *translation = context;
    const struct pass *pass = translation->pass;
    const uint32_t *map = translation->maps[pass->table->chunks[part].member];
    int64_t rows, row = chunk_first_row(pass, translation->step, part, &rows);
    const int64_t end = row + rows;
    const uint32_t *numbers = translation->numbers;
    switch (translation->type) {
    case TYPE_U8:
        for (uint8_t *codes = translation->codes; row < end; row++)
            codes[row] = (uint8_t)map[numbers[row]];
        break;
    case TYPE_U16:
        for (uint16_t *codes = translation->codes; row < end; row++)
            codes[row] = (uint16_t)map[numbers[row]];
        break;
    default:
        for (uint32_t *codes = translation->codes; row < end; row++)
            codes[row] = map[numbers[row]];
    }
}

/* Joins the threads' interners; maps[m][n] becomes the code of string n - 1 of member m, and of 0 for n = 0, which
 * stands for a missing value. NULL, and no maps, if no dictionary can hold the strings. */
static struct dictionary *join(const struct pass *pass, size_t step, uint32_t **maps, const struct workers *workers)
{
    const size_t count = (size_t)pass->member_count;
    struct interner **interners = heap_array(count, sizeof(struct interner *));
    uint32_t **found = heap_array(count, sizeof *found);
    for (size_t i = 0; i < count; i++)
        interners[i] = pass->members[i].seen[step].interner;
    struct dictionary *dictionary = dictionary_of_interners(interners, count, found, workers);
    for (size_t i = 0; dictionary && i < count; i++) {
        const size_t strings = interners[i] ? (size_t)interner_count(interners[i]) : 0;
        maps[i] = heap_array(strings + 1, sizeof *maps[i]);
        for (size_t n = 0; n < strings; n++)
            maps[i][n + 1] = found[i][n];
        free(found[i]);
    }
    free(found);
    free(interners);
    return dictionary;
}

/* The column of codes; NULL: no memory for it, or for its strings. */
static struct column *finish_text(struct pass *pass, struct step *step, const struct workers *workers)
{
    const struct table *table = pass->table;
    const int64_t rows = pass->space_rows[step->column->space];
    uint32_t **maps = heap_array((size_t)pass->member_count, sizeof *maps);
    /* Too short to be cancelled or to show progress. Small files may have many columns. */
    const struct workers silent = {.threads = table->chunk_count > 1 ? workers->threads : 1,
                                   .thread_pool = workers->thread_pool};
    struct dictionary *dictionary = join(pass, step->number, maps, &silent);
    struct column *column = NULL;
    const enum type type = dictionary_code_type(dictionary ? dictionary->count : 0);
    if (dictionary)
        column = type == TYPE_U32 ? column_ref(step->values) : column_reserve_from(workers->pool, type, type, rows);
    if (column) {
        struct translation translation = {pass, step, step->data, maps, column_at(column, 0), type};
        (void)workers_run(&silent, table->chunk_count, translate_chunk, &translation);
        column_set_logical(column, (struct logical_type){
                                       .kind = LOGICAL_TEXT, .dictionary = dictionary, .member = step->column->member});
        column_finish(column, rows);
        column->range_known = rows > 0;
        column->hi = dictionary->count > 0 ? dictionary->count - 1 : 0;
    }
    dictionary_unref(dictionary);
    for (int i = 0; i < pass->member_count; i++)
        free(maps[i]);
    free(maps);
    return column;
}

/* The validity that is the opposite of `absent`. NULL: no memory. */
static struct column *validity_of(const struct step *step, int64_t rows, struct buffer_pool *pool)
{
    struct column *validity = column_reserve_from(pool, TYPE_BOOL, TYPE_BOOL, rows);
    if (!validity)
        return NULL;
    uint8_t *present = column_at(validity, 0);
    for (int64_t row = 0; row < rows; row++)
        present[row] = step->absent[row] ^ 1;
    column_finish(validity, rows);
    return validity;
}

struct column *pass_finish(struct pass *pass, size_t number, const struct seen *seen, const struct workers *workers)
{
    struct step *step = &pass->steps[number];
    const struct table_column *as = step->column;
    const int64_t rows = pass->space_rows[as->space];
    struct column *column;
    if (as->kind == VALUE_LIST) {
        column = column_ref(step->values);
        ((int64_t *)step->data)[rows] = pass->space_rows[as->elements];
        column_finish(column, rows + 1);
    } else if (as->kind == VALUE_TEXT) {
        column = finish_text(pass, step, workers);
    } else {
        column = column_ref(step->values);
        column_finish(column, rows);
        column_set_logical(column, table_column_logical(as));
        if (type_table[as->type].kind != KIND_FLOAT)
            set_range(column, seen);
    }
    if (column && seen->missing > 0) {
        struct column *validity = validity_of(step, rows, workers->pool);
        if (!validity) {
            column_unref(column);
            return NULL;
        }
        column_set_validity(column, validity);
    }
    return column;
}
