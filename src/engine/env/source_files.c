/* Opening the files of sources. */
#include "engine/env/sources.h"

#include "engine/formats/file_list.h"

enum status source_load_files(struct sources *sources, struct source_file *file, const struct env *env,
                              const struct load_options *options, struct timing *timing, struct diags *diags)
{
    struct loaded loaded = {0};
    const struct name *path = &file->path;
    const int64_t began = now_ns();
    const enum status status = file_cache_load(env->file_cache, path->text, path->span, options, &loaded, diags);
    if (status != STATUS_OK)
        return status;
    timing_add(timing, PHASE_MAP, path->text, now_ns() - began, 0);
    file->columns = arena_array(diags->arena, loaded.count + 1, sizeof *file->columns);
    for (size_t i = 0; i < loaded.count; i++)
        file->columns[i] = source_column(sources, loaded.names[i], loaded.columns[i]);
    file->count = loaded.count;
    file->unreadable = loaded.unreadable;
    file->shape = loaded.shape;
    file->known = true;
    file->list = loaded.list;
    file->options = options;
    file->listed = loaded.listed;
    file->list_count = loaded.list ? loaded.list->count : 0;
    file->opened = loaded.listed ? 1 : file->list_count;
    return STATUS_OK;
}

enum status source_open(struct sources *sources, struct source_file *file, const struct env *env, const bool *chosen,
                        struct timing *timing, struct diags *diags)
{
    struct load_options *options = arena_alloc(diags->arena, sizeof *options);
    *options = (struct load_options){
        .format = file->options->format, .text = file->options->text, .list = file->list, .chosen = chosen};
    for (size_t k = 0; k < file->count; k++)
        column_unref(file->columns[k].column);
    file->count = 0;
    const enum status status = source_load_files(sources, file, env, options, timing, diags);
    for (size_t f = 0; status == STATUS_OK && chosen && f < file->list_count; f++)
        file->opened -= !chosen[f];
    return status;
}

bool sources_listed(const struct sources *sources)
{
    bool listed = false;
    for (size_t i = 0; i < sources->count; i++)
        listed = listed || sources->files[i].listed;
    return listed;
}

bool source_leaves_out(const struct source_file *file)
{
    return file->list && (file->listed || file->opened < file->list_count);
}
