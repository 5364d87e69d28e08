#include "engine/formats/append_reader.h"

#include "base/heap.h"
#include "base/path.h"
#include "engine/formats/file_list.h"

#include <stdlib.h>
#include <string.h>

size_t appended_width(const struct appended *part)
{
    return part->file.reader ? part->file.reader->count : part->file.relation ? part->file.relation->count : 0;
}

int64_t appended_rows(const struct appended *part)
{
    return part->file.reader ? part->file.reader->rows : part->file.relation ? part->file.relation->rows : 0;
}

bool appended_is_provisional(const struct appended *part)
{
    return part->file.reader && part->file.reader->provisional;
}

struct reader_column appended_column(const struct appended *part, size_t k)
{
    if (part->file.reader)
        return part->file.reader->columns[k];
    const struct column *column = part->file.relation->columns[k];
    struct reader_column described = {.name = part->file.relation->names[k],
                                      .type = column->type,
                                      .logical = column->logical,
                                      .nullable = column->validity};
    described.logical.dictionary = NULL;
    return described;
}

static void close_appended(struct file_reader *base)
{
    struct append_reader *reader = (struct append_reader *)base;
    for (size_t p = 0; p < reader->file_count; p++)
        opened_file_close(&reader->files[p].file);
    arena_free(reader->arena);
    free(reader);
}

enum status types_differ(const struct append_reader *reader, size_t p, size_t k, struct column_type type,
                         struct column_type other, const struct format_job *job)
{
    const char *name = reader->base.columns[k].name;
    const char *hint = appended_is_provisional(&reader->files[p])
                           ? arena_printf(job->diags->arena, "state its type after the path, as in `%s text`", name)
                           : "load the files one by one";
    return diag_error_hint(job->diags, job->span, hint,
                           "`%s` cannot be appended: its column `%s` is %s, in the files before it %s",
                           reader->files[p].shown, name, logical_type_name(other.logical, other.type),
                           logical_type_name(type.logical, type.type));
}

/* Finds the column's type from what the files declare. Types that come from a sample are checked when it is read. */
static enum status declare_column(struct append_reader *reader, size_t k, const struct format_job *job)
{
    struct reader_column *column = &reader->base.columns[k];
    struct column_type type = {column->type, column->logical};
    bool known = false;
    for (size_t p = 0; p < reader->file_count; p++) {
        const struct appended *part = &reader->files[p];
        if (part->places[k] == PLACE_ABSENT) {
            column->nullable = true;
            continue;
        }
        const struct reader_column piece = appended_column(part, part->places[k]);
        const struct column_type other = {piece.type, piece.logical};
        column->nullable = column->nullable || piece.nullable;
        if (appended_rows(part) == 0)
            continue;
        if (!known)
            type = other;
        else if (type_widen(&type, other) || reader->base.provisional)
            continue;
        else if (column_may_be_vacant(type.logical) || column_may_be_vacant(other.logical))
            reader->base.provisional = true;
        else
            return types_differ(reader, p, k, type, other, job);
        known = true;
    }
    column->type = type.type;
    column->logical = type.logical;
    return STATUS_OK;
}

static bool is_partition(const struct append_reader *reader, const char *name)
{
    bool found = false;
    for (size_t k = 0; k < reader->partitions.count && !found; k++)
        found = strcmp(reader->partitions.keys[k].name, name) == 0;
    return found;
}

/* The place of a column of this name behind `from`, of those that the part has no column for. */
static size_t find_column(const struct append_reader *reader, const char *name, const bool *taken, size_t expected)
{
    const size_t count = reader->own_count;
    for (size_t i = 0; i < count; i++) {
        const size_t k = (expected + i) % count;
        if (!taken[k] && strcmp(reader->base.columns[k].name, name) == 0)
            return k;
    }
    return count;
}

/* Finds the part's columns by name, and adds those that no part before has. columns_of[i]: the place of its column i.
 */
static void find_columns(struct append_reader *reader, const struct appended *part, size_t *capacity,
                         size_t *columns_of, bool *hidden)
{
    struct file_reader *base = &reader->base;
    const size_t width = appended_width(part), before = reader->own_count;
    struct arena *arena = arena_new();
    bool *taken = arena_array(arena, before + width + 1, sizeof *taken);
    for (size_t i = 0; i < width; i++) {
        const struct reader_column column = appended_column(part, i);
        columns_of[i] = PLACE_ABSENT;
        if (is_partition(reader, column.name)) {
            *hidden = true;
            continue;
        }
        const size_t k = find_column(reader, column.name, taken, i);
        if (k == reader->own_count) {
            *ARENA_PUSH(reader->arena, base->columns, reader->own_count, *capacity) = column;
        }
        taken[k] = true;
        columns_of[i] = k;
    }
    arena_free(arena);
}

/* Adds the part's unreadable columns to those of parts before. */
static void add_unreadable(struct append_reader *reader, const struct file_reader *part)
{
    struct unreadable_columns *all = &reader->base.unreadable;
    for (size_t i = 0; part && i < part->unreadable.count; i++) {
        const struct unreadable_column *column = &part->unreadable.at[i];
        bool listed = false;
        for (size_t k = 0; k < all->count && !listed; k++)
            listed = strcmp(all->at[k].name, column->name) == 0;
        if (!listed)
            unreadable_add(all, reader->arena, column->name, column->why);
    }
}

/* Lists the columns of all parts that are open, and where each part has them. */
static void place_columns(struct append_reader *reader, const struct format_job *job)
{
    size_t capacity = 0, **columns_of = arena_array(reader->arena, reader->file_count + 1, sizeof *columns_of);
    bool hidden = false;
    for (size_t p = 0; p < reader->file_count; p++) {
        const struct appended *part = &reader->files[p];
        columns_of[p] = arena_array(reader->arena, appended_width(part) + 1, sizeof **columns_of);
        find_columns(reader, part, &capacity, columns_of[p], &hidden);
    }
    for (size_t p = 0; p < reader->file_count; p++)
        add_unreadable(reader, reader->files[p].file.reader);
    for (size_t p = 0; p < reader->file_count; p++) {
        struct appended *part = &reader->files[p];
        part->places = arena_array(reader->arena, reader->own_count + 1, sizeof *part->places);
        for (size_t k = 0; k < reader->own_count; k++)
            part->places[k] = PLACE_ABSENT;
        for (size_t i = 0; i < appended_width(part); i++) {
            if (columns_of[p][i] != PLACE_ABSENT)
                part->places[columns_of[p][i]] = i;
        }
    }
    if (hidden)
        diag_note(job->diags, (struct span){0},
                  "columns that folders name are theirs, not those of the same name in files");
}

/* Adds the columns that folders tell. */
static void add_partitions(struct append_reader *reader)
{
    struct file_reader *base = &reader->base;
    const size_t own = reader->own_count, count = own + reader->partitions.count;
    base->columns = arena_grow(reader->arena, base->columns, own, count + 1, sizeof *base->columns);
    for (size_t k = 0; k < reader->partitions.count; k++) {
        const struct partition_key *key = &reader->partitions.keys[k];
        base->columns[own + k] = (struct reader_column){
            .name = key->name, .type = partition_type(key), .logical = key->logical, .nullable = key->nullable};
    }
    base->count = count;
}

/* How many rows a file is taken to have that is not opened yet. */
enum { LISTED_ROWS = 1 << 20 };

/* The parts of the files that have bounds: row groups, or a whole file. */
static enum status list_groups(struct append_reader *reader, bool listed, const struct format_job *job)
{
    struct file_reader *base = &reader->base;
    size_t capacity = 0, part_capacity = 0;
    int64_t *begins = NULL;
    for (size_t p = 0; p < reader->file_count; p++) {
        struct appended *part = &reader->files[p];
        const struct file_reader *own = part->file.reader;
        const size_t groups = own && own->ops->bounds && !listed ? own->group_count : 1;
        part->first_group = base->group_count;
        for (size_t g = 0; g < groups; g++) {
            reader->group_parts = arena_reserve(reader->arena, reader->group_parts, base->group_count, &part_capacity,
                                                sizeof *reader->group_parts);
            reader->group_parts[base->group_count] = p;
            *ARENA_PUSH(reader->arena, begins, base->group_count, capacity) =
                base->rows + (groups > 1 ? own->group_begins[g] : 0);
        }
        if (__builtin_add_overflow(base->rows, listed ? LISTED_ROWS : appended_rows(part), &base->rows))
            return diag_error(job->diags, job->span, "too many rows");
    }
    begins = arena_reserve(reader->arena, begins, base->group_count, &capacity, sizeof *begins);
    begins[base->group_count] = base->rows;
    base->group_begins = begins;
    return STATUS_OK;
}

/* Whether bounds of a part's column are those of its values in the result. */
static bool keeps_values(struct reader_column from, const struct reader_column *to)
{
    return type_table[from.type].kind == type_table[to->type].kind && from.logical.kind == to->logical.kind &&
           from.logical.scale == to->logical.scale;
}

static void bounds_appended(const struct file_reader *base, size_t group, size_t k, struct group_bounds *bounds)
{
    const struct append_reader *reader = (const struct append_reader *)base;
    const size_t p = reader->group_parts[group];
    const struct appended *part = &reader->files[p];
    const struct file_reader *own = part->file.reader;
    *bounds = (struct group_bounds){.missing = true, .present = true, .least = {"", 0}, .most = {"", 0}};
    if (k >= reader->own_count) {
        *bounds = partition_bounds(&reader->partitions.keys[k - reader->own_count], p);
    } else if (part->places[k] == PLACE_ABSENT) {
        bounds->has_zone = true; /* of zeroes */
        bounds->present = false;
    } else if (own && own->ops->bounds && keeps_values(appended_column(part, part->places[k]), &base->columns[k])) {
        own->ops->bounds(own, group - part->first_group, part->places[k], bounds);
    }
}

/* Of files that are only listed, folders alone say something. */
static void bounds_listed(const struct file_reader *base, size_t group, size_t k, struct group_bounds *bounds)
{
    const struct append_reader *reader = (const struct append_reader *)base;
    *bounds = (struct group_bounds){.missing = true, .present = true, .least = {"", 0}, .most = {"", 0}};
    if (k >= reader->own_count)
        *bounds = partition_bounds(&reader->partitions.keys[k - reader->own_count], group);
}

static enum status read_listed(struct file_reader *base, const struct format_job *job, const bool *wanted,
                               struct column **columns)
{
    (void)base, (void)wanted, (void)columns;
    return diag_error(job->diags, job->span, "the files are not open");
}

static enum status describe(struct append_reader *reader, bool listed, const struct format_job *job)
{
    place_columns(reader, job);
    for (size_t p = 0; p < reader->file_count; p++)
        reader->base.provisional = reader->base.provisional || appended_is_provisional(&reader->files[p]);
    enum status status = list_groups(reader, listed, job);
    for (size_t k = 0; k < reader->own_count && status == STATUS_OK && !listed; k++)
        status = declare_column(reader, k, job);
    add_partitions(reader);
    return status;
}

struct opening {
    const struct opener *opener;
    const struct load_options *options;
    struct append_reader *reader;
};

static enum status open_part(void *context, size_t p, const struct format_job *job)
{
    const struct opening *opening = context;
    struct appended *part = &opening->reader->files[p];
    const struct load_options *options = opening->options;
    const struct load_options own = {.format = options->format ? options->format : format_of_path(part->path),
                                     .text = options->text};
    if (own.format->shaped)
        return diag_error(job->diags, job->span, "`%s` is an image: images are loaded one by one", part->shown);
    struct opener opener = *opening->opener;
    if (job->workers->threads == 1)
        opener.progress = NULL;
    return open_file(&opener, part->path, job->span, &own, &part->file, job->diags);
}

/* The parts that are to be opened, with what their folders tell. */
static struct append_reader *new_reader(const struct file_list *list, const bool *chosen, struct diags *diags)
{
    struct append_reader *reader = heap_array(1, sizeof *reader);
    struct arena *arena = reader->arena = arena_new();
    size_t *files = arena_array(arena, list->count, sizeof *files);
    reader->files = arena_array(arena, list->count, sizeof *reader->files);
    reader->partitions = partitions_of_paths(list->paths, list->count, arena);
    for (size_t f = 0; f < list->count; f++) {
        if (chosen && !chosen[f])
            continue;
        struct appended *part = &reader->files[reader->file_count];
        const char *shown = path_display(list->paths[f], diags->arena);
        files[reader->file_count++] = f;
        part->path = arena_text(arena, list->paths[f], strlen(list->paths[f]));
        part->shown = arena_text(arena, shown, strlen(shown));
        part->bytes = list->bytes[f];
    }
    partitions_keep(&reader->partitions, files, reader->file_count);
    return reader;
}

enum status open_appended(const struct opener *opener, const struct load_options *options, struct span span,
                          struct opened_file *appended, struct diags *diags)
{
    static const struct file_reader_ops ops = {
        .read = read_appended, .read_rows = read_appended_rows, .bounds = bounds_appended, .close = close_appended};
    static const struct file_reader_ops listed_ops = {
        .read = read_listed, .bounds = bounds_listed, .close = close_appended};
    struct append_reader *reader = new_reader(options->list, options->chosen, diags);
    const bool listed = options->lists;
    reader->base.ops = listed ? &listed_ops : &ops;
    struct opening opening = {opener, options, reader};
    const struct workers workers = opener_workers(opener, reader->files[0].path, diags->arena);
    struct format_job job = {.workers = &workers, .span = span, .diags = diags, .text = options->text};
    enum status status = open_part(&opening, 0, &job);
    if (status == STATUS_OK && !listed)
        status = each_part(reader, 1, &job, open_part, &opening);
    if (status == STATUS_OK)
        status = describe(reader, listed, &job);
    if (status != STATUS_OK) {
        close_appended(&reader->base);
        return status;
    }
    *appended = (struct opened_file){.format = reader->files[0].file.format, .reader = &reader->base, .listed = listed};
    return STATUS_OK;
}
