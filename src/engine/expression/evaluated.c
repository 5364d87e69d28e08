#include "engine/expression/evaluated.h"

#include "engine/bind/facts.h"
#include "engine/storage/unsorted_column.h"

#include <string.h>

struct evaluated *evaluated_find(const struct binder *binder, const void *node)
{
    for (size_t i = 0; i < binder->facts->evaluations.count; i++) {
        if (binder->facts->evaluations.at[i]->node == node)
            return binder->facts->evaluations.at[i];
    }
    return NULL;
}

static struct evaluated *evaluated_new(const struct binder *binder, const void *node)
{
    struct evaluations *all = &binder->facts->evaluations;
    all->at = arena_reserve(binder->arena, all->at, all->count, &all->capacity, sizeof *all->at);
    struct evaluated *evaluated = arena_alloc(binder->arena, sizeof *evaluated);
    evaluated->node = node;
    all->at[all->count++] = evaluated;
    return evaluated;
}

static void set_columns(struct evaluated *evaluated, struct slot *columns, size_t count, struct arena *arena)
{
    evaluated->columns = columns;
    evaluated->count = count;
    evaluated->wanted = arena_array(arena, count + 1, sizeof *evaluated->wanted);
    evaluated->places = arena_array(arena, count + 1, sizeof *evaluated->places);
    evaluated->evaluated = arena_array(arena, count + 1, sizeof *evaluated->evaluated);
    evaluated->loose = arena_array(arena, count + 1, sizeof *evaluated->loose);
}

struct pipeline *pipeline_up_to_stage(const struct binder *binder)
{
    const struct facts *facts = binder->facts;
    const struct pipeline *whole = binder->pipeline == facts->rest ? facts->pipeline : binder->pipeline;
    struct pipeline *pipeline = arena_copy(binder->arena, whole, sizeof *pipeline);
    pipeline->stage_count = (size_t)(binder->stage - whole->stages);
    return pipeline;
}

/* Such a source is evaluated before the loop. */
static void refuse_round(struct binder *binder, const struct pipeline *pipeline)
{
    if (pipeline_reads_round(binder, pipeline))
        bind_error(binder, pipeline->span,
                   "`zip`, `append`, `gather` and NAME.COLUMN[E] read the rows of a round; `across K in [A, B]` states "
                   "the columns",
                   "this is evaluated before the loop, so it cannot read the rows of a round");
}

struct evaluated *evaluated_request(struct binder *binder, const void *node, const struct pipeline *pipeline,
                                    const struct flow *source, const bool *wanted)
{
    struct evaluated *evaluated = evaluated_find(binder, node);
    refuse_round(binder, pipeline);
    if (!evaluated)
        evaluated = evaluated_new(binder, node);
    set_columns(evaluated, source->columns, source->count, binder->arena);
    evaluated->pipeline = pipeline;
    evaluated->open = source->open;
    evaluated->reader = NULL;
    for (size_t k = 0; wanted && k < source->count; k++)
        evaluated->wanted[k] = wanted[k];
    return evaluated;
}

struct evaluated *evaluated_never(struct binder *binder, const struct flow *source)
{
    struct evaluated *evaluated = arena_alloc(binder->arena, sizeof *evaluated);
    set_columns(evaluated, source->columns, source->count, binder->arena);
    evaluated->open = source->open;
    return evaluated;
}

const struct pipeline *pipeline_of_source(struct arena *arena, const struct source_node *source)
{
    if (source->kind == SOURCE_PIPELINE)
        return source->pipeline;
    return ARENA_NEW(arena, struct pipeline, .source = *source, .span = source->span);
}

struct column *evaluated_column(const struct evaluated *evaluated, size_t k)
{
    return evaluated->evaluated[k] ? evaluated->relation->columns[evaluated->places[k]] : NULL;
}

/* Adds the columns that the last binding needs to those wanted. */
static void add_needed(struct evaluated *evaluated)
{
    const struct task *reader = evaluated->reader;
    for (size_t k = 0; reader && k < evaluated->count; k++) {
        if (evaluated->outputs[k] == SIZE_MAX)
            continue;
        const struct output *output = &reader->outputs[evaluated->outputs[k]];
        const bool tested = output->validity != 0 && reader->outputs[output->validity].needed;
        evaluated->wanted[k] = evaluated->wanted[k] || output->needed || tested;
    }
}

bool evaluated_lacks(struct evaluated *evaluated)
{
    if (evaluated->here)
        return false;
    add_needed(evaluated);
    bool lack = !evaluated->relation;
    for (size_t k = 0; k < evaluated->count && !lack; k++)
        lack = evaluated->wanted[k] && !evaluated->evaluated[k];
    return lack;
}

bool evaluations_lack(const struct evaluations *evaluations)
{
    bool lack = false;
    for (size_t i = 0; i < evaluations->count; i++)
        lack = evaluated_lacks(evaluations->at[i]) || lack;
    return lack;
}

void evaluations_set_loose(const struct evaluations *evaluations, const struct queue *queue, bool *const *ordered)
{
    for (size_t i = 0; i < evaluations->count; i++) {
        struct evaluated *evaluated = evaluations->at[i];
        const struct task *reader = evaluated->reader;
        if (!reader || reader->number >= queue->count || queue->tasks[reader->number] != reader)
            continue;
        for (size_t k = 0; k < evaluated->count; k++) {
            if (!evaluated->wanted[k])
                evaluated->loose[k] =
                    evaluated->outputs[k] != SIZE_MAX && !ordered[reader->number][evaluated->outputs[k]];
        }
    }
}

/* The column of the relation, if it is of texts without an order. */
static struct column **unsorted_column(const struct evaluated *evaluated, size_t k)
{
    struct column **at =
        evaluated->relation && evaluated->evaluated[k] ? &evaluated->relation->columns[evaluated->places[k]] : NULL;
    return at && column_is_unsorted(*at) ? at : NULL;
}

bool evaluations_unsorted(const struct evaluations *evaluations)
{
    bool some = false;
    for (size_t i = 0; i < evaluations->count; i++) {
        for (size_t k = 0; k < evaluations->at[i]->count && !some; k++)
            some = unsorted_column(evaluations->at[i], k);
    }
    return some;
}

bool evaluations_need_order(const struct evaluations *evaluations, const struct dictionary *dictionary)
{
    bool some = false;
    for (size_t i = 0; i < evaluations->count; i++) {
        struct evaluated *evaluated = evaluations->at[i];
        for (size_t k = 0; k < evaluated->count; k++) {
            struct column *const *at = unsorted_column(evaluated, k);
            if (!at || (*at)->logical.dictionary != dictionary)
                continue;
            evaluated->loose[k] = false;
            some = true;
        }
    }
    return some;
}

enum status evaluations_order(const struct evaluations *evaluations, const struct workers *workers, struct diags *diags)
{
    for (size_t i = 0; i < evaluations->count; i++) {
        struct evaluated *evaluated = evaluations->at[i];
        for (size_t k = 0; k < evaluated->count; k++) {
            struct column **at = unsorted_column(evaluated, k);
            if (!at || evaluated->loose[k])
                continue;
            struct column *ordered = unsorted_in_order(*at, workers);
            if (!ordered)
                return workers_cancelled(workers) ? STATUS_CANCELLED
                                                  : diag_no_memory(diags, evaluated->pipeline->span,
                                                                   "not enough memory to put texts in order");
            column_unref(*at);
            *at = ordered;
            evaluated->columns[k].type = ordered->type;
            evaluated->columns[k].logical = ordered->logical;
        }
    }
    return STATUS_OK;
}

size_t evaluated_ordered(const struct evaluated *evaluated, struct arena *arena, const bool **ordered)
{
    bool *of = arena_array(arena, evaluated->count + 1, sizeof *of);
    size_t count = 0;
    for (size_t k = 0; k < evaluated->count; k++) {
        if (evaluated->wanted[k])
            of[count++] = !evaluated->loose[k];
    }
    *ordered = of;
    return count;
}

static void release(struct evaluated *evaluated)
{
    relation_unref(evaluated->relation);
    join_index_unref(evaluated->index);
    evaluated->relation = NULL;
    evaluated->index = NULL;
}

void evaluated_set(struct evaluated *evaluated, struct relation *relation, struct arena *arena)
{
    evaluated->relation = relation;
    if (evaluated->open) {
        struct slot *slots = arena_array(arena, relation->count + 1, sizeof *slots);
        set_columns(evaluated, slots, relation->count, arena);
        for (size_t k = 0; k < relation->count; k++) {
            slots[k].name = arena_text(arena, relation->names[k], strlen(relation->names[k]));
            evaluated->wanted[k] = true;
        }
    }
    size_t place = 0;
    for (size_t k = 0; k < evaluated->count; k++) {
        evaluated->evaluated[k] = evaluated->wanted[k];
        if (!evaluated->wanted[k])
            continue;
        const struct column *column = relation->columns[place];
        evaluated->places[k] = place++;
        evaluated->columns[k] = (struct slot){
            .name = evaluated->columns[k].name, .type = column->type, .known = true, .logical = column->logical};
    }
}

static void release_index(void *index)
{
    join_index_unref(index);
}

/* Whether something beside the relation refers to the columns, such as a name or the cache of files. */
static bool are_shared(const struct join_keys *keys)
{
    bool shared = keys->count > 0 && !keys->order && !keys->second;
    for (size_t k = 0; k < keys->count; k++)
        shared = shared && keys->columns[k]->refs > keys->columns[k]->copies + 1;
    return shared;
}

enum status evaluated_make_index(struct binder *binder, struct evaluated *evaluated, const struct join_keys *keys)
{
    static const char ways[2];
    const char *how = &ways[keys->members_only];
    const struct kept_key key = {.columns = keys->columns, .count = keys->count, .how = &how, .how_size = sizeof how};
    if (evaluated->index)
        return STATUS_OK;
    struct join_index *kept = are_shared(keys) ? kept_find(binder->env->kept, &key) : NULL;
    if (kept && !join_index_lost(kept)) {
        evaluated->index = join_index_ref(kept);
        return STATUS_OK;
    }
    const struct join_device *known = binder->facts->device;
    struct join_device device = known ? *known : (struct join_device){0};
    device.diags = binder->diags;
    const enum status status = join_index_new(keys, binder->facts->workers, known ? &device : NULL, &evaluated->index);
    if (status == STATUS_OK && are_shared(keys))
        kept_add(binder->env->kept, &key, join_index_ref(evaluated->index), release_index,
                 join_index_bytes(evaluated->index));
    return status;
}

const bool *evaluated_again(struct evaluated *evaluated)
{
    bool some = false;
    release(evaluated);
    for (size_t k = 0; k < evaluated->count && !some; k++)
        some = evaluated->wanted[k];
    if (!some && evaluated->count > 0)
        evaluated->wanted[0] = true; /* a relation has a column */
    return evaluated->open ? NULL : evaluated->wanted;
}

void evaluations_release(struct evaluations *evaluations)
{
    for (size_t i = 0; i < evaluations->count; i++)
        release(evaluations->at[i]);
    evaluations->count = 0;
}
