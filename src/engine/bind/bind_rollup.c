/* group K, L: ... rollup. The rows are grouped by all keys, by all but the last, ..., and by none; these groups are
 * appended and put in order: the subtotal of a key follows its groups. With cube, they are grouped by all sets of keys.
 * A set is a number: its digits in binary are the keys, the first one the highest. */
#include "engine/bind/bind_internal.h"
#include "engine/join/join_stages.h"

enum { MOST_CUBED = 6, MOST_ROLLED = 60 };

struct rollup {
    struct binder *binder;
    const struct stage *stage;
    bool cube;
    size_t keys, aggregates;
    const char **names; /* of the keys and aggregates */
};

static bool has_key(const struct rollup *rollup, size_t set, size_t k)
{
    return set >> (rollup->keys - 1 - k) & 1;
}

/* The columns of a set's groups: for each key whether the row is of all its values, then its value; the aggregates;
 * and how many keys, or which, the row has. Names with a blank are none that a query has by chance. */
static struct slot *slots_of(const struct rollup *rollup, const struct flow *groups, size_t set)
{
    struct arena *arena = rollup->binder->arena;
    struct slot *slots = arena_array(arena, 2 * rollup->keys + rollup->aggregates + 2, sizeof *slots);
    size_t count = 0, place = 0;
    for (size_t k = 0; k < rollup->keys; k++) {
        slots[count++] =
            (struct slot){.name = arena_printf(arena, "all of key %zu", k), .type = TYPE_BOOL, .known = true};
        if (has_key(rollup, set, k)) {
            slots[count] = groups->columns[place++];
            slots[count++].name = rollup->names[k];
        }
    }
    for (size_t k = 0; k < rollup->aggregates; k++) {
        slots[count] = groups->columns[place + k];
        slots[count++].name = rollup->names[rollup->keys + k];
    }
    slots[count] = (struct slot){.name = "number of keys", .type = TYPE_I64, .known = true};
    return slots;
}

static void note_names(struct rollup *rollup, const struct flow *groups)
{
    const size_t count = rollup->keys + rollup->aggregates;
    rollup->names = arena_array(rollup->binder->arena, count + 1, sizeof *rollup->names);
    for (size_t k = 0; k < count; k++)
        rollup->names[k] = groups->columns[k].name;
}

/* The groups by a set of keys; those by all of them come first. */
static void add_set(struct rollup *rollup, const struct flow *rows, size_t set, struct flow *flow)
{
    struct binder *binder = rollup->binder;
    const struct span span = rollup->stage->span;
    struct stage *stage = arena_copy(binder->arena, rollup->stage, sizeof *stage);
    stage->items = arena_array(binder->arena, rollup->keys + 1, sizeof *stage->items);
    stage->item_count = 0;
    for (size_t k = 0; k < rollup->keys; k++) {
        if (has_key(rollup, set, k))
            stage->items[stage->item_count++] = rollup->stage->items[k];
    }
    *flow = *rows;
    bind_group(binder, stage, flow);
    if (flow->open)
        return;
    const struct flow groups = *flow;
    if (stage->item_count == rollup->keys)
        note_names(rollup, &groups);
    struct slot *slots = slots_of(rollup, &groups, set);
    struct term *terms = arena_array(binder->arena, 2 * rollup->keys + rollup->aggregates + 2, sizeof *terms);
    struct task *task = task_reading(binder, "map", span, &groups);
    struct code *code = &task->code;
    size_t count = 0, place = 0;
    for (size_t k = 0; k < rollup->keys; k++) {
        const bool has = has_key(rollup, set, k);
        terms[count++] = term_of(code_bool(code, !has, span));
        if (has)
            terms[count++] = term_of_column(code, &groups, place++, span);
    }
    for (size_t k = 0; k < rollup->aggregates; k++)
        terms[count++] = term_of_column(code, &groups, place + k, span);
    terms[count++] = term_of(code_exact_int(code, (int64_t)(rollup->cube ? set : place), span));
    task_set_outputs(binder, task, flow, slots, terms, count);
}

/* By the keys, each after whether the row is of all its values. */
static void sort_groups(const struct rollup *rollup, struct flow *flow)
{
    struct arena *arena = rollup->binder->arena;
    const size_t count = 2 * rollup->keys;
    struct expr *places = arena_array(arena, count + 1, sizeof *places);
    struct item *items = arena_array(arena, count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        places[i] =
            (struct expr){.kind = EXPR_POSITION, .span = rollup->stage->span, .integer = (int64_t)i + 1, .depth = 1};
        items[i] = (struct item){.expr = &places[i], .span = rollup->stage->span};
    }
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    *stage = (struct stage){.word = rollup->stage->word,
                            .span = rollup->stage->span,
                            .word_span = rollup->stage->word_span,
                            .items = items,
                            .item_count = count};
    bind_sort(rollup->binder, stage, flow);
}

/* The keys, the aggregates, and the level. */
static void pick_columns(const struct rollup *rollup, struct flow *flow)
{
    struct binder *binder = rollup->binder;
    const struct span span = rollup->stage->span;
    const size_t count = rollup->keys + rollup->aggregates + 1;
    const struct flow sorted = *flow;
    struct task *task = task_reading(binder, "map", span, &sorted);
    struct slot *slots = arena_array(binder->arena, count + 1, sizeof *slots);
    struct term *terms = arena_array(binder->arena, count + 1, sizeof *terms);
    for (size_t k = 0; k < count; k++) {
        const size_t from = k < rollup->keys ? 2 * k + 1 : rollup->keys + k;
        terms[k] = term_of_column(&task->code, &sorted, from, span);
        slots[k] = sorted.columns[from];
    }
    slots[count - 1].name = rollup->cube ? "keys" : "level";
    name_columns(binder, slots, count);
    task_set_outputs(binder, task, flow, slots, terms, count);
}

void bind_rollup(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct rollup rollup = {
        .binder = binder,
        .stage = stage,
        .cube = stage->cube,
        .keys = stage->item_count,
        .aggregates = stage->aggregate_count,
    };
    const struct flow rows = *flow;
    struct flow all;
    if (rollup.keys > (rollup.cube ? MOST_CUBED : MOST_ROLLED)) {
        bind_error(binder, stage->rollup, rollup.cube ? "`rollup` groups by the first keys alone" : NULL,
                   "`%s` takes at most %d keys", rollup.cube ? "cube" : "rollup",
                   rollup.cube ? MOST_CUBED : MOST_ROLLED);
        task_unknown(binder, stage, flow);
        return;
    }
    const size_t whole = ((size_t)1 << rollup.keys) - 1;
    add_set(&rollup, &rows, whole, &all);
    for (size_t set = whole; set > 0 && !all.open;) {
        struct flow next;
        set = rollup.cube ? set - 1 : set & (set - 1);
        add_set(&rollup, &rows, set, &next);
        if (next.open)
            all.open = true;
        else
            append_flow(binder, stage, &next, &all);
    }
    if (all.open) {
        task_unknown(binder, stage, flow);
        return;
    }
    sort_groups(&rollup, &all);
    pick_columns(&rollup, &all);
    *flow = all;
    flow->shape = (struct shape){0};
}
