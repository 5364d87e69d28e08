#include "engine/run/provide.h"

#include "engine/env/sources.h"

static void release_columns(const struct source_file *file)
{
    for (size_t k = 0; k < file->count; k++) {
        column_unref(file->columns[k].column);
        column_unref(file->columns[k].unread);
    }
}

/* Has the rows of the server take the place of the table, of which the file's path is kept for errors. */
static enum status adopt_rows(struct facts *facts, const struct remote_part *part, struct arena *arena,
                              struct diags *diags)
{
    struct source_file *file = part->file;
    struct loaded loaded = {0};
    struct path_item *item = arena_alloc(arena, sizeof *item);
    struct pipeline *rest = arena_alloc(arena, sizeof *rest);
    const struct source_node *source = &facts->pipeline->source;
    *item = (struct path_item){.path = file->path, .span = source->span};
    *rest = *facts->pipeline;
    rest->source = (struct source_node){.kind = SOURCE_LOAD, .span = source->span, .paths = item, .path_count = 1};
    rest->stages += part->stages;
    rest->stage_count -= part->stages;
    enum status status =
        file_cache_adopt(facts->env->file_cache, part->reader, file->path.text, file->path.span, &loaded, diags);
    if (status != STATUS_OK)
        return status;
    release_columns(file);
    for (size_t i = 0; i < part->other_count; i++) { /* which nothing names any more */
        release_columns(part->others[i]);
        part->others[i]->count = 0;
    }
    file->written = &item->path;
    file->columns = arena_array(arena, loaded.count + 1, sizeof *file->columns);
    for (size_t k = 0; k < loaded.count; k++)
        file->columns[k] = source_column(&facts->sources, loaded.names[k], loaded.columns[k]);
    file->count = loaded.count;
    file->outdated = true; /* how many rows there are, reading them tells */
    file->search = SEARCH_DONE;
    facts->rest = rest;
    return STATUS_OK;
}

static enum status ask_value(struct facts *facts, const struct remote_part *part, struct arena *arena,
                             struct diags *diags)
{
    struct bound *answer = arena_alloc(arena, sizeof *answer);
    const struct name *path = &part->file->path;
    const int64_t began = now_ns();
    *answer = part->bound;
    queue_init(&answer->queue, arena);
    answer->kind = BOUND_CONSTANT;
    const enum status status =
        file_cache_value(facts->env->file_cache, part->reader, path->span, &answer->scalar, diags);
    timing_add(facts->timing, PHASE_MAP, path->text, now_ns() - began, 0);
    part->reader->ops->close(part->reader);
    facts->answer = answer;
    return status;
}

enum status ask_server(struct facts *facts, const struct remote_part *part, struct arena *arena, struct diags *diags)
{
    const size_t stages = part->reader ? part->stages : 0;
    facts->asked = true;
    if (part->pipeline)
        facts->pipeline = facts->rest = part->pipeline;
    if (part->file && stages < facts->pipeline->stage_count && !facts->seeks) {
        facts->stopped = facts->pipeline->stages[stages].span;
        facts->refusal = part->refusal;
    }
    if (!part->reader)
        return facts->seeks ? STATUS_UNABLE : STATUS_OK;
    evaluations_release(&facts->evaluations); /* which the query has taken */
    facts->unordered = part->unordered;
    facts->failing = facts->seeks ? part->reader : NULL;
    return part->reader->ops->value ? ask_value(facts, part, arena, diags) : adopt_rows(facts, part, arena, diags);
}
