#include "engine/text/table.h"

#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/storage/list_store.h"
#include "engine/text/classify.h"
#include "engine/text/pass.h"
#include "engine/text/ways.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

/* An integer column with floats, or a column with text, is parsed twice; one that is read in ways, once in each of some
 * and once as text. */
enum { MAX_PASSES = 8 };

static void free_pass(struct pass *pass)
{
    for (int i = 0; i < pass->member_count; i++) {
        struct member *member = &pass->members[i];
        for (size_t s = 0; s < pass->count; s++) {
            interner_free(member->seen[s].interner);
            free(member->seen[s].batch);
        }
        strbuf_free(&member->scratch);
        free(member->ends.at);
        free(member->seen);
    }
    if (pass->step_of)
        pass_free_json(pass);
    free(pass->space_rows);
    for (size_t s = 0; s < pass->count; s++)
        column_unref(pass->steps[s].values);
    zeroed_free(pass->absent, pass->absent_bytes);
    free(pass->members);
    free(pass->steps);
}

/* A pass over the columns with wanted[k]. */
static void open_pass(struct pass *pass, struct table *table, const bool *wanted, const struct workers *workers)
{
    size_t next = 0;
    *pass = (struct pass){.table = table, .member_count = workers->threads};
    pass->steps = heap_array(table->count, sizeof *pass->steps);
    for (size_t k = 0; k < table->count; k++) {
        if (!wanted[k])
            continue;
        table->columns[k].doubtful = points_are_doubtful(table, &table->columns[k]);
        pass->steps[pass->count] = (struct step){.column = &table->columns[k], .number = pass->count, .skip = k - next};
        pass->count++;
        next = k + 1;
    }
    /* No more threads than chunks take part. */
    if (pass->member_count > table->chunk_count)
        pass->member_count = table->chunk_count > 0 ? (int)table->chunk_count : 1;
    pass->members = heap_array((size_t)pass->member_count, sizeof *pass->members);
    for (int i = 0; i < pass->member_count; i++) {
        struct member *member = &pass->members[i];
        member->seen = heap_array(pass->count, sizeof *member->seen);
        for (size_t s = 0; s < pass->count; s++) {
            member->seen[s].lo = INT64_MAX;
            member->seen[s].hi = INT64_MIN;
        }
    }
    if (table->dialect->json)
        pass_open_json(pass);
}

static bool reserve(struct pass *pass, struct buffer_pool *pool)
{
    uint8_t *absent;
    pass->absent_bytes = 1;
    for (size_t s = 0; s < pass->count; s++) {
        const size_t rows = (size_t)pass->space_rows[pass->steps[s].column->space];
        if (__builtin_add_overflow(rows, pass->absent_bytes, &pass->absent_bytes))
            return false;
    }
    absent = pass->absent = zeroed_alloc(pass->absent_bytes);
    if (!pass->absent)
        return false;
    for (size_t s = 0; s < pass->count; s++) {
        struct step *step = &pass->steps[s];
        const enum type type = step->column->type;
        const int64_t rows = pass->space_rows[step->column->space];
        step->values = column_reserve_from(pool, type, type, rows + (step->column->kind == VALUE_LIST));
        if (!step->values)
            return false;
        step->data = column_at(step->values, 0);
        step->absent = absent;
        absent += rows;
    }
    return true;
}

static struct problem first_problem(const struct pass *pass)
{
    const int64_t failed = pass->failed;
    return failed < pass->table->chunk_count ? pass->table->chunks[failed].problem : (struct problem){0};
}

/* Adds up what all threads have seen of a column. */
static struct seen merge_seen(const struct pass *pass, size_t s)
{
    const struct table_column *column = pass->steps[s].column;
    struct seen all = pass->members[0].seen[s];
    for (int i = 1; i < pass->member_count; i++) {
        const struct seen *seen = &pass->members[i].seen[s];
        evidence_merge(&all.evidence, &seen->evidence);
        all.lo = seen->lo < all.lo ? seen->lo : all.lo;
        all.hi = seen->hi > all.hi ? seen->hi : all.hi;
        all.values += seen->values;
        all.missing += seen->missing;
        all.cut += seen->cut;
        all.faults += seen->faults;
        if (seen->first_fault && (!all.first_fault || seen->first_fault < all.first_fault))
            all.first_fault = seen->first_fault;
    }
    if (all.values > 0 && column->kind != VALUE_TEXT && !column->way)
        evidence_add(&all.evidence, class_of_kind(column->kind, column->utc), NULL);
    return all;
}

/* A stated timestamp column must have a zone in all values, or in none. */
static enum status check_zones(const struct text_reader *reader, size_t k, const struct format_job *job)
{
    const struct table_column *column = &reader->table.columns[k];
    const char *const *first = column->evidence.first;
    const unsigned both = 1u << CLASS_UTC | 1u << CLASS_TIMESTAMP;
    if (!column->stated || column->kind != VALUE_TIMESTAMP || (column->evidence.classes & both) != both)
        return STATUS_OK;
    const char *at = first[CLASS_UTC] > first[CLASS_TIMESTAMP] ? first[CLASS_UTC] : first[CLASS_TIMESTAMP];
    const struct problem problem = {PROBLEM_VALUE, at, k};
    return table_error(&reader->table, &problem, job, mapping_path(reader->mapping));
}

static enum status check_units(const struct text_reader *reader, size_t k, const struct format_job *job)
{
    const char *at;
    if (!table_find_unit(&reader->table, k, &at))
        return STATUS_OK;
    const struct problem problem = {PROBLEM_UNIT, at, k};
    return table_error(&reader->table, &problem, job, mapping_path(reader->mapping));
}

/* Finishes the columns that were parsed as what they are, and leaves the others wanted. */
static enum status take_columns(struct text_reader *reader, struct pass *pass, const struct format_job *job,
                                bool *wanted, struct column **columns)
{
    for (size_t s = 0; s < pass->count; s++) {
        struct table_column *column = pass->steps[s].column;
        const size_t k = (size_t)(column - reader->table.columns);
        struct seen seen = merge_seen(pass, s);
        evidence_merge(&column->evidence, &seen.evidence);
        if (check_zones(reader, k, job) != STATUS_OK || check_units(reader, k, job) != STATUS_OK)
            return STATUS_FAILED;
        if (decide_kind(&reader->table, column, pass->space_rows[column->space], true))
            continue;
        column->missing = seen.missing;
        column->cut = seen.cut;
        column->faults = seen.faults;
        column->first_fault = seen.first_fault;
        columns[k] = pass_finish(pass, s, &seen, job->workers);
        if (!columns[k])
            return file_memory_error(mapping_path(reader->mapping), job->span, job->diags);
        wanted[k] = false;
        column_unref(pass->steps[s].values);
        pass->steps[s].values = NULL;
    }
    return STATUS_OK;
}

static enum status run_pass(struct text_reader *reader, const struct format_job *job, bool *wanted,
                            struct column **columns)
{
    struct table *table = &reader->table;
    struct pass pass;
    enum status status = STATUS_OK;
    open_pass(&pass, table, wanted, job->workers);
    if (!pass_count_elements(&pass, job->workers))
        status = STATUS_CANCELLED;
    else if (!reserve(&pass, job->workers->pool))
        status = file_memory_error(mapping_path(reader->mapping), job->span, job->diags);
    else if (!pass_run(&pass, job->workers, false))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK) {
        struct problem problem = first_problem(&pass);
        reader->malformed = problem.kind == PROBLEM_COUNT || problem.kind == PROBLEM_QUOTE;
        status = problem.kind != PROBLEM_NONE ? table_error(table, &problem, job, mapping_path(reader->mapping))
                                              : take_columns(reader, &pass, job, wanted, columns);
    }
    for (int i = 0; i < pass.member_count; i++) {
        const char *unknown = pass.members[i].unknown;
        if (unknown && (!reader->table.unknown || unknown < reader->table.unknown))
            reader->table.unknown = unknown;
    }
    free_pass(&pass);
    return status;
}

static bool any(const bool *wanted, size_t count)
{
    while (count > 0 && !wanted[count - 1])
        count--;
    return count > 0;
}

/* Quotes within a cell that does not begin with one stand for themselves, but were taken for quotes around newlines
 * where the text was cut, and lines of white space for rows: cuts it again, by its cells. False: it has been. */
static bool cut_again(struct text_reader *reader)
{
    struct table *table = &reader->table;
    if (table->cut_by_cells || !reader->malformed)
        return false;
    table_cut_by_cells(table);
    reader->base.rows = table->rows;
    return true;
}

/* Also those of the elements of lists. */
static void want_columns(const struct table *table, const bool *wanted, bool *columns)
{
    for (size_t k = 0; k < table->count; k++) {
        const size_t list = table->columns[k].list;
        columns[k] = list == NO_COLUMN ? wanted[k] : columns[list] && table->columns[list].kind == VALUE_LIST;
    }
}

static enum status read_columns(struct file_reader *file_reader, const struct format_job *job, const bool *wanted,
                                struct column **columns)
{
    struct text_reader *reader = (struct text_reader *)file_reader;
    const size_t count = file_reader->count;
    const char *path = mapping_path(reader->mapping);
    const size_t all_count = reader->table.count;
    struct column **all = heap_array(all_count, sizeof *all); /* also those of the elements of lists */
    bool *left = heap_array(all_count, sizeof *left);
    want_columns(&reader->table, wanted, left);
    const size_t diags_before = job->diags->count;
    enum status status = any(left, all_count) ? run_pass(reader, job, left, all) : STATUS_OK;
    if (status == STATUS_FAILED && cut_again(reader)) {
        job->diags->count = diags_before;
        status = run_pass(reader, job, left, all);
    }
    for (int i = 1; i < MAX_PASSES && status == STATUS_OK && any(left, all_count); i++)
        status = run_pass(reader, job, left, all);
    if (status == STATUS_OK && any(left, all_count)) {
        status = mapping_check_unchanged(reader->mapping, job->span, job->diags);
        if (status == STATUS_OK)
            status = diag_error(job->diags, job->span, "`%s` changed while it was read", path);
    }
    if (status == STATUS_OK && !json_make_lists(&reader->table, all))
        status = file_memory_error(path, job->span, job->diags);
    for (size_t k = 0; k < all_count; k++) {
        const bool given = k < count && wanted[k] && status == STATUS_OK;
        if (given)
            columns[k] = all[k];
        else
            column_unref(all[k]);
    }
    want_columns(&reader->table, wanted, left);
    for (size_t k = 0; k < count && status == STATUS_OK; k++)
        text_reader_describe(reader, k);
    if (status == STATUS_OK)
        table_note(&reader->table, left, columns, job, path);
    free(left);
    free(all);
    return status;
}

static void close_reader(struct file_reader *file_reader)
{
    struct text_reader *reader = (struct text_reader *)file_reader;
    for (size_t k = 0; reader->table.columns && k < reader->table.count; k++)
        list_store_unref(reader->table.columns[k].unread);
    table_free_chunks(&reader->table);
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
    free(reader);
}

const struct file_reader_ops text_reader_ops = {.read = read_columns, .close = close_reader};
