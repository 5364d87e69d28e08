/* unnest: a row for each element of a list. Several lists give their elements side by side. */
#include "engine/join/join_stages.h"

#include "engine/lists/lists.h"
#include "engine/lower/lower.h"
#include "engine/storage/list_store.h"

#include <string.h>

struct unnest {
    struct binder *binder;
    const struct stage *stage;
    struct flow from;
    size_t *columns; /* the lists */
    size_t count;
    struct scope scope;    /* of the result */
    value row, place;      /* of the result's row: the row before, and which element */
    bool placed;           /* of one list: the place is among the elements of all rows */
    struct term *lists;    /* of the row before */
    value index, *lengths; /* which element of its list; of a list, NO_VALUE: the row has it anyway */
};

static value op(const struct unnest *unnest, struct code *code, enum op operation, value a, value b)
{
    return code_binary(code, operation, a, b, unnest->stage->span);
}

/* Finds the columns; false after an error, or if they are unknown. */
static bool find_columns(struct unnest *unnest)
{
    const struct stage *stage = unnest->stage;
    struct binder *binder = unnest->binder;
    struct scope scope = {.binder = binder, .flow = &unnest->from};
    bool known = !unnest->from.open;
    unnest->columns = arena_array(binder->arena, unnest->count, sizeof *unnest->columns);
    for (size_t i = 0; i < unnest->count; i++) {
        size_t k;
        if (!name_resolve_column(&scope, stage->items[i].expr, &k)) {
            known = false;
            continue;
        }
        const struct slot *slot = &unnest->from.columns[k];
        unnest->columns[i] = k;
        known = known && slot->known;
        if (slot->known && slot->logical.kind != LOGICAL_LIST)
            known = bind_error(binder, stage->items[i].expr->span,
                               slot->logical.kind == LOGICAL_TEXT
                                   ? arena_printf(binder->arena,
                                                  "`derive parts = split(%s, \",\")`, before, makes lists of texts",
                                                  name_written(slot->name, binder->arena))
                                   : NULL,
                               "`%s` is %s, not a list", slot->name, logical_type_name(slot->logical, slot->type));
        for (size_t before = 0; before < i && known; before++) {
            if (unnest->columns[before] == k)
                known = bind_error_second(binder, stage->items[i].span, stage->items[before].span, "here first", NULL,
                                          "`%s` is named twice", slot->name);
        }
    }
    return known;
}

static size_t list_at(const struct unnest *unnest, size_t column)
{
    size_t i = 0;
    while (i < unnest->count && unnest->columns[i] != column)
        i++;
    return i;
}

/* How many elements the list of the scope's row has: none where it is missing. */
static value length_of(struct scope *scope, struct term list, struct span span)
{
    const value length = list_length(scope, list, span).value;
    if (list.present == NO_VALUE)
        return length;
    return code_op(scope->code, OP_SELECT, list.present, length, code_exact_int(scope->code, 0, span), span);
}

/* The task that counts the elements of each row, and the rows that these become. */
static struct task *begin_result(struct unnest *unnest)
{
    struct binder *binder = unnest->binder;
    const struct stage *stage = unnest->stage;
    const struct span span = stage->span;
    struct flow flow = unnest->from;
    struct task *task = task_of_stage(binder, stage, &flow);
    struct scope scope = scope_of_stage(binder, task, &flow, NULL);
    struct code *code = &task->code;
    struct places places = {.begin = code_exact_int(code, 0, span), .count = code_exact_int(code, 0, span)};
    places.most = INT64_MAX;
    for (size_t i = 0; i < unnest->count; i++) {
        const struct term list = term_of_column(code, &flow, unnest->columns[i], span);
        const value length = length_of(&scope, list, span);
        places.count = i == 0 ? length : op(unnest, code, OP_MAX, places.count, length);
        unnest->placed = unnest->count == 1 && !list.logical.lists->unread;
        if (unnest->placed)
            places.begin = list_start(&scope, list, span);
    }
    if (stage->outer)
        places.count = op(unnest, code, OP_MAX, places.count, code_exact_int(code, 1, span));
    expand_rows(binder, stage, task, &places, &flow);
    task = task_of_stage(binder, stage, &flow);
    unnest->scope = scope_of_stage(binder, task, &flow, NULL);
    unnest->row = code_input(&task->code, 0, KIND_INT, span);
    unnest->place = code_input(&task->code, 1, KIND_INT, span);
    return task;
}

/* The lists of the row, and the position in them. */
static void find_lists(struct unnest *unnest)
{
    struct binder *binder = unnest->binder;
    struct scope *scope = &unnest->scope;
    const struct span span = unnest->stage->span;
    unnest->lists = arena_array(binder->arena, unnest->count, sizeof *unnest->lists);
    unnest->lengths = arena_array(binder->arena, unnest->count, sizeof *unnest->lengths);
    unnest->index = unnest->place;
    for (size_t i = 0; i < unnest->count; i++) {
        unnest->lists[i] =
            flow_element(scope->task, &unnest->from, unnest->columns[i], unnest->row, true, binder->arena);
        const bool sure = unnest->count == 1 && !unnest->stage->outer;
        unnest->lengths[i] = sure ? NO_VALUE : length_of(scope, unnest->lists[i], span);
    }
    if (unnest->placed)
        unnest->index = op(unnest, scope->code, OP_SUB, unnest->place, list_start(scope, unnest->lists[0], span));
}

/* Adds the columns of the elements of list i, of which `name` is that of the list or the one given. */
static void add_elements(struct unnest *unnest, size_t i, struct slot *slots, struct term *terms, size_t *count)
{
    struct arena *arena = unnest->binder->arena;
    struct scope *scope = &unnest->scope;
    const struct item *item = &unnest->stage->items[i];
    const char *name = item->name.text ? item->name.text : unnest->from.columns[unnest->columns[i]].name;
    const struct relation *elements = unnest->lists[i].logical.lists->elements;
    value inside = NO_VALUE;
    if (unnest->lengths[i] != NO_VALUE)
        inside = op(unnest, scope->code, OP_LT, unnest->index, unnest->lengths[i]);
    for (size_t k = 0; k < elements->count; k++, ++*count) {
        const struct column *column = elements->columns[k];
        const bool plain = list_store_is_plain(unnest->lists[i].logical.lists);
        const struct named_list list = {
            .term = unnest->lists[i], .span = item->span, .field = plain ? NULL : elements->names[k]};
        terms[*count] =
            list_element_inside(scope, &list, unnest->placed ? unnest->place : unnest->index, unnest->placed, inside);
        slots[*count] = (struct slot){.name = name, .type = column->type, .known = true, .logical = column->logical};
        if (plain)
            continue;
        slots[*count].name = arena_printf(arena, "%s.%s", name, elements->names[k]);
        slots[*count].logical.member = true;
        terms[*count].logical.member = true;
    }
}

/* Reports a name that two columns would have; those of the rows differ. */
static void check_names(const struct unnest *unnest, const struct slot *slots, size_t count)
{
    const struct stage *stage = unnest->stage;
    struct name_set names;
    name_set_init(&names, unnest->binder->arena, count);
    for (size_t k = 0; k < count; k++) {
        if (!name_set_has(&names, slots[k].name)) {
            (void)name_set_add(&names, slots[k].name);
            continue;
        }
        bind_error(unnest->binder, stage->span, "`as NAME` behind a list, and `with NAME`, give it another name",
                   "two columns would have the name `%s`", slots[k].name);
        return;
    }
}

static void set_result(struct unnest *unnest, struct task *task, struct flow *flow)
{
    const struct flow *from = &unnest->from;
    struct binder *binder = unnest->binder;
    const struct stage *stage = unnest->stage;
    size_t most = from->count + 1, count = 0;
    for (size_t i = 0; i < unnest->count; i++)
        most += from->columns[unnest->columns[i]].logical.lists->elements->count;
    struct slot *slots = arena_array(binder->arena, most, sizeof *slots);
    struct term *terms = arena_array(binder->arena, most, sizeof *terms);
    find_lists(unnest);
    for (size_t k = 0; k < from->count; k++) {
        const size_t i = list_at(unnest, k);
        if (i < unnest->count) {
            add_elements(unnest, i, slots, terms, &count);
            continue;
        }
        slots[count] = from->columns[k];
        terms[count++] =
            from->columns[k].known ? flow_element(task, from, k, unnest->row, true, binder->arena) : unknown_term;
    }
    if (stage->made[0].text) {
        terms[count] = term_of(unnest->index);
        if (stage->outer) { /* a row that stays has none */
            value some = code_bool(&task->code, false, stage->span);
            for (size_t i = 0; i < unnest->count; i++)
                some = op(unnest, &task->code, OP_OR, some,
                          op(unnest, &task->code, OP_LT, unnest->index, unnest->lengths[i]));
            terms[count].present = some;
            terms[count].settled = false;
        }
        slots[count++] = (struct slot){.name = stage->made[0].text, .type = TYPE_I64, .known = true};
    }
    check_names(unnest, slots, count);
    number_duplicates(binder, slots, count);
    *flow = (struct flow){.rows = task->rows};
    task_set_outputs(binder, task, flow, slots, terms, count);
}

void bind_unnest(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct unnest unnest = {.binder = binder, .stage = stage, .from = *flow, .count = stage->item_count};
    if (!find_columns(&unnest)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct task *task = begin_result(&unnest);
    set_result(&unnest, task, flow);
}
