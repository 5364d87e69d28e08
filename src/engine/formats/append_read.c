#include "engine/formats/append_reader.h"

#include "base/heap.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/list_store.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/row_set.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_BYTES = 16 << 20, MAX_NOTED = 8 };

/* A loop over parts side by side. */
struct part_loop {
    const struct append_reader *reader;
    const struct format_job *job;
    part_step *step;
    void *context;
    size_t *parts;
    struct arena **arenas; /* of each thread */
    struct diags *diags;   /* of each part */
    enum status *status;
};

/* Long files are worth all threads, and pipes are read in their order. */
static bool is_alone(const struct appended *part)
{
    return part->bytes >= LONG_BYTES || path_is_pipe(part->path);
}

static void run_part(void *context, int member, int64_t i)
{
    const struct part_loop *loop = context;
    struct workers workers = *loop->job->workers;
    struct format_job job = *loop->job;
    workers.threads = 1;
    workers.progress = NULL;
    job.workers = &workers;
    job.diags = &loop->diags[i];
    diags_init(job.diags, loop->arenas[member]);
    loop->status[i] = loop->step(loop->context, loop->parts[i], &job);
}

/* Adds the notes of a part, unless there are many. */
static void add_notes(struct diags *diags, const struct diags *own, size_t *noted)
{
    for (size_t i = 0; i < own->count && *noted < MAX_NOTED; i++)
        diags_add(diags, &own->at[i]);
    *noted += own->count > 0;
}

static enum status run_together(struct part_loop *loop, size_t count, size_t *noted)
{
    const struct workers *workers = loop->job->workers;
    struct arena *arena = arena_new();
    loop->arenas = arena_array(arena, (size_t)workers->threads, sizeof *loop->arenas);
    loop->diags = arena_array(arena, count + 1, sizeof *loop->diags);
    loop->status = arena_array(arena, count + 1, sizeof *loop->status);
    for (int t = 0; t < workers->threads; t++)
        loop->arenas[t] = arena_new();
    enum status status = workers_run(workers, (int64_t)count, run_part, loop) ? STATUS_OK : STATUS_CANCELLED;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct diags *own = &loop->diags[i];
        status = loop->status[i];
        if (status == STATUS_OK)
            add_notes(loop->job->diags, own, noted);
        for (size_t k = 0; k < own->count && status != STATUS_OK; k++)
            diags_add(loop->job->diags, &own->at[k]);
    }
    for (int t = 0; t < workers->threads; t++)
        arena_free(loop->arenas[t]);
    arena_free(arena);
    return status;
}

enum status each_part(const struct append_reader *reader, size_t first, const struct format_job *job, part_step *step,
                      void *context)
{
    struct part_loop loop = {.reader = reader, .job = job, .step = step, .context = context};
    enum status status = STATUS_OK;
    size_t together = 0, noted = 0;
    loop.parts = heap_array(reader->file_count + 1, sizeof *loop.parts);
    for (size_t p = first; p < reader->file_count && status == STATUS_OK; p++) {
        const size_t before = job->diags->count;
        if (!is_alone(&reader->files[p])) {
            loop.parts[together++] = p;
            continue;
        }
        status = step(context, p, job);
        noted += job->diags->count > before;
    }
    if (status == STATUS_OK && together > 0)
        status = run_together(&loop, together, &noted);
    if (status == STATUS_OK && noted > MAX_NOTED)
        diag_note(job->diags, (struct span){0}, "%zu more files have notes", noted - MAX_NOTED);
    free(loop.parts);
    return status;
}

/* Columns of the parts. */
struct reading {
    struct append_reader *reader;
    const bool *wanted;         /* of each column of the result */
    const struct row_set *rows; /* NULL: all */
    const int64_t *begins;      /* of each part, and behind the last */
    int64_t *part_rows;         /* that were read */
    struct column **pieces;     /* by part: of each column of files one reference, or NULL */
};

/* The rows of the set that are the part's, counted from its first. */
static void rows_of_part(const struct reading *reading, size_t p, struct row_set *own)
{
    const struct row_set *rows = reading->rows;
    const int64_t begin = reading->begins[p], end = reading->begins[p + 1];
    for (size_t i = row_set_find(rows, begin); i < rows->count && rows->begins[i] < end; i++)
        row_set_add(own, max_int64(rows->begins[i], begin) - begin, min_int64(rows->ends[i], end) - begin);
}

/* Leaves of whole columns the rows of the set. */
static enum status take_rows(const struct row_set *rows, struct column **columns, const bool *want, size_t width,
                             const struct format_job *job)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < width; i++) {
        if (!want[i])
            continue;
        struct column *taken = status == STATUS_OK ? row_set_take(rows, columns[i], NULL) : NULL;
        column_unref(columns[i]);
        columns[i] = taken;
        status = taken ? status : STATUS_FAILED;
    }
    if (status == STATUS_OK)
        return status;
    for (size_t i = 0; i < width; i++)
        column_unref(want[i] ? columns[i] : NULL);
    return diag_no_memory(job->diags, job->span, "not enough memory");
}

/* Reads columns of a part, `rows` of them if that is not NULL. */
static enum status read_columns(struct appended *part, const struct format_job *job, const struct row_set *rows,
                                const bool *want, struct column **columns)
{
    struct file_reader *reader = part->file.reader;
    const size_t width = appended_width(part);
    if (reader && rows && reader->ops->read_rows) {
        const enum status status = reader->ops->read_rows(reader, job, want, rows, columns);
        if (status == STATUS_OK && part->file.mapping && mapping_changed(part->file.mapping)) {
            for (size_t i = 0; i < width; i++)
                column_unref(want[i] ? columns[i] : NULL);
            return mapping_check_unchanged(part->file.mapping, job->span, job->diags);
        }
        return status;
    }
    if (reader) {
        const enum status status = format_read_columns(job, part->file.mapping, reader, want, columns);
        return status == STATUS_OK && rows ? take_rows(rows, columns, want, width, job) : status;
    }
    for (size_t i = 0; i < width; i++)
        columns[i] = want[i] ? column_ref(part->file.relation->columns[i]) : NULL;
    return rows ? take_rows(rows, columns, want, width, job) : STATUS_OK;
}

/* A text file of which nothing was read may be malformed: then its first column is read too. */
static enum status read_part(void *context, size_t p, const struct format_job *job)
{
    const struct reading *reading = context;
    struct appended *part = &reading->reader->files[p];
    struct arena *arena = job->diags->arena;
    const size_t width = appended_width(part), count = reading->reader->own_count;
    bool *want = arena_array(arena, width + 1, sizeof *want), any = false;
    struct column **read = arena_array(arena, width + 1, sizeof(struct column *));
    struct column **pieces = reading->pieces + p * count;
    struct row_set own;
    row_set_init(&own, arena);
    if (reading->rows)
        rows_of_part(reading, p, &own);
    for (size_t k = 0; k < count; k++) {
        if (reading->wanted[k] && part->places[k] != PLACE_ABSENT)
            want[part->places[k]] = any = true;
    }
    if (!any && appended_is_provisional(part) && width > 0)
        want[0] = any = true;
    if (any && (!reading->rows || own.rows > 0)) {
        struct format_job of_part = *job;
        const bool some = reading->rows && own.rows < appended_rows(part);
        of_part.format = part->file.format;
        of_part.text = NULL;
        of_part.unsorted_from = 0;
        const enum status status = read_columns(part, &of_part, some ? &own : NULL, want, read);
        if (status != STATUS_OK)
            return status;
    }
    reading->part_rows[p] = reading->rows ? own.rows : appended_rows(part);
    for (size_t k = 0; k < count; k++)
        pieces[k] = reading->wanted[k] && part->places[k] != PLACE_ABSENT && read[part->places[k]]
                        ? column_ref(read[part->places[k]])
                        : NULL;
    for (size_t i = 0; i < width; i++)
        column_unref(want[i] ? read[i] : NULL);
    return STATUS_OK;
}

/* In how many levels the lists have elements. */
static size_t filled_levels(const struct list_store *store)
{
    size_t filled = store->elements->rows > 0;
    for (size_t k = 0; k < store->elements->count && store->elements->rows > 0; k++) {
        const struct column *column = store->elements->columns[k];
        filled += column->logical.kind == LOGICAL_LIST ? filled_levels(column->logical.lists) : 0;
    }
    return filled;
}

/* Lists that are empty in the files before fit what follows, but what follows may differ further within: finds two
 * files that do. STATUS_OK: there are none. */
static enum status lists_differ(const struct append_reader *reader, size_t k, struct column *const *pieces,
                                const struct format_job *job)
{
    size_t *kinds = heap_array(reader->file_count, sizeof *kinds), count = 0; /* a file of each type of lists */
    enum status status = STATUS_OK;
    for (size_t p = 0; p < reader->file_count && status == STATUS_OK; p++) {
        if (!pieces[p] || pieces[p]->logical.kind != LOGICAL_LIST)
            continue;
        const struct column_type type = {pieces[p]->type, pieces[p]->logical};
        const struct list_store *lists = type.logical.lists;
        bool known = false;
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            struct column_type before = {pieces[kinds[i]]->type, pieces[kinds[i]]->logical}, both = before;
            const bool same = strcmp(before.logical.lists->type.name, lists->type.name) == 0;
            known = known || same;
            if (!type_widen(&both, type))
                status = types_differ(reader, p, k, before, type, job);
            else if (same && filled_levels(before.logical.lists) < filled_levels(lists))
                kinds[i] = p;
        }
        if (!known)
            kinds[count++] = p;
    }
    free(kinds);
    return status;
}

/* Appends the pieces of column k. */
static enum status append_column(const struct reading *reading, const struct format_job *job, size_t k,
                                 struct column *const *pieces, int64_t total, struct column **column)
{
    const struct append_reader *reader = reading->reader;
    struct column_type type = {reader->base.columns[k].type, reader->base.columns[k].logical};
    const int64_t *rows = reading->part_rows;
    bool known = false, too_large = false;
    for (size_t p = 0; p < reader->file_count; p++) {
        const struct column *piece = pieces[p];
        if (!piece || (column_is_vacant(piece) && !known))
            continue;
        struct column_type other = {piece->type, piece->logical};
        other.logical.dictionary = NULL;
        if (!known)
            type = other;
        else if (!column_is_vacant(piece) && !type_widen(&type, other))
            return types_differ(reader, p, k, type, other, job);
        known = true;
    }
    for (size_t p = 0; p < reader->file_count && !known; p++) { /* all vacant: any type */
        if (pieces[p] && rows[p] > 0)
            type = (struct column_type){pieces[p]->type, {.kind = pieces[p]->logical.kind}};
    }
    const struct column_pieces all = {pieces, rows, reader->file_count, total};
    *column = append_columns(&all, type, job->workers, &too_large);
    if (*column)
        return STATUS_OK;
    if (too_large)
        return diag_error(job->diags, job->span, "a value of column `%s` does not fit decimal(%d)",
                          reader->base.columns[k].name, type.logical.scale);
    if (type.logical.kind == LOGICAL_LIST && lists_differ(reader, k, pieces, job) != STATUS_OK)
        return STATUS_FAILED;
    return workers_cancelled(job->workers) ? STATUS_CANCELLED
                                           : diag_no_memory(job->diags, job->span, "not enough memory");
}

/* Makes the wanted columns of the pieces, and releases these. */
static enum status append_pieces(const struct reading *reading, const struct format_job *job, struct column **columns)
{
    const struct append_reader *reader = reading->reader;
    const size_t parts = reader->file_count, own = reader->own_count;
    struct column **pieces = heap_array(parts, sizeof(struct column *)); /* of one column */
    enum status status = STATUS_OK;
    int64_t total = 0;
    size_t done = 0;
    for (size_t p = 0; p < parts; p++)
        total += reading->part_rows[p];
    for (; done < reader->base.count && status == STATUS_OK; done++) {
        if (!reading->wanted[done])
            continue;
        columns[done] = NULL;
        for (size_t p = 0; p < parts && done < own; p++)
            pieces[p] = reading->pieces[p * own + done];
        if (done < own)
            status = append_column(reading, job, done, pieces, total, &columns[done]);
        else
            columns[done] =
                partition_column(&reader->partitions.keys[done - own], reading->part_rows, parts, job->workers);
        if (status == STATUS_OK && !columns[done])
            status = diag_no_memory(job->diags, job->span, "not enough memory");
        for (size_t p = 0; p < parts && done < own && status == STATUS_OK; p++) {
            const struct column *changed = pieces[p] ? changed_column(&pieces[p], 1) : NULL;
            if (changed)
                status = file_changed_error(changed, job->span, job->diags);
            else
                column_unref(pieces[p]);
            reading->pieces[p * own + done] = changed ? pieces[p] : NULL;
        }
    }
    for (size_t k = 0; k < done && status != STATUS_OK; k++)
        column_unref(reading->wanted[k] ? columns[k] : NULL);
    free(pieces);
    return status;
}

static enum status read_wanted(struct append_reader *reader, const struct format_job *job, const bool *wanted,
                               const struct row_set *rows, struct column **columns)
{
    const size_t parts = reader->file_count;
    struct arena *arena = arena_new();
    int64_t *begins = arena_array(arena, parts + 1, sizeof *begins);
    struct reading reading = {.reader = reader, .wanted = wanted, .rows = rows, .begins = begins};
    for (size_t p = 0; p < parts; p++)
        begins[p + 1] = begins[p] + appended_rows(&reader->files[p]);
    reading.part_rows = arena_array(arena, parts + 1, sizeof *reading.part_rows);
    reading.pieces = heap_array(parts * reader->own_count + 1, sizeof(struct column *));
    enum status status = each_part(reader, 0, job, read_part, &reading);
    if (!rows) {
        reader->base.rows = 0;
        for (size_t p = 0; p < parts; p++)
            reader->base.rows += appended_rows(&reader->files[p]);
    }
    if (status == STATUS_OK)
        status = append_pieces(&reading, job, columns);
    columns_unref(reading.pieces, parts * reader->own_count);
    free(reading.pieces);
    arena_free(arena);
    return status;
}

enum status read_appended(struct file_reader *base, const struct format_job *job, const bool *wanted,
                          struct column **columns)
{
    return read_wanted((struct append_reader *)base, job, wanted, NULL, columns);
}

enum status read_appended_rows(struct file_reader *base, const struct format_job *job, const bool *wanted,
                               const struct row_set *rows, struct column **columns)
{
    return read_wanted((struct append_reader *)base, job, wanted, rows, columns);
}
