#include "cl/operators/first_rows.h"

#include "cl/codegen/template.h"

#include "base/heap.h"

#include <stdlib.h>

extern const char kernel_images[], kernel_peek[], kernel_firsts[], kernel_slot_place[], kernel_slot_hash[];

enum { FIND, EMPTY, TALLY, LIST, NUMBER, KERNELS };

/* A table of places is used as long as it is not much larger than one of rows would be. */
static bool has_places(const struct keyset *keyset, int64_t rows)
{
    enum { FEW = 1 << 16 };
    return keyset->places > 0 && (keyset->places <= FEW || keyset->places <= 2 * (uint64_t)rows);
}

/* At most half full, so that what is looked for is near. */
static uint64_t table_size(const struct keyset *keyset, int64_t rows)
{
    uint64_t size = 1024;

    if (has_places(keyset, rows))
        return keyset->places;
    while (size < 2 * (uint64_t)rows)
        size *= 2;
    return size;
}

static const char *firsts_text(const struct keyset *keyset, int64_t rows, const struct shape *shape,
                               struct arena *arena)
{
    const struct place_text place = keyset_place_text(keyset, arena);
    const struct images_text images = keyset_images_text(keyset, arena);
    const struct part slot_parts[] = {
        {"place", place.place}, {"images", images.images}, {"hash", images.hash}, {"same", images.same}, {0},
    };
    struct strbuf slot = {0}, text = {0};

    splice(&slot, has_places(keyset, rows) ? kernel_slot_place : kernel_slot_hash, slot_parts);
    const struct part parts[] = {
        {"group", arena_printf(arena, "%zu", shape->group)},
        {"each", walk_loop(shape)},
        {"parameters", place.parameters},
        {"prologue", place.prologue},
        {"slot", slot.text},
        {"space", "global"},
        {"peek", walk_peek(shape)},
        {0},
    };
    strbuf_puts(&text, kernel_images);
    splice(&text, kernel_peek, parts);
    splice(&text, kernel_firsts, parts);
    const char *kept = arena_text(arena, text.text, text.length);
    strbuf_free(&slot);
    strbuf_free(&text);
    return kept;
}

static void run_find(struct firsts *firsts, const struct keyset *keyset, uint64_t size)
{
    struct tool *tool = &firsts->tool;
    struct arguments empty = {.arena = tool->job->diags->arena}, find = empty;
    int64_t rows = tool->job->rows;

    argument_buffer(&empty, firsts->table);
    walk(tool, EMPTY, &empty, (int64_t)size, walk_groups(tool->accelerator, (int64_t)size), "empty", sizeof(cl_uint));
    keyset_arguments(keyset, tool, &find);
    argument_buffer(&find, firsts->table);
    argument_uint(&find, size - 1);
    argument_buffer(&find, firsts->slots);
    walk(tool, FIND, &find, rows, walk_groups(tool->accelerator, rows), "find",
         keyset_bytes(keyset) + (int64_t)sizeof(cl_uint));
}

/* Turns counts into where each begins; gives their sum. */
static int64_t starts_of(cl_uint *counts, size_t count)
{
    cl_uint sum = 0;

    for (size_t k = 0; k < count; k++) {
        cl_uint own = counts[k];
        counts[k] = sum;
        sum += own;
    }
    return sum;
}

/* Makes room for the list. */
static bool make_rows(struct firsts *firsts)
{
    struct tool *tool = &firsts->tool;

    firsts->rows = column_reserve(TYPE_U32, TYPE_U32, firsts->count);
    tool->unable = !firsts->rows;
    return firsts->rows && memory_output(tool->accelerator->memory, firsts->rows, 0, firsts->count, &firsts->listed);
}

/* Counts the first rows of each tile, then lists them. */
static void run_list(struct firsts *firsts, int64_t most)
{
    enum { SHARE = 16 }; /* rows of a work-item of many: they lie in one line of the cache */
    struct tool *tool = &firsts->tool;
    const struct shape *shape = tool->accelerator->shape;
    struct arguments arguments = {.arena = tool->job->diags->arena};
    int64_t rows = tool->job->rows, bytes = rows * 2 * (int64_t)sizeof(cl_uint);
    size_t items = walk_groups(tool->accelerator, rows), share = ((size_t)rows + items - 1) / items;

    if (!shape->chunks) {
        share = SHARE;
        items = ((size_t)rows + share - 1) / share;
    }
    size_t groups = (items + shape->group - 1) / shape->group;
    cl_uint *counts = heap_array(groups, sizeof *counts);
    cl_mem tiles = tool_buffer(tool, groups * sizeof *counts);
    argument_buffer(&arguments, firsts->table);
    argument_buffer(&arguments, firsts->slots);
    argument_buffer(&arguments, tiles);
    struct arguments list = arguments;
    list.at = arena_grow(arguments.arena, list.at, list.count, list.capacity, sizeof *list.at);
    argument_ulong(&arguments, (uint64_t)rows);
    argument_ulong(&arguments, share);
    tool_run(tool, TALLY, groups, shape->group, arguments.at, arguments.count, "count", bytes);
    tool_read(tool, tiles, 0, groups * sizeof *counts, counts);
    firsts->count = tool_stopped(tool) ? 0 : starts_of(counts, groups);
    tool_write(tool, tiles, 0, groups * sizeof *counts, counts);
    free(counts);
    if (firsts->count > most)
        tool->unable = true;
    if (tool_stopped(tool) || !make_rows(firsts))
        return;
    argument_buffer(&list, firsts->listed.buffer);
    argument_ulong(&list, firsts->listed.first);
    argument_ulong(&list, (uint64_t)rows);
    argument_ulong(&list, share);
    tool_run(tool, LIST, groups, shape->group, list.at, list.count, "list", bytes);
    if (!tool_stopped(tool))
        memory_fetch(tool->accelerator->memory, firsts->rows, 0, firsts->count, &firsts->listed, tool->job->timing);
    column_finish(firsts->rows, firsts->count);
}

void firsts_find(struct firsts *firsts, struct accelerator *accelerator, const struct break_job *job,
                 const struct keyset *keyset, int64_t most)
{
    static const char *const names[KERNELS] = {
        [FIND] = "find", [EMPTY] = "empty", [TALLY] = "tally", [LIST] = "list", [NUMBER] = "number",
    };
    const char *text = firsts_text(keyset, job->rows, accelerator->shape, job->diags->arena);
    uint64_t size = table_size(keyset, job->rows);

    *firsts = (struct firsts){.tool = tool_begin(accelerator, job, text, names, KERNELS)};
    if (size * sizeof(cl_uint) > accelerator->device.largest_buffer) {
        firsts->tool.unable = true;
        return;
    }
    firsts->table = tool_buffer(&firsts->tool, size * sizeof(cl_uint));
    firsts->slots = tool_buffer(&firsts->tool, (size_t)job->rows * sizeof(cl_uint));
    run_find(firsts, keyset, size);
    run_list(firsts, most);
}

void firsts_number(struct firsts *firsts)
{
    struct tool *tool = &firsts->tool;
    struct arguments arguments = {.arena = tool->job->diags->arena};

    argument_buffer(&arguments, firsts->table);
    argument_buffer(&arguments, firsts->slots);
    argument_buffer(&arguments, firsts->listed.buffer);
    argument_ulong(&arguments, firsts->listed.first);
    walk(tool, NUMBER, &arguments, firsts->count, walk_groups(tool->accelerator, firsts->count), "number",
         3 * (int64_t)sizeof(cl_uint));
}

enum status firsts_end(struct firsts *firsts)
{
    column_unref(firsts->rows);
    firsts->rows = NULL;
    return tool_end(&firsts->tool);
}
