#include "engine/storage/shape.h"

#include "base/text.h"

#include <string.h>

bool shape_is_set(const struct shape *shape)
{
    return shape->axes > 0;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    bool equal = a->axes == b->axes;
    for (int i = 0; i < a->axes && equal; i++)
        equal = a->extents[i] == b->extents[i] && same_word(a->names[i], b->names[i]);
    return equal;
}

bool shape_find(const struct shape *shape, const char *name, size_t *axis)
{
    for (size_t i = 0; i < MOST_AXES; i++) {
        if (shape->names[i] && strcmp(shape->names[i], name) == 0) {
            *axis = i;
            return true;
        }
    }
    return false;
}

struct lines shape_lines(const struct shape *shape, size_t axis)
{
    struct lines lines = {1, shape->extents[axis], 1};
    for (size_t i = 0; (int)i < shape->axes; i++) {
        if (i < axis)
            lines.outer *= shape->extents[i];
        if (i > axis)
            lines.inner *= shape->extents[i];
    }
    return lines;
}

struct shape shape_without(const struct shape *shape, size_t axis)
{
    struct shape less = {0};
    for (size_t i = 0; (int)i < shape->axes && shape->axes > 2; i++) {
        if (i == axis)
            continue;
        less.extents[less.axes] = shape->extents[i];
        less.names[less.axes++] = shape->names[i];
    }
    return less;
}

struct shape shape_copy(const struct shape *shape, struct arena *arena)
{
    struct shape copy = *shape;
    for (size_t i = 0; i < MOST_AXES; i++) {
        if (shape->names[i])
            copy.names[i] = arena_text(arena, shape->names[i], strlen(shape->names[i]));
    }
    return copy;
}

const char *shape_text(const struct shape *shape, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < shape->axes; i++) {
        const char *name = shape->names[i];
        text = arena_printf(arena, "%s%s%s%s%lld", text, i > 0 ? " by " : "", name ? name : "", name ? " " : "",
                            (long long)shape->extents[i]);
    }
    return text;
}
