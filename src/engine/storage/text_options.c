#include "engine/storage/text_options.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

const char *text_options_key(const struct text_options *options, struct arena *arena)
{
    if (!options)
        return NULL;
    const char *all =
        arena_printf(arena, "%d:%lld:%s\n%s\n%d:%d:%d:%d:%d:%d\n", options->skips, (long long)options->skip,
                     or_empty(options->comment), or_empty(options->encoding), options->separator, options->decimal,
                     options->thousands, (int)options->dates, options->ragged, (int)options->errors);
    for (size_t i = 0; i < options->count; i++) {
        const struct stated_type *column = &options->columns[i];
        all = arena_printf(arena, "%s%s:%d:%d:%d\n", all, column->name, (int)column->type, (int)column->logical.kind,
                           column->logical.scale);
    }
    for (size_t i = 0; options->missing && i < options->missing_count; i++)
        all = arena_printf(arena, "%smissing:%s\n", all, options->missing[i]);
    return all;
}
