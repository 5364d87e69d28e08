/* A filter by one column of text that a file stores string by string, where no statement follows, or the column would
 * take much of the memory there is. Batch by batch of rows the strings are decoded without an order and tested, and
 * only those that pass stay: the texts of all rows are never in memory, and a batch uses the memory of the one before,
 * which fresh pages of a virtual machine make worth half of the time. Else a column that fits is decoded as a whole,
 * and kept for the next statement. */
#include "engine/run/provide.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/expression/row_text.h"
#include "engine/formats/file_cache.h"
#include "engine/storage/file_reader.h"
#include "engine/storage/unsorted_column.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a batch, for each thread: some pages, or a row group that has MOST_BATCHES times as many. It has fewer if it
 * would take more of the memory than its part. */
enum { BATCH_ROWS = 1 << 17, LEAST_BATCH_ROWS = 1 << 15, MOST_BATCHES = 4, BATCH_PART = 8 };

/* A batch that more rows pass is no longer worth it: then the whole column is. */
static const double most_passing = 0.5;

struct text_test {
    const struct text_function *function;
    const struct text_argument *args;
    int count;
    bool negated; /* rows pass of which it is not true */
    struct span span;
    const struct column *column; /* not read yet; one of the file's: */
    size_t place;
};

/* The argument of the test is a column of the file as it is. */
static bool find_column(const struct file_need *need, const struct task *task, value argument, struct text_test *test)
{
    const struct instr *instr = &task->code.at[argument];
    if (instr->op != OP_INPUT || instr->offset != 0 || instr->integer >= (int64_t)task->input_count)
        return false;
    test->column = task->inputs[instr->integer].column;
    for (test->place = 0; test->place < need->count; test->place++) {
        if (need->columns[test->place] == test->column)
            return test->column->unread && test->column->logical.kind == LOGICAL_TEXT;
    }
    return false;
}

/* A comparison with a constant that has no code yet (plan/task.h, unknown_code). */
static bool find_comparison(const struct file_need *need, const struct task *task, const struct instr *instr,
                            struct text_test *test, struct arena *arena)
{
    const int64_t end = unknown_code + 2 * (int64_t)need->queue->text_count;
    for (int i = 0; i < 2; i++) {
        const struct instr *constant = &task->code.at[instr->args[i]];
        const int64_t code = constant->integer;
        if (constant->op != OP_CONST || code < unknown_code || code >= end || (code - unknown_code) % 2 != 0)
            continue;
        struct text_argument *equal = arena_array(arena, 1, sizeof *equal);
        equal->text = need->queue->texts[(code - unknown_code) / 2];
        test->function = &text_comparisons[TEXT_EQUAL];
        test->args = equal;
        test->count = 1;
        test->negated ^= instr->op == OP_NE;
        return find_column(need, task, instr->args[1 - i], test);
    }
    return false;
}

static bool find_test(const struct file_need *need, const struct task *task, value keep, struct text_test *test,
                      struct arena *arena)
{
    const struct instr *instr = &task->code.at[keep];
    *test = (struct text_test){.span = instr->span};
    for (; instr->op == OP_NOT; instr = &task->code.at[instr->args[0]])
        test->negated = !test->negated;
    if (instr->op == OP_EQ || instr->op == OP_NE)
        return find_comparison(need, task, instr, test, arena);
    if (instr->op != OP_TEXT || task->code.at[instr->args[1]].op != OP_CONST)
        return false;
    const struct text_application *application = &need->queue->text_applications[instr->integer];
    if (is_row_text(application) || !application->function || application->function->result != TEXT_TO_BOOL ||
        application->function->partial)
        return false;
    test->function = application->function;
    test->args = application->args;
    test->count = application->count;
    return find_column(need, task, instr->args[0], test);
}

struct batches {
    const struct text_test *test;
    struct workers workers;
    int64_t length, most; /* rows of each, and of one that is a row group */
    struct arena *arena;
    uint8_t *passes; /* of each row of a batch */
    /* Of the present one: */
    const struct column *column;
    const uint8_t *holds; /* of each string */
    /* The rows that pass, and their texts in pieces. */
    struct row_set *found;
    struct column **pieces;
    size_t count, capacity;
};

static void test_part(void *context, struct part part)
{
    const struct batches *batches = context;
    const struct column *column = batches->column;
    const size_t size = type_table[column->store].size;
    const uint8_t other = batches->test->negated;
    for (int64_t row = part.begin; row < part.end; row++) {
        uint32_t code = 0;
        memcpy(&code, (const char *)column->data + (size_t)row * size, size); /* little-endian */
        batches->passes[row] = batches->holds[code] ^ other;
    }
}

/* The rows that pass. Mostly few do: eight are looked at together. */
static void list_passing(const struct batches *batches, struct row_set *set)
{
    const int64_t rows = batches->column->rows;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t eight = 1;
        if (row % (int64_t)sizeof eight == 0 && row + (int64_t)sizeof eight <= rows)
            memcpy(&eight, batches->passes + row, sizeof eight);
        if (eight == 0)
            row += (int64_t)sizeof eight - 1;
        else if (batches->passes[row])
            row_set_add(set, row, row + 1);
    }
}

static bool keep_passing(struct batches *batches, const struct row_set *passing, int64_t first)
{
    if (passing->rows == 0)
        return true;
    struct column *piece = unsorted_take(passing, batches->column);
    if (!piece)
        return false;
    batches->pieces =
        heap_reserve((void *)batches->pieces, batches->count, &batches->capacity, sizeof(struct column *));
    batches->pieces[batches->count++] = piece;
    for (size_t i = 0; i < passing->count; i++)
        row_set_add(batches->found, first + passing->begins[i], first + passing->ends[i]);
    return true;
}

/* Tests the rows of a batch, of which `first` is the first one. *on: the batches go on. */
static enum status test_batch(struct batches *batches, const struct column *column, int64_t first, bool *on,
                              struct diags *diags)
{
    const struct text_test *test = batches->test;
    enum { LEAST_PART = 1 << 14 };
    struct text_lookup lookup = {0};
    struct row_set passing;
    *on = false;
    if (!column_is_unsorted(column))
        return STATUS_OK;
    enum status status = text_function_apply(test->function, column->logical.dictionary, test->args, test->count,
                                             &batches->workers, test->span, diags, &lookup);
    batches->column = column;
    batches->holds = lookup.values;
    row_set_init(&passing, batches->arena);
    if (status == STATUS_OK && !workers_run_rows(&batches->workers, column->rows, LEAST_PART, test_part, batches))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK) {
        list_passing(batches, &passing);
        *on = (double)passing.rows <= most_passing * (double)column->rows && keep_passing(batches, &passing, first);
    }
    text_lookup_free(&lookup);
    return status;
}

/* Pages at the border of two batches are unpacked for both: batches end with row groups, if these are not too long. */
static int64_t end_of_batch(const struct batches *batches, const struct file_reader *reader, size_t *group,
                            int64_t first, int64_t rows)
{
    int64_t end = 0;
    for (; *group < reader->group_count; ++*group) {
        const int64_t after = reader->group_begins[*group + 1];
        if (after > first + (end > 0 ? batches->length : batches->most))
            break;
        end = after;
    }
    return end > first ? end : min_int64(first + batches->length, rows);
}

static enum status run_batches(struct batches *batches, const struct runner *runner, const struct file_need *need,
                               const struct file_reader *reader, bool *done)
{
    enum status status = STATUS_OK;
    bool on = true;
    int64_t first = 0, end;
    size_t group = 0;
    for (; first < need->rows && on && status == STATUS_OK; first = end) {
        struct arena *arena = arena_new();
        struct column *column = NULL;
        struct row_set rows;
        struct diags dropped; /* what fails is found again when all is read */
        diags_init(&dropped, arena);
        row_set_init(&rows, arena);
        end = end_of_batch(batches, reader, &group, first, need->rows);
        row_set_add(&rows, first, end);
        batches->arena = arena;
        status = file_cache_read_batch(runner->env->file_cache, batches->test->column, &rows, batches->test->span,
                                       &dropped, &column);
        if (status == STATUS_OK)
            status = test_batch(batches, column, first, &on, &dropped);
        column_unref(column);
        arena_free(arena);
        on = on && batches->found->rows <= need->most_rows;
    }
    *done = on && status == STATUS_OK;
    return status == STATUS_CANCELLED ? status : STATUS_OK;
}

/* Texts are mostly compressed to a fifth. */
static int64_t bytes_of_column(const struct column *column)
{
    enum { UNPACKED = 5 };
    return column->packed * UNPACKED;
}

static void set_lengths(struct batches *batches, int64_t room)
{
    const struct column *column = batches->test->column;
    const int64_t bytes = bytes_of_column(column) / column->rows + 1, most = room / BATCH_PART / bytes;
    const int64_t rows = (int64_t)BATCH_ROWS * batches->workers.threads;
    batches->length = max_int64(LEAST_BATCH_ROWS, min_int64(rows, most));
    batches->most = max_int64(LEAST_BATCH_ROWS, min_int64(MOST_BATCHES * rows, most));
}

enum status find_rows_in_batches(const struct runner *runner, struct file_need *need, const struct task *task,
                                 value keep, struct arena *arena)
{
    struct text_test test;
    size_t k;
    if (!find_test(need, task, keep, &test, arena))
        return STATUS_OK;
    const int64_t room = buffer_pool_room(runner->pool);
    const struct file_reader *reader = file_cache_reader(runner->env->file_cache, test.column, &k);
    /* Of most rows the order of the texts, should something need it, takes longer to make of those that passed. */
    const bool fits = bytes_of_column(test.column) <= room / 2, most_pass = test.negated;
    if (!reader || (fits && (!runner->env->ends || most_pass)))
        return STATUS_OK;
    struct batches batches = {
        .test = &test,
        .workers = {.threads = parallel_threads(), .cancel = runner->cancel, .pool = runner->pool},
        .found = &need->found_rows};
    set_lengths(&batches, room);
    batches.passes = heap_array((size_t)batches.most, 1);
    bool done;
    const enum status status = run_batches(&batches, runner, need, reader, &done);
    struct column *taken = done ? unsorted_concatenate(batches.pieces, batches.count) : NULL;
    need->found = taken;
    if (taken) {
        need->taken = arena_array(arena, need->count, sizeof(struct column *));
        need->taken[test.place] = taken;
    } else {
        row_set_init(&need->found_rows, arena);
    }
    for (size_t i = 0; i < batches.count; i++)
        column_unref(batches.pieces[i]);
    free((void *)batches.pieces);
    free(batches.passes);
    return status;
}
