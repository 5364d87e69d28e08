#include "engine/text/table.h"

#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/text/classify.h"
#include "engine/text/pass.h"
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
        for (size_t s = 0; s < pass->count; s++)
            interner_free(member->seen[s].interner);
        strbuf_free(&member->scratch);
        free(member->ends.at);
        free(member->last_rows);
        free(member->seen);
    }
    for (size_t s = 0; s < pass->count; s++)
        column_unref(pass->steps[s].values);
    zeroed_free(pass->absent, pass->absent_bytes);
    free(pass->members);
    free(pass->steps);
    free(pass->step_of);
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
        if (table->dialect->json)
            member->last_rows = heap_array(table->count, sizeof *member->last_rows);
    }
    pass->step_of = table->dialect->json ? heap_array(table->count, sizeof *pass->step_of) : NULL;
    for (size_t k = 0; pass->step_of && k < table->count; k++)
        pass->step_of[k] = pass->count;
    for (size_t s = 0; pass->step_of && s < pass->count; s++)
        pass->step_of[pass->steps[s].column - table->columns] = s;
}

static bool reserve(struct pass *pass, struct buffer_pool *pool)
{
    const int64_t rows = pass->table->rows;
    if (__builtin_mul_overflow((size_t)rows + 1, pass->count, &pass->absent_bytes))
        return false;
    pass->absent = zeroed_alloc(pass->absent_bytes);
    if (!pass->absent)
        return false;
    for (size_t s = 0; s < pass->count; s++) {
        struct step *step = &pass->steps[s];
        const enum type type = step->column->type;
        step->values = column_reserve_from(pool, type, type, rows);
        if (!step->values)
            return false;
        step->data = column_at(step->values, 0);
        step->absent = pass->absent + s * (size_t)rows;
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

/* Finishes the columns that were parsed as what they are, and leaves the others wanted. */
static enum status take_columns(struct text_reader *reader, struct pass *pass, const struct format_job *job,
                                bool *wanted, struct column **columns)
{
    for (size_t s = 0; s < pass->count; s++) {
        struct table_column *column = pass->steps[s].column;
        const size_t k = (size_t)(column - reader->table.columns);
        struct seen seen = merge_seen(pass, s);
        evidence_merge(&column->evidence, &seen.evidence);
        if (check_zones(reader, k, job) != STATUS_OK)
            return STATUS_FAILED;
        if (decide_kind(&reader->table, column, reader->table.rows, true))
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
    if (!reserve(&pass, job->workers->pool))
        status = file_memory_error(mapping_path(reader->mapping), job->span, job->diags);
    else if (!pass_run(&pass, job->workers))
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

static enum status read_columns(struct file_reader *file_reader, const struct format_job *job, const bool *wanted,
                                struct column **columns)
{
    struct text_reader *reader = (struct text_reader *)file_reader;
    const size_t count = file_reader->count;
    const char *path = mapping_path(reader->mapping);
    bool *left = heap_array(reader->table.count, sizeof *left);
    for (size_t k = 0; k < count; k++) {
        left[k] = wanted[k];
        columns[k] = wanted[k] ? NULL : columns[k];
    }
    const size_t diags_before = job->diags->count;
    enum status status = any(left, count) ? run_pass(reader, job, left, columns) : STATUS_OK;
    if (status == STATUS_FAILED && cut_again(reader)) {
        job->diags->count = diags_before;
        status = run_pass(reader, job, left, columns);
    }
    for (int i = 1; i < MAX_PASSES && status == STATUS_OK && any(left, count); i++)
        status = run_pass(reader, job, left, columns);
    if (status == STATUS_OK && any(left, count)) {
        status = mapping_check_unchanged(reader->mapping, job->span, job->diags);
        if (status == STATUS_OK)
            status = diag_error(job->diags, job->span, "`%s` changed while it was read", path);
    }
    for (size_t k = 0; k < count; k++) {
        if (status == STATUS_OK)
            text_reader_describe(reader, k);
        else if (wanted[k])
            column_unref(columns[k]);
    }
    for (size_t k = 0; k < count; k++)
        left[k] = wanted[k];
    if (status == STATUS_OK)
        table_note(&reader->table, left, job, path);
    free(left);
    return status;
}

static void close_reader(struct file_reader *file_reader)
{
    struct text_reader *reader = (struct text_reader *)file_reader;
    table_free_chunks(&reader->table);
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
    free(reader);
}

const struct file_reader_ops text_reader_ops = {.read = read_columns, .close = close_reader};
