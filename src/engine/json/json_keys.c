#include "engine/json/json_keys.h"

#include "engine/json/json.h"
#include "engine/text/classify.h"

struct json_keys *json_keys_new(struct arena *arena)
{
    struct json_keys *keys = ARENA_NEW(arena, struct json_keys, .arena = arena, .count = 1);
    keys->nodes = arena_reserve(arena, NULL, 0, &keys->capacity, sizeof *keys->nodes);
    keys->nodes[0] = (struct json_node){.name = "", .column = NO_COLUMN, .list = NO_COLUMN};
    return keys;
}

static size_t add_node(struct json_keys *keys, size_t parent, struct cell key, const char *name)
{
    keys->nodes = arena_reserve(keys->arena, keys->nodes, keys->count, &keys->capacity, sizeof *keys->nodes);
    keys->nodes[keys->count] = (struct json_node){.key = key,
                                                  .name = name,
                                                  .parent = parent,
                                                  .level = keys->nodes[parent].level + 1,
                                                  .column = NO_COLUMN,
                                                  .list = NO_COLUMN};
    keys->learned++;
    return keys->count++;
}

/* What learns from a record. */
struct learner {
    struct json_keys *keys;
    const struct table *table;
    struct strbuf scratch;
};

/* The node of a key, new if need be; 0: there are too many. */
static size_t field_of(struct learner *learner, size_t node, struct cell key, size_t *guess)
{
    struct json_keys *keys = learner->keys;
    const struct dialect *dialect = learner->table->dialect;
    const size_t found = json_field(keys, node, key, guess, dialect, &learner->scratch);
    if (found || keys->count > MAX_COLUMNS)
        return found;
    struct json_fields *fields = keys->nodes[node].fields;
    const struct text text = cell_text(dialect, key, &learner->scratch);
    const char *name = arena_text(keys->arena, text.at, text.length);
    key_index_add(fields->index, (struct text){name, text.length});
    fields->nodes = arena_reserve(keys->arena, fields->nodes, fields->count, &fields->capacity, sizeof *fields->nodes);
    const size_t added = add_node(keys, node, key, name);
    fields->nodes[fields->count++] = added;
    return added;
}

static const char *learn_value(struct learner *learner, size_t node, const char *at, const char *end);

static const char *learn_object(struct learner *learner, size_t node, const char *at, const char *end)
{
    struct json_keys *keys = learner->keys;
    size_t guess = 0;
    if (!keys->nodes[node].fields) {
        struct json_fields *fields = ARENA_NEW(keys->arena, struct json_fields, .index = key_index_new(keys->arena));
        keys->nodes[node].fields = fields;
        keys->learned++;
    }
    at = json_enter(at, end);
    bool more = at == end || *at != '}';
    at += !more;
    while (at && more) {
        struct cell key;
        at = json_key(at, end, &key);
        const size_t field = at ? field_of(learner, node, key, &guess) : 0;
        if (at)
            at = field ? learn_value(learner, field, at, end) : json_skip_value(at, end);
        at = at ? json_next(at, end, '}', &more) : NULL;
    }
    return at;
}

static const char *learn_array(struct learner *learner, size_t node, const char *at, const char *end)
{
    struct json_keys *keys = learner->keys;
    size_t elements = keys->nodes[node].elements;
    if (!elements) {
        elements = add_node(keys, node, (struct cell){0}, "");
        keys->nodes[node].elements = elements;
    }
    at = json_enter(at, end);
    bool more = at == end || *at != ']';
    at += !more;
    while (at && more) {
        at = learn_value(learner, elements, at, end);
        at = at ? json_next(at, end, ']', &more) : NULL;
    }
    return at;
}

static const char *learn_value(struct learner *learner, size_t node, const char *at, const char *end)
{
    struct cell cell;
    const bool shallow = learner->keys->nodes[node].level < JSON_LEVELS;
    const char **nested = &learner->keys->nodes[node].nested, **object = &learner->keys->nodes[node].object;
    if (at < end && (*at == '{' || *at == '[') && (!*nested || at < *nested))
        *nested = at;
    if (at < end && *at == '{' && (!*object || at < *object))
        *object = at;
    if (at < end && *at == '{' && shallow)
        return learn_object(learner, node, at, end);
    if (at < end && *at == '[' && shallow)
        return learn_array(learner, node, at, end);
    at = json_scan(at, end, &cell);
    if (!at)
        return NULL;
    struct evidence *evidence = &learner->keys->nodes[node].evidence;
    learner->keys->learned += !evidence_has_values(evidence);
    evidence_add(evidence, classify(learner->table, cell), cell.at);
    learner->keys->learned -= !evidence_has_values(evidence);
    return at;
}

const char *json_learn(struct json_keys *keys, const struct table *table, const char *at, const char *end)
{
    struct learner learner = {.keys = keys, .table = table};
    at = json_skip_blank(at, end);
    at = at < end && *at == '{' ? learn_object(&learner, 0, at, end) : NULL;
    strbuf_free(&learner.scratch);
    return at;
}

/* Making columns. */
struct maker {
    struct json_keys *keys;
    struct table *table;
    size_t capacity, list, space; /* of the columns */
};

static struct table_column *add_column(struct maker *maker, size_t node, const char *name, bool member)
{
    struct table *table = maker->table;
    struct arena *arena = maker->keys->arena;
    table->columns = arena_reserve(arena, table->columns, table->count, &maker->capacity, sizeof *table->columns);
    struct table_column *column = &table->columns[table->count++];
    *column =
        (struct table_column){.name = name, .node = node, .list = maker->list, .space = maker->space, .member = member};
    return column;
}

/* Whether the node has a key that the name is up to a point, of objects. */
static bool is_object_with(const struct json_keys *keys, const struct json_node *node, const char *name)
{
    bool found = false;
    for (const char *point = strchr(name, '.'); point && !found; point = strchr(point + 1, '.')) {
        const size_t place = key_index_find(node->fields->index, (struct text){name, (size_t)(point - name)});
        found = place < node->fields->count && keys->nodes[node->fields->nodes[place]].fields;
    }
    return found;
}

/* Adds the columns of a node. What is in arrays has one kind of values, or is text as it is written, as are arrays
 * beside other values. */
static void add_columns(struct maker *maker, size_t k, const char *name, bool member)
{
    struct json_node *node = &maker->keys->nodes[k];
    struct table *table = maker->table;
    const bool element = maker->keys->nodes[node->parent].elements == k && k > 0;
    const bool values = evidence_has_values(&node->evidence), arrays = node->elements, objects = node->fields;
    const bool fields = objects && node->fields->count > 0;
    node->raw = (arrays && values) || (element && (values + arrays + objects > 1 || (objects && !fields))) ||
                node->level == JSON_LEVELS;
    if (values || node->raw || (!objects && !arrays && (element || node->evidence.classes))) {
        if (node->raw)
            evidence_add(&node->evidence, CLASS_NESTED, node->nested);
        node->column = table->count;
        add_column(maker, k, name, member)->evidence = node->evidence;
    }
    if (arrays && !node->raw) {
        node->list = table->count;
        struct table_column *column = add_column(maker, k, name, member);
        column->kind = VALUE_LIST;
        column->type = TYPE_I64;
        column->stated = true; /* nothing else will do */
    }
    for (size_t i = 0; fields && !node->raw && i < node->fields->count; i++) {
        const size_t field = node->fields->nodes[i];
        const char *last = maker->keys->nodes[field].name;
        if (!maker->table->pointed && (*name || is_object_with(maker->keys, node, last)) && strchr(last, '.'))
            maker->table->pointed = last;
        last = *last ? last : arena_printf(maker->keys->arena, "c%zu", i + 1);
        const char *path = *name ? arena_printf(maker->keys->arena, "%s.%s", name, last) : last;
        add_columns(maker, field, path, *name);
    }
}

size_t json_make_columns(struct json_keys *keys, struct table *table)
{
    struct maker maker = {.keys = keys, .table = table, .list = NO_COLUMN};
    add_columns(&maker, 0, "", false);
    const size_t count = table->count;
    for (size_t k = 0; k < table->count; k++) {
        if (table->columns[k].kind != VALUE_LIST)
            continue;
        const size_t before = table->count, elements = keys->nodes[table->columns[k].node].elements;
        maker.list = k;
        table->columns[k].elements = maker.space = ++table->list_count;
        add_columns(&maker, elements, "", false);
        if (table->count == before) { /* objects of empty objects */
            keys->nodes[elements].raw = true;
            keys->nodes[elements].column = before;
            evidence_add(&add_column(&maker, elements, "", false)->evidence, CLASS_NESTED, NULL);
        }
    }
    table->keys = keys;
    return count;
}
