#include "engine/formats/row_formats.h"

#include "base/heap.h"
#include "base/text.h"
#include "engine/text/key_index.h"

#include <stdlib.h>
#include <string.h>

/* A tree of fields: columns, and objects with fields of their own. The first object is the row. */
struct item {
    size_t next; /* of the same object, + 1; 0: none */
    size_t column, object;
    bool is_object;
};

struct object {
    size_t first, last; /* items, + 1 */
    size_t value;       /* the column of the same name, NO_VALUE: none */
    const char *name;   /* its last level, */
    size_t length;
};

struct tree {
    struct arena *arena;
    struct key_index *objects; /* by path; object k + 1 */
    struct object *at;
    struct item *items;
    size_t item_count, object_capacity, item_capacity;
};

#define NO_VALUE SIZE_MAX

static void add_item(struct tree *tree, size_t object, struct item item)
{
    *ARENA_PUSH(tree->arena, tree->items, tree->item_count, tree->item_capacity) = item;
    struct object *of = &tree->at[object];
    if (of->last)
        tree->items[of->last - 1].next = tree->item_count;
    else
        of->first = tree->item_count;
    of->last = tree->item_count;
}

static size_t add_object(struct tree *tree, struct text path, size_t from)
{
    const size_t count = tree->objects ? key_index_count(tree->objects) + 1 : 0;
    tree->at = arena_reserve(tree->arena, tree->at, count, &tree->object_capacity, sizeof *tree->at);
    tree->at[count] = (struct object){.value = NO_VALUE, .name = path.at + from, .length = path.length - from};
    if (tree->objects)
        key_index_add(tree->objects, path);
    return count;
}

/* The object of a path within `parent`, whose own path has `from` bytes with its point. */
static size_t object_of(struct tree *tree, size_t parent, struct text path, size_t from)
{
    const size_t found = key_index_find(tree->objects, path);
    if (found < key_index_count(tree->objects))
        return found + 1;
    const size_t added = add_object(tree, path, from);
    add_item(tree, parent, (struct item){.object = added, .is_object = true});
    return added;
}

/* The columns whose points are levels: those that say so, and others that begin as one of them. */
static bool *find_members(const struct relation *relation, struct arena *arena)
{
    bool *members = arena_array(arena, relation->count + 1, sizeof *members);
    struct key_index *names = key_index_new(arena);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < relation->count; k++) {
            const char *name = relation->names[k], *point = strchr(name, '.');
            if (!point || point == name)
                continue;
            const struct text first = {name, (size_t)(point - name)};
            const bool known = key_index_find(names, first) < key_index_count(names);
            members[k] = relation->columns[k]->logical.member || (pass == 1 && known);
            if (members[k] && !known)
                key_index_add(names, first);
        }
    }
    return members;
}

static struct tree tree_of(const struct relation *relation, struct arena *arena)
{
    struct tree tree = {.arena = arena};
    const bool *members = find_members(relation, arena);
    (void)add_object(&tree, (struct text){"", 0}, 0);
    tree.objects = key_index_new(arena);
    for (size_t k = 0; k < relation->count; k++) {
        const char *name = relation->names[k];
        size_t object = 0, from = 0;
        for (const char *point = name; members[k] && (point = strchr(point, '.')); point++) {
            object = object_of(&tree, object, (struct text){name, (size_t)(point - name)}, from);
            from = (size_t)(point - name) + 1;
        }
        add_item(&tree, object, (struct item){.column = k});
    }
    for (size_t i = 0; i < tree.item_count; i++) {
        const char *name = relation->names[tree.items[i].column];
        const size_t found = key_index_find(tree.objects, (struct text){name, strlen(name)});
        if (!tree.items[i].is_object && found < key_index_count(tree.objects))
            tree.at[found + 1].value = tree.items[i].column;
    }
    return tree;
}

/* Writing the tree into a frame. */
struct filler {
    struct frame *frame;
    const struct relation *relation;
    const struct tree *tree;
    struct strbuf before; /* since the last value */
};

static void fill_key(struct filler *filler, const char *name, size_t length, bool first)
{
    strbuf_puts(&filler->before, first ? "{\"" : ",\"");
    strbuf_add_json(&filler->before, name, length);
    strbuf_puts(&filler->before, "\":");
}

/* Returns the braces that close it, and those within it at its end. */
static size_t fill_object(struct filler *filler, size_t object)
{
    struct frame *frame = filler->frame;
    const struct tree *tree = filler->tree;
    size_t braces = 0;
    bool first = true;
    for (size_t i = tree->at[object].first; i > 0; i = tree->items[i - 1].next) {
        const struct item *item = &tree->items[i - 1];
        const char *name = filler->relation->names[item->column], *point = strrchr(name, '.');
        if (item->is_object) {
            const struct object *inner = &tree->at[item->object];
            fill_key(filler, inner->name, inner->length, first);
            const size_t group = frame->group_count++;
            frame->groups[group] =
                (struct frame_group){.begin = frame->used, .before = filler->before.length, .value = inner->value};
            braces = frame->groups[group].braces = fill_object(filler, item->object);
            frame->groups[group].end = frame->used;
        } else {
            const struct text whole = {name, strlen(name)};
            const size_t named = key_index_find(tree->objects, whole);
            if (named < key_index_count(tree->objects))
                continue; /* written as the object is */
            name = object > 0 ? point + 1 : name;
            fill_key(filler, name, strlen(name), first);
            strbuf_add(&frame->before[frame->used], filler->before.text, filler->before.length);
            strbuf_clear(&filler->before);
            frame->order[frame->used++] = item->column;
            braces = 0;
        }
        first = false;
    }
    if (object > 0)
        strbuf_putc(&filler->before, '}');
    return braces + (object > 0);
}

void json_fill_objects(struct frame *frame, const struct relation *relation, const char *separator)
{
    struct arena *arena = arena_new();
    const struct tree tree = tree_of(relation, arena);
    struct filler filler = {.frame = frame, .relation = relation, .tree = &tree};
    frame->separator = strlen(separator);
    frame->order = heap_array(relation->count, sizeof *frame->order);
    frame->groups = heap_array(key_index_count(tree.objects), sizeof *frame->groups);
    strbuf_puts(&filler.before, separator);
    (void)fill_object(&filler, 0);
    if (filler.before.length > 0)
        strbuf_add(&frame->after, filler.before.text, filler.before.length);
    strbuf_free(&filler.before);
    arena_free(arena);
}

bool frame_group_is_missing(const struct frame *frame, const struct frame_group *group, const struct relation *relation,
                            int64_t row)
{
    bool missing = true;
    for (size_t i = group->begin; i < group->end && missing; i++)
        missing = column_is_missing(relation->columns[frame->order[i]], row);
    const struct frame_group *last = frame->groups + frame->group_count;
    for (const struct frame_group *inner = group + 1; inner < last && inner->begin < group->end && missing; inner++)
        missing = inner->value == NO_VALUE || column_is_missing(relation->columns[inner->value], row);
    return missing;
}

enum status json_check_objects(const struct relation *relation, struct span span, struct diags *diags)
{
    struct frame frame = {.before = heap_array(relation->count, sizeof *frame.before), .columns = relation->count};
    enum status status = STATUS_OK;
    json_fill_objects(&frame, relation, "");
    for (size_t g = 0; g < frame.group_count && status == STATUS_OK; g++) {
        const struct frame_group *group = &frame.groups[g];
        for (int64_t row = 0; group->value != NO_VALUE && row < relation->rows && status == STATUS_OK; row++) {
            if (!column_is_missing(relation->columns[group->value], row) &&
                !frame_group_is_missing(&frame, group, relation, row))
                status =
                    diag_error_hint(diags, span, "`rename` or `drop` the column",
                                    "row %lld has a value of `%s` and of its fields, too, of which JSON can have one",
                                    (long long)row, relation->names[group->value]);
        }
    }
    frame_free(&frame);
    return status;
}
