/* Lists from levels. The leaves of a column of lists are read as any column, with a value for each level, and then lose
 * the values that are no elements, which stand for empty and missing lists. A list of depth d begins at each value
 * whose repetition level is below d and which is within an element of depth d - 1. */
#include "base/heap.h"
#include "engine/parquet/read.h"
#include "engine/storage/list_store.h"
#include "engine/storage/mapped_file.h"

#include <stdlib.h>
#include <string.h>

/* The greatest depth at which a value with this definition level is within an element. */
static unsigned depth_of(const struct leaf *leaf, uint8_t definition)
{
    unsigned depth = leaf->repetition;
    while (depth > 0 && definition < leaf->element_levels[depth])
        depth--;
    return depth;
}

/* Counts the elements of each depth, of which those of depth 0 are rows. Levels fit each other if a list that goes on
 * has an element here and before. */
static bool count_elements(const struct chunk_read *chunk)
{
    const struct column_read *column = chunk->column;
    const struct leaf *leaf = column->leaf;
    const uint8_t *definitions = (const uint8_t *)column->definitions->data + chunk->row;
    const uint8_t *repetitions = (const uint8_t *)column->repetitions->data + chunk->row;
    uint8_t depths[UINT8_MAX + 1];
    for (unsigned level = 0; level <= leaf->definition; level++)
        depths[level] = (uint8_t)depth_of(leaf, (uint8_t)level);
    /* How many values have these two, from which the elements of all depths follow. */
    const size_t width = (size_t)leaf->repetition + 1;
    int64_t *found = heap_array(width * width, sizeof *found);
    unsigned before = 0;
    bool fits = true;
    for (int64_t i = 0; i < chunk->rows; i++) {
        const unsigned depth = depths[definitions[i]], repetition = repetitions[i];
        fits = fits && repetition <= before && repetition <= depth;
        found[repetition * width + depth]++;
        before = depth;
    }
    for (size_t depth = 0; depth < width; depth++) {
        for (size_t r = 0; r <= depth; r++) {
            for (size_t d = depth; d < width; d++)
                chunk->elements[depth] += found[r * width + d];
        }
    }
    free(found);
    return fits && chunk->elements[0] == chunk->row_count;
}

/* Inlined for each size, so that it is a constant. */
static inline __attribute__((always_inline)) void move(char *elements, uint8_t *validity, const uint8_t *definitions,
                                                       uint8_t least, int64_t count, size_t size)
{
    size_t to = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        memmove(elements + to * size, elements + i * size, size);
        validity[to] = validity[i];
        to += definitions[i] >= least;
    }
}

/* Moves the elements of a chunk, and their validity, to its begin. */
static void keep_elements(const struct chunk_read *chunk)
{
    struct column_read *column = chunk->column;
    const size_t size = type_table[column->column->store].size;
    const uint8_t *definitions = (const uint8_t *)column->definitions->data + chunk->row;
    const uint8_t least = column->leaf->element_levels[column->leaf->repetition];
    char *elements = column_at(column->column, chunk->row);
    uint8_t *validity = column_at(column->validity, chunk->row);
    for (size_t k = 0; k < chunk->count; k++) {
        const struct page_read *page = &chunk->pages[k];
        if (page->present == (size_t)page->header.values)
            memset(column_at(column->validity, page->row), 1, page->present);
    }
    if (chunk->elements[column->leaf->repetition] == chunk->rows)
        return;
    if (size == 1)
        move(elements, validity, definitions, least, chunk->rows, 1);
    else if (size == 2)
        move(elements, validity, definitions, least, chunk->rows, 2);
    else if (size == 4)
        move(elements, validity, definitions, least, chunk->rows, 4);
    else
        move(elements, validity, definitions, least, chunk->rows, 8);
}

static void count_part(void *context, int member, int64_t part)
{
    (void)member;
    struct read *read = context;
    struct chunk_read *chunk = &read->chunks[part];
    if (chunk->count == 0 || !chunk->elements)
        return;
    if (count_elements(chunk))
        keep_elements(chunk);
    else
        chunk->error = READ_BAD_LISTS;
}

/* Joins the elements of all chunks. */
static void join_chunks(struct column_read *column)
{
    const size_t size = type_table[column->column->store].size;
    int64_t rows = 0;
    for (size_t i = 0; i < column->chunk_count; i++) {
        const struct chunk_read *chunk = &column->chunks[i];
        const int64_t elements = chunk->elements[column->leaf->repetition];
        if (elements > 0 && rows < chunk->row) {
            memmove(column_at(column->column, rows), column_at(column->column, chunk->row), (size_t)elements * size);
            memmove(column_at(column->validity, rows), column_at(column->validity, chunk->row), (size_t)elements);
        }
        rows += elements;
    }
    column->rows = rows;
}

enum status lists_keep_elements(struct read *read)
{
    bool any = false;
    for (size_t i = 0; i < read->chunk_count; i++) {
        const struct leaf *leaf = read->chunks[i].column->leaf;
        if (leaf->repetition > 0)
            read->chunks[i].elements = heap_array((size_t)leaf->repetition + 1, sizeof(int64_t));
        any = any || leaf->repetition > 0;
    }
    if (!any)
        return STATUS_OK;
    const enum status status = read_step(read, read->chunk_count, count_part);
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        if (read->columns[k].leaf->repetition > 0)
            join_chunks(&read->columns[k]);
    }
    return status;
}

/* Lists of one depth being made, from the levels of the first leaf in them. */
struct making {
    const struct column_read *column;
    unsigned depth;
    uint8_t definition; /* of their elements */
    int64_t *offsets;   /* of each list, its first element */
    uint8_t *validity;
    int64_t *lists, *elements; /* of each chunk, how many are before it */
};

static void make_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct making *making = context;
    const struct column_read *column = making->column;
    const struct chunk_read *chunk = &column->chunks[part];
    int64_t list = making->lists[part], element = making->elements[part];
    if (chunk->count == 0) { /* rows that are not read have empty lists */
        for (int64_t i = 0; i < chunk->row_count && making->depth == 1; i++, list++) {
            making->offsets[list] = element;
            making->validity[list] = 1;
        }
        return;
    }
    const uint8_t *definitions = (const uint8_t *)column->definitions->data + chunk->row;
    const uint8_t *repetitions = (const uint8_t *)column->repetitions->data + chunk->row;
    const uint8_t within = column->leaf->element_levels[making->depth - 1];
    for (int64_t i = 0; i < chunk->rows; i++) {
        const uint8_t definition = definitions[i];
        if (repetitions[i] < making->depth && definition >= within) {
            making->offsets[list] = element;
            making->validity[list++] = definition + 1 >= making->definition;
        }
        element += repetitions[i] <= making->depth && definition >= making->definition;
    }
}

static enum status no_memory(const struct read *read)
{
    return file_memory_error(mapping_path(read->reader->mapping), read->job->span, read->job->diags);
}

static enum status make_lists(struct read *read, struct making *making, int64_t count, struct relation *elements,
                              bool is_map, struct column **made)
{
    struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, count);
    struct list_store *store = NULL;
    const size_t chunks = making->column->chunk_count;
    making->offsets = malloc(((size_t)count + 1) * sizeof *making->offsets);
    if (!validity || !making->offsets) {
        relation_unref(elements);
    } else {
        making->validity = column_at(validity, 0);
        making->offsets[count] = elements->rows;
        if (workers_run(read->job->workers, (int64_t)chunks, make_part, making))
            store = list_store_of_offsets(making->offsets, count, elements, is_map);
        else
            relation_unref(elements);
        column_finish(validity, count);
        if (!memchr(validity->data ? validity->data : "", 0, (size_t)count)) {
            column_unref(validity);
            validity = NULL;
        }
        *made = column_of_lists(store, count, validity);
        validity = NULL;
    }
    column_unref(validity);
    free(making->offsets);
    return *made ? STATUS_OK : workers_cancelled(read->job->workers) ? STATUS_CANCELLED : no_memory(read);
}

/* How many elements of a depth precede each chunk, and the last one's end. Rows that are not read count. */
static void sum_chunks(const struct column_read *column, unsigned depth, int64_t *before)
{
    for (size_t i = 0; i < column->chunk_count; i++) {
        const struct chunk_read *chunk = &column->chunks[i];
        before[i + 1] = before[i] + (depth == 0 ? chunk->row_count : chunk->elements[depth]);
    }
}

/* Of columns beside each other, which are in the same lists. */
static bool have_same_lists(const struct column_read *a, const struct column_read *b, unsigned depth)
{
    for (size_t i = 0; i < a->chunk_count; i++) {
        for (unsigned d = 0; d <= depth; d++) {
            if (a->chunks[i].elements[d] != b->chunks[i].elements[d])
                return false;
        }
    }
    return true;
}

static enum status make_column(struct read *read, const struct field *field, struct column_read **next,
                               struct column **made);

static enum status make_elements(struct read *read, const struct field *field, struct column_read **next,
                                 struct relation **elements)
{
    const size_t count = field->elements.count;
    const struct column_read *first = *next;
    struct column **columns = heap_array(count, sizeof *columns);
    const char **names = heap_array(count, sizeof *names);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && status == STATUS_OK; k++) {
        const struct column_read *leaf = *next;
        names[k] = field->elements.at[k].name;
        if (have_same_lists(first, leaf, field->depth))
            status = make_column(read, &field->elements.at[k], next, &columns[k]);
        else
            status = diag_error(read->job->diags, read->job->span,
                                "`%s` is damaged: the columns `%s` and `%s` do not have the same lists",
                                mapping_path(read->reader->mapping), first->leaf->path, leaf->leaf->path);
    }
    if (status == STATUS_OK)
        *elements = relation_new(columns[0]->rows, count, columns, names);
    columns_unref(columns, count);
    free((void *)columns);
    free((void *)names);
    return status;
}

static enum status make_column(struct read *read, const struct field *field, struct column_read **next,
                               struct column **made)
{
    if (field->leaf) {
        *made = (*next)->column;
        (*next)++->column = NULL;
        return STATUS_OK;
    }
    struct making making = {.column = *next, .depth = field->depth, .definition = field->definition};
    struct relation *elements = NULL;
    const size_t chunks = making.column->chunk_count;
    enum status status = make_elements(read, field, next, &elements);
    if (status != STATUS_OK)
        return status;
    making.lists = heap_array(chunks + 1, sizeof *making.lists);
    making.elements = heap_array(chunks + 1, sizeof *making.elements);
    sum_chunks(making.column, field->depth - 1, making.lists);
    sum_chunks(making.column, field->depth, making.elements);
    status = make_lists(read, &making, making.lists[chunks], elements, field->is_map, made);
    free(making.lists);
    free(making.elements);
    return status;
}

/* The lists of the rows of the set, which have the numbers of these rows. */
static enum status keep_rows(struct read *read, struct column **column)
{
    struct column *all = *column;
    *column = row_set_take(read->rows, all, read->job->workers->pool);
    column_unref(all);
    return *column ? STATUS_OK : no_memory(read);
}

enum status lists_make_column(struct read *read, const struct field *field, struct column_read **next,
                              struct column **made)
{
    enum status status = make_column(read, field, next, made);
    if (status == STATUS_OK && !field->leaf && read->rows)
        status = keep_rows(read, made);
    if (status == STATUS_OK && !field->leaf) {
        (*made)->logical.member = field->is_member;
    }
    return status;
}
