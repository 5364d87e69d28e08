#include "engine/storage/nesting.h"

#include "engine/storage/list_store.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { MAX_LEVELS = 64, AT_ONCE = 1 << 20 };

/* The state of building the fields of one relation. */
struct building {
    struct arena *arena;
    struct interner *names;   /* of columns */
    struct interner *structs; /* paths of structs that columns say to be in, */
    int64_t count;            /* of these, */
    struct nest **nests;      /* and they, or NULL before they are there */
};

static void build(struct arena *arena, const struct relation *relation, bool all_members, struct nest *root);

static bool knows(struct interner *interner, struct text text)
{
    const int64_t before = interner_count(interner);
    return interner_add(interner, text) < before;
}

/* Whether the first `length` bytes of a name can be those of a struct: no column has that name. The interner of names
 * may grow by it, behind those of columns. */
static bool is_free(const struct building *building, int64_t columns, const char *name, size_t length)
{
    return interner_add(building->names, (struct text){name, length}) >= columns;
}

static struct nest *add_field(struct building *building, struct nest *parent, const char *name)
{
    struct nest *field = ARENA_NEW(building->arena, struct nest, .name = name);
    if (parent->last)
        parent->last->next = field;
    else
        parent->first = field;
    parent->last = field;
    parent->count++;
    return field;
}

/* Finds the structs that members are in. */
static void find_structs(struct building *building, const struct relation *relation, bool all_members)
{
    for (size_t k = 0; k < relation->count; k++) {
        const char *name = relation->names[k];
        int levels = 0;
        for (size_t i = 0; (all_members || relation->columns[k]->logical.member) && name[i]; i++) {
            if (name[i] == '.' && (levels++ == MAX_LEVELS || !is_free(building, (int64_t)relation->count, name, i)))
                break;
            if (name[i] == '.')
                (void)knows(building->structs, (struct text){name, i});
        }
    }
    building->count = interner_count(building->structs); /* looking for others adds them */
    building->nests = arena_array(building->arena, (size_t)building->count + 1, sizeof(struct nest *));
}

/* The struct that a column is in, and what of its name is left. */
static struct nest *enter(struct building *building, struct nest *root, const char **name)
{
    const char *begin = *name;
    for (size_t i = 0; begin[i]; i++) {
        if (begin[i] != '.')
            continue;
        const uint32_t number = interner_add(building->structs, (struct text){begin, i});
        if (number >= building->count)
            break;
        if (!building->nests[number])
            building->nests[number] =
                add_field(building, root, arena_text(building->arena, *name, (size_t)(begin + i - *name)));
        root = building->nests[number];
        *name = begin + i + 1;
    }
    return root;
}

static void set_present(struct building *building, struct nest *nest, int64_t rows)
{
    uint8_t *present = NULL;
    for (const struct nest *field = nest->first; field; field = field->next) {
        if (!nest_is_nullable(field))
            return;
    }
    present = arena_array(building->arena, (size_t)rows + 1, 1);
    for (const struct nest *field = nest->first; field; field = field->next) {
        const uint8_t *some = field->column ? field->column->validity->data : field->present;
        for (int64_t row = 0; row < rows; row++)
            present[row] |= some[row];
    }
    nest->present = present;
}

/* From the inner structs to the outer ones. */
static void set_all_present(struct building *building, struct nest *nest, int64_t rows)
{
    for (struct nest *field = nest->first; field; field = field->next) {
        if (field->column)
            continue;
        set_all_present(building, field, rows);
        set_present(building, field, rows);
    }
}

static void add_column(struct building *building, struct nest *root, const struct column *column, const char *name)
{
    struct nest *parent = enter(building, root, &name);
    struct nest *field = add_field(building, parent, arena_text(building->arena, name, strlen(name)));
    field->column = column;
    field->is_list = column->logical.kind == LOGICAL_LIST;
    if (!field->is_list)
        return;
    const struct list_store *store = column->logical.lists;
    field->is_map = store->is_map;
    build(building->arena, store->elements, true, field);
    /* A map's keys are there. */
    if (field->is_map && (field->count != 2 || nest_is_nullable(field->first)))
        field->is_map = false;
}

static void build(struct arena *arena, const struct relation *relation, bool all_members, struct nest *root)
{
    struct building building = {.arena = arena, .names = interner_new(), .structs = interner_new()};
    for (size_t k = 0; k < relation->count; k++)
        (void)knows(building.names, (struct text){relation->names[k], strlen(relation->names[k])});
    find_structs(&building, relation, all_members);
    for (size_t k = 0; k < relation->count; k++)
        add_column(&building, root, relation->columns[k], relation->names[k]);
    set_all_present(&building, root, relation->rows);
    if (root->column && !nest_elements_are_plain(root))
        set_present(&building, root, relation->rows);
    interner_free(building.names);
    interner_free(building.structs);
}

static void number_leaves(struct nest *nest, size_t *leaves)
{
    if (nest->column && !nest->is_list)
        nest->leaf = (*leaves)++;
    for (struct nest *field = nest->first; field; field = field->next)
        number_leaves(field, leaves);
}

struct nest *nest_of_relation(const struct relation *relation, struct arena *arena, size_t *leaves)
{
    struct nest *root = ARENA_NEW(arena, struct nest, .name = "");
    build(arena, relation, false, root);
    *leaves = 0;
    number_leaves(root, leaves);
    return root;
}

bool nest_is_nullable(const struct nest *nest)
{
    const void *flags = nest->present;
    if (nest->column)
        flags = nest->column->validity;
    return flags;
}

bool nest_elements_are_plain(const struct nest *list)
{
    return list->count == 1 && *list->first->name == '\0';
}

struct column *nest_take(const struct column *column, const int64_t *rows, int64_t count)
{
    struct column *taken = column_reserve(column->type, column->store, count);
    for (int64_t begin = 0; taken && begin < count; begin += AT_ONCE) {
        const int64_t some = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        column_gather(column, (const uint64_t *)rows + begin, (int)some, column_at(taken, begin));
    }
    if (taken) {
        column_finish(taken, count);
        column_set_logical(taken, column->logical);
    }
    return taken;
}
