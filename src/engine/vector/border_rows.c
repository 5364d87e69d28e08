#include "engine/vector/border_rows.h"

#include "base/integer.h"

#include <string.h>

/* A line of the shape: rows that are next to each other along its last axis. */
struct line {
    const unsigned char *from; /* the neighbours' line */
    size_t size;               /* bytes of an element */
    int64_t length, distance;
    enum border_kind kind;
};

/* How many lines away the neighbours' line is. */
static int64_t lines_away(const struct border *border, int64_t lines, int64_t line)
{
    int64_t away = 0, stride = 1;
    for (size_t a = border->axes - 1; a-- > 1;) {
        const int64_t extent = border->extents[a], index = line % extent;
        away += (border_index(border->kind, index + border->distances[a], extent) - index) * stride;
        line /= extent;
        lines /= extent;
        stride *= extent;
    }
    if (border->axes > 1)
        away += (border_index(border->kind, line + border->distances[0], lines) - line) * stride;
    return away;
}

/* Copies one by one what is beyond the ends; returns the end of these. */
static int64_t copy_beyond(const struct line *line, unsigned char *out, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = border_index(line->kind, i + line->distance, line->length);
        memcpy(out + (size_t)(i - begin) * line->size, line->from + (size_t)from * line->size, line->size);
    }
    return max_int64(begin, end);
}

/* The neighbours of elements begin .. end - 1 of the line. */
static void copy_line(const struct line *line, unsigned char *out, int64_t begin, int64_t end)
{
    const int64_t inner = max_int64(0, -line->distance), outer = line->length - max_int64(0, line->distance);
    int64_t done = copy_beyond(line, out, begin, min_int64(end, inner));
    const int64_t run = min_int64(end, outer) - done;
    out += (size_t)(done - begin) * line->size;
    if (run > 0) {
        memcpy(out, line->from + (size_t)(done + line->distance) * line->size, (size_t)run * line->size);
        done += run;
        out += (size_t)run * line->size;
    }
    copy_beyond(line, out, done, end);
}

/* Where the neighbours of `count` rows, the first one at `place` in line `first`, are one run: how far away it is. */
static bool one_run(const struct border *border, int64_t length, int64_t lines, int64_t first, int64_t place, int count,
                    int64_t *distance)
{
    const int64_t away = lines_away(border, lines, first), along = border->distances[border->axes - 1];
    bool together = along == 0 || (place + along >= 0 && place + max_int64(along, 0) + count <= length);
    *distance = away * length + along;
    for (int64_t line = first + 1, left = place + count - length; left > 0 && together; line++, left -= length)
        together = lines_away(border, lines, line) == away;
    return together;
}

const void *border_rows(const struct column *column, const struct border *border, int64_t row, int count, void *out)
{
    const size_t last = border->axes - 1, size = type_table[column->store].size;
    const int64_t length = last > 0 ? border->extents[last] : column->rows, lines = column->rows / length;
    const unsigned char *data = column->data;
    struct line line = {.size = size, .length = length, .distance = border->distances[last], .kind = border->kind};
    int64_t number = row / length, place = row % length, distance;
    if (one_run(border, length, lines, number, place, count, &distance))
        return data + (size_t)(row + distance) * size;
    unsigned char *to = out;
    for (int64_t done = 0, run; done < count; done += run, number++, place = 0) {
        run = min_int64(length - place, count - done);
        line.from = data + (size_t)((number + lines_away(border, lines, number)) * length) * size;
        copy_line(&line, to, place, place + run);
        to += (size_t)run * size;
    }
    return out;
}
