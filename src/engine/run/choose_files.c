#include "engine/env/sources.h"
#include "engine/run/provide.h"
#include "engine/storage/file_reader.h"

/* Which files of a listed source a statement needs, at least one; NULL: all. */
static enum status find_files(struct env *env, const struct source_file *file, const struct queue *queue,
                              const bool **chosen, struct arena *arena)
{
    const struct runner runner = {.env = env};
    struct column **columns = arena_array(arena, file->count + 1, sizeof(struct column *));
    size_t place, first = 0;
    *chosen = NULL;
    for (size_t k = 0; k < file->count; k++)
        columns[k] = file->columns[k].column;
    const struct file_reader *reader = file_cache_reader(env->file_cache, columns[0], &place);
    struct file_need need = {
        .queue = queue, .columns = columns, .count = file->count, .rows = columns[0]->rows, .search = SEARCH_BOUNDS};
    const enum status status = find_needed_rows(&runner, &need, arena);
    if (status != STATUS_OK || !need.found || !reader)
        return status;
    bool *needed = arena_array(arena, file->list_count, sizeof *needed);
    for (size_t f = 0; f < file->list_count; f++) {
        const size_t range = row_set_find(&need.found_rows, reader->group_begins[f]);
        needed[f] = range < need.found_rows.count && need.found_rows.begins[range] < reader->group_begins[f + 1];
        first += !needed[f] && first == f;
    }
    needed[0] = needed[0] || first == file->list_count;
    *chosen = needed;
    return STATUS_OK;
}

enum status choose_files(struct env *env, struct sources *sources, const struct queue *queue, struct timing *timing,
                         struct arena *arena, struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sources->count && status == STATUS_OK; i++) {
        struct source_file *file = &sources->files[i];
        const bool *chosen = NULL;
        if (queue ? !file->listed : !source_leaves_out(file))
            continue;
        if (queue)
            status = find_files(env, file, queue, &chosen, arena);
        if (status == STATUS_OK)
            status = source_open(sources, file, env, chosen, timing, diags);
    }
    return status;
}
