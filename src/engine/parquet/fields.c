
#include "base/heap.h"
#include "base/utf8.h"
#include "engine/parquet/page.h"
#include "engine/parquet/reader.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

static const char *const problems[LEAF_PROBLEM_COUNT] = {
    [LEAF_TOO_DEEP] = "nested too deep",
    [LEAF_UNSUPPORTED_TYPE] = "of an unsupported type",
    [LEAF_NOT_TEXT] = "of bytes that are not text",
    [LEAF_UNKNOWN_ENCODING] = "in an unknown encoding",
    [LEAF_UNKNOWN_CODEC] = "compressed by an unknown codec",
    [LEAF_ELSEWHERE] = "in another file",
};

/* The walk through the elements of the schema. */
struct walk {
    struct parquet_reader *reader;
    size_t element; /* the next */
    size_t leaf;    /* how many leaves are before it */
    int depth;
};

/* Where an element is. */
struct schema_place {
    struct fields *fields; /* receives its columns, */
    const char *name;      /* by its name there; */
    const char *path;      /* its name in the file */
    bool is_member;        /* the name has levels of structs */
    uint8_t definition, repetition;
    const uint8_t *element_levels; /* as in struct leaf */
};

char *clean_name(struct arena *arena, struct text name)
{
    char *clean = arena_text(arena, name.at, name.length);
    for (size_t i = 0; i < name.length;) {
        uint32_t code;
        const size_t length = name.at[i] ? utf8_decode(name.at + i, name.length - i, &code) : 0;
        if (length == 0)
            clean[i] = '?';
        i += length ? length : 1;
    }
    return clean;
}

static void leave_out(struct walk *walk, enum leaf_problem problem, const char *path)
{
    struct parquet_reader *reader = walk->reader;
    unreadable_add(&reader->base.unreadable, reader->arena, path, problems[problem]);
}

/* What the chunks of a leaf say against reading it. */
static enum leaf_problem check_chunks(const struct parquet_reader *reader, const struct leaf *leaf)
{
    for (size_t i = 0; i < reader->footer.group_count; i++) {
        const struct chunk *chunk = &reader->footer.groups[i].chunks[leaf->index];
        if (chunk->elsewhere)
            return LEAF_ELSEWHERE;
        if (chunk->encodings >> ENCODING_COUNT != 0)
            return LEAF_UNKNOWN_ENCODING;
        if (!page_codec_known(chunk->codec))
            return LEAF_UNKNOWN_CODEC;
    }
    return leaf->binary && !parquet_looks_like_text(reader, leaf) ? LEAF_NOT_TEXT : LEAF_OK;
}

static struct field *add_field(struct walk *walk, const struct schema_place *place)
{
    struct fields *fields = place->fields;
    fields->at = arena_reserve(walk->reader->arena, fields->at, fields->count, &fields->capacity, sizeof *fields->at);
    struct field *field = &fields->at[fields->count++];
    *field = (struct field){.name = place->name, .is_member = place->is_member};
    return field;
}

static void skip_elements(struct walk *walk)
{
    const struct schema_element *elements = walk->reader->footer.elements;
    for (int64_t expected = 1; expected > 0; walk->element++) {
        expected += elements[walk->element].children - 1;
        walk->leaf += elements[walk->element].is_leaf;
    }
}

static void walk_leaf(struct walk *walk, const struct schema_place *place)
{
    struct parquet_reader *reader = walk->reader;
    struct leaf leaf = {.index = walk->leaf,
                        .path = place->path,
                        .definition = place->definition,
                        .repetition = place->repetition,
                        .element_levels = place->element_levels};
    enum leaf_problem problem = leaf_of_element(&reader->footer.elements[walk->element], &leaf);
    skip_elements(walk);
    if (problem == LEAF_OK)
        problem = check_chunks(reader, &leaf);
    if (problem != LEAF_OK) {
        leave_out(walk, problem, place->path);
        return;
    }
    leaf.logical.member = place->is_member;
    reader->leaves[reader->leaf_count] = leaf;
    struct field *field = add_field(walk, place);
    field->leaf = &reader->leaves[reader->leaf_count++];
    field->nullable =
        leaf.definition > 0 && (!leaf.repetition || leaf.definition > leaf.element_levels[leaf.repetition]);
}

static void walk_element(struct walk *walk, const struct schema_place *parent, const char *name);
static void walk_type(struct walk *walk, const struct schema_place *place);

static const char *join(struct arena *arena, const char *path, const char *name)
{
    return *path && *name ? arena_printf(arena, "%s.%s", path, name) : *path ? path : name;
}

/* The elements of lists at this place. */
static struct schema_place enter_list(struct walk *walk, const struct schema_place *place, struct field *field)
{
    struct schema_place inner = *place;
    uint8_t *levels = arena_array(walk->reader->arena, (size_t)place->repetition + 2, sizeof *levels);
    if (place->repetition > 0)
        memcpy(levels, place->element_levels, (size_t)place->repetition + 1);
    inner.fields = &field->elements;
    inner.name = "";
    inner.is_member = false;
    inner.repetition++;
    inner.definition++;
    levels[inner.repetition] = inner.definition;
    inner.element_levels = levels;
    *field = (struct field){.name = place->name,
                            .is_member = place->is_member,
                            .depth = inner.repetition,
                            .definition = inner.definition,
                            .nullable = place->definition > levels[place->repetition]};
    return inner;
}

/* Lists whose elements have columns are one. */
static void leave_list(struct walk *walk, const struct schema_place *place, const struct field *field)
{
    if (field->elements.count > 0)
        *add_field(walk, place) = *field;
}

static void walk_members(struct walk *walk, const struct schema_place *place)
{
    const int32_t count = walk->reader->footer.elements[walk->element++].children;
    for (int32_t i = 0; i < count; i++)
        walk_element(walk, place, NULL);
}

/* A repeated element, which is each element of lists without a group around them. */
static void walk_repeated(struct walk *walk, const struct schema_place *place)
{
    struct field field;
    const struct schema_place inner = enter_list(walk, place, &field);
    walk_type(walk, &inner);
    leave_list(walk, place, &field);
}

static bool is_list_or_map(const struct schema_element *element)
{
    return element->annotation == ANNOTATION_LIST || element->annotation == ANNOTATION_MAP;
}

static bool has_name(const struct schema_element *element, struct text list)
{
    static const char tuple[] = "_tuple";
    const struct text name = element->name;
    return text_is(name, "array") ||
           (name.length == list.length + strlen(tuple) && memcmp(name.at, list.at, list.length) == 0 &&
            memcmp(name.at + list.length, tuple, strlen(tuple)) == 0);
}

/* Whether the repeated element of lists is a level of its own, in which the true element is: some writers left it out.
 * The rules are those of LogicalTypes.md. */
static bool is_wrapper(const struct schema_element *group)
{
    const struct schema_element *repeated = group + 1, *child = group + 2;
    return !repeated->is_leaf && repeated->children == 1 && child->repetition != REPETITION_REPEATED &&
           !is_list_or_map(repeated) && !has_name(repeated, group->name);
}

/* The group around lists: of one repeated element. */
static void walk_list(struct walk *walk, const struct schema_place *place)
{
    const struct schema_element *group = &walk->reader->footer.elements[walk->element++];
    struct field field;
    const struct schema_place inner = enter_list(walk, place, &field);
    if (is_wrapper(group)) {
        walk->element++;
        walk_element(walk, &inner, "");
    } else {
        walk_type(walk, &inner);
    }
    leave_list(walk, place, &field);
}

static void walk_map(struct walk *walk, const struct schema_place *place)
{
    struct field field;
    const struct schema_place inner = enter_list(walk, place, &field);
    field.is_map = true;
    walk->element += 2;
    walk_element(walk, &inner, "key");
    walk_element(walk, &inner, "value");
    leave_list(walk, place, &field);
}

/* The element at hand, whose repetition `place` has. */
static void walk_type(struct walk *walk, const struct schema_place *place)
{
    const struct schema_element *element = &walk->reader->footer.elements[walk->element];
    if (walk->depth > MAX_DEPTH) {
        leave_out(walk, LEAF_TOO_DEEP, place->path);
        skip_elements(walk);
        return;
    }
    walk->depth++;
    const bool is_around =
        is_list_or_map(element) && element->children == 1 && element[1].repetition == REPETITION_REPEATED;
    const bool has_pairs =
        is_around && element->annotation == ANNOTATION_MAP && !element[1].is_leaf && element[1].children == 2;
    if (element->is_leaf)
        walk_leaf(walk, place);
    else if (has_pairs)
        walk_map(walk, place);
    else if (is_around)
        walk_list(walk, place);
    else
        walk_members(walk, place);
    walk->depth--;
}

/* The element at hand, within `parent`. `name`: instead of its own. */
static void walk_element(struct walk *walk, const struct schema_place *parent, const char *name)
{
    const struct schema_element *element = &walk->reader->footer.elements[walk->element];
    struct schema_place place = *parent;
    if (!name)
        name = clean_name(walk->reader->arena, element->name);
    place.is_member = *parent->name && *name;
    place.name = join(walk->reader->arena, parent->name, name);
    place.path = join(walk->reader->arena, parent->path, name);
    if (element->repetition == REPETITION_OPTIONAL)
        place.definition++;
    if (element->repetition == REPETITION_REPEATED)
        walk_repeated(walk, &place);
    else
        walk_type(walk, &place);
}

/* Of several columns with one name, the second gets `_2`. */
static void number_names(struct arena *arena, struct fields *fields)
{
    struct interner *names = interner_new();
    size_t *uses = heap_array(2 * fields->count + 1, sizeof *uses);
    for (size_t k = 0; k < fields->count; k++) {
        const char *name = fields->at[k].name;
        const int64_t before = interner_count(names);
        const uint32_t number = interner_add(names, (struct text){name, strlen(name)});
        for (bool taken = number < before; taken; taken = interner_count(names) == before) {
            fields->at[k].name = arena_printf(arena, "%s_%zu", name, ++uses[number] + 1);
            interner_add(names, (struct text){fields->at[k].name, strlen(fields->at[k].name)});
        }
        number_names(arena, &fields->at[k].elements);
    }
    free(uses);
    interner_free(names);
}

void fields_find(struct parquet_reader *reader)
{
    struct walk walk = {.reader = reader};
    const struct schema_place root = {.fields = &reader->fields, .name = "", .path = ""};
    reader->leaves = arena_array(reader->arena, reader->footer.element_count, sizeof *reader->leaves);
    walk_members(&walk, &root);
    number_names(reader->arena, &reader->fields);
}
