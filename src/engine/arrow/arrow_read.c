/* Arrow files as readers of columns. */
#include "engine/arrow/arrow.h"

#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/arrow/arrow_file.h"
#include "engine/arrow/columns.h"
#include "engine/storage/list_store.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_ROWS = 1 << 16, MAX_LISTED = 8 };

struct arrow_reader {
    struct file_reader base;
    struct arena *arena;
    struct mapping *mapping; /* one reference */
    struct arrow_file file;
    struct arrow_columns columns;
};

/* One call of `read`. */
struct table_reading {
    const struct format_job *job;
    const struct arrow_file *file;
    struct column_reading *readings; /* of wanted columns */
    size_t count;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    void (*work)(struct table_reading *table, struct piece *piece, int member);
    struct reading_failure failure;
};

static void add_pieces(struct table_reading *table, struct column_reading *reading, const struct arrow_batch *batch,
                       int64_t first, int64_t rows, bool values)
{
    /* A packed buffer is unpacked whole. */
    const int64_t size = batch->codec == BLOCK_NONE ? PIECE_ROWS : rows;
    for (int64_t begin = 0; begin < rows; begin += size) {
        const int64_t end = rows - begin < size ? rows : begin + size;
        *HEAP_PUSH(table->pieces, table->piece_count, table->piece_capacity) = (struct piece){
            .reading = reading, .batch = batch, .first = first, .begin = begin, .end = end, .values = values};
    }
}

static void add_rows(struct table_reading *table, struct column_reading *reading)
{
    int64_t first = 0;
    for (size_t b = 0; b < table->file->batch_count; b++) {
        const struct arrow_batch *batch = &table->file->batches[b];
        const int64_t rows = arrow_rows_of(batch, reading->field);
        add_pieces(table, reading, batch, first, rows, false);
        first += rows;
    }
}

static void add_values(struct table_reading *table, struct column_reading *reading)
{
    for (size_t d = 0; d < table->file->dictionary_count; d++) {
        const struct arrow_batch *batch = &table->file->dictionaries[d].batch;
        if (table->file->dictionaries[d].id == reading->field->dictionary)
            add_pieces(table, reading, batch, batch->first, batch->rows, true);
    }
}

static void run_piece(void *context, int member, int64_t part)
{
    struct table_reading *table = context;
    if (!table->failure.failed)
        table->work(table, &table->pieces[part], member);
}

static enum status tell_failure(const struct table_reading *table)
{
    const struct piece *piece = table->failure.piece;
    const struct format_job *job = table->job;
    const char *path = mapping_path(table->file->mapping);
    const struct arrow_field *field = piece->reading->field;
    if (table->failure.row >= 0)
        diag_error(job->diags, job->span, "`%s`, column `%s`, row %lld: %s", path, field->path,
                   (long long)table->failure.row, table->failure.what);
    else
        diag_error(job->diags, job->span, "`%s`, column `%s`: %s", path, field->path, table->failure.what);
    if (field->binary)
        diag_hint(job->diags, "the column is binary, not text: `pick` others");
    else if (field->reading == READING_U64 || field->reading == READING_DECIMAL)
        diag_hint(job->diags,
                  "the other columns can be read; in the program that wrote the file, make `%s` text or floats",
                  field->path);
    return STATUS_FAILED;
}

/* Does the work of all pieces. */
static enum status run_pieces(struct table_reading *table,
                              void (*work)(struct table_reading *table, struct piece *piece, int member))
{
    table->work = work;
    if (!workers_run(table->job->workers, (int64_t)table->piece_count, run_piece, table))
        return STATUS_CANCELLED;
    return table->failure.failed ? tell_failure(table) : STATUS_OK;
}

static bool is_text(const struct arrow_field *field)
{
    return field->reading == READING_TEXT || field->reading == READING_VIEW;
}

static void first_work(struct table_reading *table, struct piece *piece, int member)
{
    if (is_text(piece->reading->field))
        piece_intern(piece, member, &table->failure);
    else
        piece_decode(piece, &table->failure);
}

static void translate_work(struct table_reading *table, struct piece *piece, int member)
{
    (void)table, (void)member;
    if (is_text(piece->reading->field))
        piece_translate(piece);
}

static void look_up_work(struct table_reading *table, struct piece *piece, int member)
{
    (void)member;
    struct arrow_window window = arrow_dictionary_window(table->file, piece->reading->field->dictionary, piece->batch);
    piece_look_up(piece, &window, &table->failure);
}

static enum status no_memory(const struct table_reading *table)
{
    return file_memory_error(mapping_path(table->file->mapping), table->job->span, table->job->diags);
}

/* The elements where they are in the mapped file, or NULL if they cannot stay there. */
static struct column *map_column(const struct table_reading *table, const struct arrow_field *field)
{
    const struct arrow_file *file = table->file;
    struct arrow_array array;
    struct arrow_bytes bytes;
    if (file->batch_count != 1 || file->batches[0].codec != BLOCK_NONE ||
        (field->reading != READING_COPY && field->reading != READING_U64) ||
        !arrow_array_of(&file->batches[0], field, false, &array) || !arrow_bytes_load(&array, 1, &bytes) || !bytes.data)
        return NULL;
    const size_t offset = (size_t)(bytes.data - (const unsigned char *)mapping_data(file->mapping));
    if (offset % field->width != 0 || bytes.size < (size_t)array.rows * field->width)
        return NULL;
    return column_of_part(field->as, file->mapping, offset, array.rows);
}

/* The most bytes of strings that views of these batches may have without overlapping, times some for each thread. */
static size_t most_view_bytes(const struct table_reading *table)
{
    size_t most = 0;
    for (size_t b = 0; b < table->file->batch_count; b++)
        most += table->file->batches[b].length;
    for (size_t d = 0; d < table->file->dictionary_count; d++)
        most += table->file->dictionaries[d].batch.length;
    if (__builtin_mul_overflow(most, 255 * (size_t)(table->job->workers->threads + 16), &most))
        return SIZE_MAX;
    return most;
}

static enum status begin_text(struct table_reading *table, struct column_reading *reading)
{
    const struct arrow_field *field = reading->field;
    reading->interners = heap_array((size_t)table->job->workers->threads, sizeof *reading->interners);
    reading->maps = heap_array((size_t)table->job->workers->threads, sizeof *reading->maps);
    reading->most_view_bytes = most_view_bytes(table);
    reading->count = reading->rows;
    for (size_t d = 0; field->in_dictionary && d < table->file->dictionary_count; d++) {
        const struct arrow_dictionary *dictionary = &table->file->dictionaries[d];
        if (dictionary->id == field->dictionary)
            reading->count = dictionary->batch.first + dictionary->batch.rows;
    }
    reading->numbers = zeroed_alloc((size_t)(reading->count + 1) * sizeof *reading->numbers);
    if (!reading->numbers)
        return no_memory(table);
    if (field->in_dictionary)
        add_values(table, reading);
    else
        add_rows(table, reading);
    return STATUS_OK;
}

static enum status begin_reading(struct table_reading *table, struct column_reading *reading)
{
    const struct arrow_field *field = reading->field;
    const int64_t rows = arrow_column_rows(table->file, field);
    reading->rows = rows;
    if (arrow_is_nullable(table->file, field)) {
        reading->validity = column_reserve(TYPE_BOOL, TYPE_BOOL, rows);
        if (!reading->validity)
            return no_memory(table);
    }
    if (is_text(field))
        return begin_text(table, reading);
    if (field->reading == READING_NULL) { /* all zeroes */
        reading->column = column_reserve(TYPE_U8, TYPE_U8, rows);
        reading->dictionary = dictionary_of_interners(NULL, 0, NULL, table->job->workers);
        reading->missing = rows;
        return reading->column ? STATUS_OK : no_memory(table);
    }
    reading->column = map_column(table, field);
    reading->in_place = reading->column;
    if (!reading->column)
        reading->column = column_reserve(field->as, field->as, rows);
    if (!reading->column)
        return no_memory(table);
    if (!reading->in_place || reading->validity || field->reading == READING_U64)
        add_rows(table, reading);
    return STATUS_OK;
}

/* Copies columns whose mapped elements are not 0 where values are missing. */
static enum status copy_unclean(struct table_reading *table)
{
    table->piece_count = 0;
    for (size_t k = 0; k < table->count; k++) {
        struct column_reading *reading = &table->readings[k];
        if (!reading->unclean)
            continue;
        column_unref(reading->column);
        reading->column = column_reserve(reading->field->as, reading->field->as, reading->rows);
        if (!reading->column)
            return no_memory(table);
        reading->in_place = false;
        reading->missing = 0;
        add_rows(table, reading);
    }
    return table->piece_count > 0 ? run_pieces(table, first_work) : STATUS_OK;
}

/* Joins the strings of all threads to the column's dictionary. */
static enum status join_strings(const struct table_reading *table, struct column_reading *reading)
{
    const size_t threads = (size_t)table->job->workers->threads;
    reading->dictionary = dictionary_of_interners(reading->interners, threads, reading->maps, table->job->workers);
    for (size_t t = 0; t < threads; t++) {
        interner_free(reading->interners[t]);
        reading->interners[t] = NULL;
    }
    if (!reading->dictionary && workers_cancelled(table->job->workers))
        return STATUS_CANCELLED;
    if (!reading->dictionary)
        return diag_error(table->job->diags, table->job->span,
                          "`%s`: column `%s` has too many distinct texts, or too long ones",
                          mapping_path(table->file->mapping), reading->field->path);
    reading->column = column_reserve_codes(NULL, reading->dictionary, reading->rows);
    return reading->column ? STATUS_OK : no_memory(table);
}

/* From numbers of strings to codes: in rows, or in values of dictionaries and then in rows. */
static enum status finish_texts(struct table_reading *table)
{
    for (size_t k = 0; k < table->count; k++) {
        const enum status status =
            is_text(table->readings[k].field) ? join_strings(table, &table->readings[k]) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
    }
    const enum status status = run_pieces(table, translate_work);
    if (status != STATUS_OK)
        return status;
    table->piece_count = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (table->readings[k].field->in_dictionary)
            add_rows(table, &table->readings[k]);
    }
    return run_pieces(table, look_up_work);
}

static void note_cut(const struct table_reading *table)
{
    const struct format_job *job = table->job;
    const char *list = "";
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        const struct column_reading *reading = &table->readings[k];
        if (reading->cut > 0 && count++ < MAX_LISTED)
            list = arena_printf(job->diags->arena, "%s%s%lld in `%s`", list, *list ? ", " : "", (long long)reading->cut,
                                reading->field->path);
    }
    if (count > 0)
        diag_note(job->diags, (struct span){0},
                  "`%s`: times that are no whole microseconds, or days, are rounded down: %s%s",
                  mapping_path(table->file->mapping), list, count > MAX_LISTED ? ", ..." : "");
}

/* Sets what is known of a column when it is read. */
static void finish_column(struct column_reading *reading)
{
    struct column *column = reading->column, *validity = reading->validity;
    if (!reading->in_place)
        column_finish(column, reading->rows);
    if (validity)
        column_finish(validity, reading->rows);
    if (reading->missing == 0) {
        column_unref(validity);
        validity = NULL;
    }
    column_set_validity(column, validity);
    struct logical_type logical = reading->field->logical;
    logical.dictionary = reading->dictionary;
    if (!is_text(reading->field)) /* that has it */
        column_set_logical(column, logical);
    column->logical.member = reading->field->logical.member;
    reading->validity = NULL;
}

static void reading_free(const struct table_reading *table, struct column_reading *reading)
{
    for (int t = 0; reading->interners && t < table->job->workers->threads; t++) {
        interner_free(reading->interners[t]);
        free(reading->maps[t]);
    }
    free(reading->interners);
    free(reading->maps);
    zeroed_free(reading->numbers, (size_t)(reading->count + 1) * sizeof *reading->numbers);
    dictionary_unref(reading->dictionary);
    column_unref(reading->column);
    column_unref(reading->validity);
}

static enum status read_all(struct table_reading *table)
{
    struct arrow_need need = {0};
    for (size_t k = 0; k < table->count; k++)
        arrow_need_column(&need, table->file, table->readings[k].field);
    enum status status = arrow_need_run(&need, table->file, table->job);
    for (size_t k = 0; k < table->count && status == STATUS_OK; k++)
        status = begin_reading(table, &table->readings[k]);
    if (status == STATUS_OK)
        status = run_pieces(table, first_work);
    if (status == STATUS_OK)
        status = finish_texts(table);
    return status == STATUS_OK ? copy_unclean(table) : status;
}

/* Lists what is read of a column: of lists, that of their elements. */
static void add_readings(struct table_reading *table, const struct arrow_column *column)
{
    if (column->elements.count == 0)
        table->readings[table->count++].field = column->field;
    for (size_t k = 0; k < column->elements.count; k++)
        add_readings(table, &column->elements.at[k]);
}

static enum status make_columns(struct table_reading *table, const struct arrow_columns *all, const bool *wanted,
                                struct column **columns)
{
    const struct arrow_lists lists = {table->job, table->file};
    struct column_reading *next = table->readings;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < all->count && status == STATUS_OK; k++) {
        if (wanted[k])
            status = arrow_column_make(&lists, &all->at[k], &next, &columns[k]);
    }
    for (size_t k = 0; k < all->count && status != STATUS_OK; k++) {
        if (wanted[k]) {
            column_unref(columns[k]);
            columns[k] = NULL;
        }
    }
    return status;
}

static enum status read_columns(struct file_reader *base, const struct format_job *job, const bool *wanted,
                                struct column **columns)
{
    struct arrow_reader *reader = (struct arrow_reader *)base;
    struct table_reading table = {.job = job, .file = &reader->file};
    table.readings = heap_array(reader->file.schema.all_count, sizeof *table.readings);
    mtx_init(&table.failure.mutex, mtx_plain);
    for (size_t k = 0; k < base->count; k++) {
        if (wanted[k])
            add_readings(&table, &reader->columns.at[k]);
    }
    enum status status = read_all(&table);
    if (status == STATUS_OK) {
        note_cut(&table);
        for (size_t k = 0; k < table.count; k++)
            finish_column(&table.readings[k]);
        status = make_columns(&table, &reader->columns, wanted, columns);
    }
    for (size_t k = 0; k < table.count; k++)
        reading_free(&table, &table.readings[k]);
    mtx_destroy(&table.failure.mutex);
    free(table.pieces);
    free(table.readings);
    return status;
}

static void close_reader(struct file_reader *base)
{
    struct arrow_reader *reader = (struct arrow_reader *)base;
    for (size_t k = 0; k < base->count; k++)
        list_store_unref(base->columns[k].logical.lists);
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
}

static const struct file_reader_ops reader_ops = {.read = read_columns, .close = close_reader};

static void list_unreadable(struct arrow_reader *reader)
{
    const struct arrow_schema *schema = &reader->file.schema;
    struct file_reader *base = &reader->base;
    for (size_t k = 0; k < schema->all_count; k++) {
        const struct arrow_field *field = schema->all[k];
        if (field->reading == READING_NONE && (!field->parent || arrow_is_wanted(field->parent)))
            unreadable_add(&base->unreadable, reader->arena, field->path, field->type);
    }
}

static void list_columns(struct arrow_reader *reader)
{
    struct file_reader *base = &reader->base;
    arrow_columns_find(&reader->file.schema, reader->arena, &reader->columns);
    base->rows = reader->file.rows;
    base->columns = arena_array(reader->arena, reader->columns.count, sizeof *base->columns);
    for (; base->count < reader->columns.count; base->count++)
        base->columns[base->count] = arrow_column_describe(&reader->file, &reader->columns.at[base->count]);
}

enum status open_arrow(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    struct arena *arena = arena_new();
    struct arrow_reader *arrow = ARENA_NEW(arena, struct arrow_reader, .base = {.ops = &reader_ops}, .arena = arena,
                                           .mapping = mapping_ref(mapping));
    arrow->file.arena = arena;
    arrow->file.mapping = mapping;
    enum status status = arrow_file_open(job, &arrow->file);
    if (status == STATUS_OK)
        status = arrow_check_binary(&arrow->file, job);
    if (status == STATUS_OK) {
        list_columns(arrow);
        if (arrow->base.count == 0)
            status = diag_error(job->diags, job->span, "`%s` has no column that can be read", mapping_path(mapping));
    }
    if (status != STATUS_OK) {
        close_reader(&arrow->base);
        return status;
    }
    list_unreadable(arrow);
    *reader = &arrow->base;
    return STATUS_OK;
}
