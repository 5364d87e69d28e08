#include "engine/backend/streamed_scan.h"

#include "engine/storage/mapped_file.h"

#include "base/integer.h"

/* The size of a range, where memory is much larger. */
enum { ROW_UNIT = 4096, RANGE_BYTES = 16 << 20 };

struct stream_column {
    struct mapping *mapping;
    int64_t offset; /* in the mapping, of the task's row 0 */
    int64_t size;   /* of an element */
};

static bool *inputs_read(const struct task *task, struct arena *arena)
{
    const bool *live = task_live(task, arena);
    bool *read = arena_array(arena, task->input_count + 1, sizeof *read);
    for (value v = 0; v < task->code.count; v++) {
        if (live[v] && task->code.at[v].op == OP_INPUT)
            read[task->code.at[v].integer] = true;
    }
    return read;
}

static bool is_file_column(const struct column *column)
{
    return column && column->mapping && column->data;
}

/* A column may be read under two names. */
static bool has_column(const struct streamed_scan *stream, const struct stream_column *column)
{
    for (size_t i = 0; i < stream->count; i++) {
        if (stream->columns[i].mapping == column->mapping && stream->columns[i].offset == column->offset)
            return true;
    }
    return false;
}

static int64_t row_bytes(const struct streamed_scan *stream)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < stream->count; i++)
        bytes += stream->columns[i].size;
    return bytes;
}

bool streamed_scan_open(struct streamed_scan *stream, const struct task *task, struct column *const *columns,
                        int64_t begin, int64_t end, int64_t memory, struct arena *arena)
{
    const bool *read = inputs_read(task, arena);
    *stream =
        (struct streamed_scan){.columns = arena_array(arena, task->input_count + 1, sizeof(struct stream_column))};
    for (size_t k = 0; k < task->input_count; k++) {
        if (!read[k] || task->inputs[k].whole || !is_file_column(columns[k]))
            continue;
        const int64_t size = (int64_t)type_table[columns[k]->store].size;
        const char *base = mapping_data(columns[k]->mapping);
        struct stream_column column = {.mapping = columns[k]->mapping,
                                       .offset = (const char *)columns[k]->data - base + task->first * size,
                                       .size = size};
        if (!has_column(stream, &column))
            stream->columns[stream->count++] = column;
    }
    const int64_t bytes = row_bytes(stream);
    if (bytes == 0 || end - begin <= memory / 2 / bytes)
        return false;
    const int64_t rows = min_int64(RANGE_BYTES, memory / 8) / bytes / ROW_UNIT * ROW_UNIT;
    stream->rows = rows > 0 ? rows : ROW_UNIT;
    stream->kept = begin + memory / 4 / bytes;
    stream->released = stream->kept;
    return true;
}

void streamed_scan_release(struct streamed_scan *stream, int64_t end)
{
    end -= stream->rows;
    if (end <= stream->released)
        return;
    for (size_t i = 0; i < stream->count; i++) {
        const struct stream_column *column = &stream->columns[i];
        mapping_drop_pages(column->mapping, (size_t)(column->offset + stream->released * column->size),
                           (size_t)((end - stream->released) * column->size));
    }
    stream->released = end;
}
