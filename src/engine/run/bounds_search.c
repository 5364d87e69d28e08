#include "engine/run/provide.h"

#include "engine/formats/file_cache.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/file_reader.h"

#include <stdlib.h>

struct search {
    const struct queue *queue;
    const struct file_reader *reader;
    struct task *task;   /* a copy: its filters are the conditions that bounds can decide */
    const bool *of_file; /* of each input */
    size_t *places;      /* of each input that is unread, its place in the file; SIZE_MAX: it has none */
    size_t *values;      /* of each input that is a validity of an unread one, the place of that; SIZE_MAX */
    struct text *texts;  /* all bounds of text and all constants, sorted */
    size_t text_count;
};

static bool is_unread_text(const struct search *search, value v)
{
    const struct instr *instr = &search->task->code.at[v];
    return instr->op == OP_INPUT && search->places[instr->integer] != SIZE_MAX &&
           input_logical(&search->task->inputs[instr->integer]).kind == LOGICAL_TEXT;
}

static bool is_unknown_code(const struct search *search, value v)
{
    const struct instr *instr = &search->task->code.at[v];
    const int64_t count = 2 * (int64_t)search->queue->text_count;
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->integer >= unknown_code &&
           instr->integer < unknown_code + count;
}

/* Whether the instruction compares an unread text with a constant one. */
static bool compares_text(const struct search *search, const struct instr *instr)
{
    if (instr->op != OP_EQ && instr->op != OP_NE && instr->op != OP_LT && instr->op != OP_LE)
        return false;
    const value a = instr->args[0], b = instr->args[1];
    return (is_unread_text(search, a) && is_unknown_code(search, b)) ||
           (is_unknown_code(search, a) && is_unread_text(search, b));
}

/* Whether bounds can stand for all that is marked: texts without codes occur only where they are compared. */
static bool is_decidable(const struct search *search, const bool *marks)
{
    const struct code *code = &search->task->code;
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (!marks[v] || compares_text(search, instr))
            continue;
        for (int i = 0; i < op_table[instr->op].arity; i++) {
            if (is_unread_text(search, instr->args[i]) || is_unknown_code(search, instr->args[i]))
                return false;
        }
    }
    return true;
}

/* Keeps the conditions that can be decided, up to one that cannot and may fail. */
static void keep_conditions(struct search *search, const struct task *task, struct arena *arena)
{
    size_t count;
    const value *conditions = task_conditions(task, arena, &count);
    struct task *copy = search->task;
    copy->filters = arena_array(arena, count + 1, sizeof *copy->filters);
    copy->filter_count = 0;
    bool *marks = arena_array(arena, (size_t)copy->code.count + 1, sizeof *marks);
    for (size_t i = 0; i < count; i++) {
        for (value v = 0; v < copy->code.count; v++)
            marks[v] = false;
        code_mark(&copy->code, conditions[i], marks);
        if (is_decidable(search, marks))
            copy->filters[copy->filter_count++] = (struct filter){.keep = conditions[i], .span = task->span};
        else if (copy->code.at[conditions[i]].fallible)
            return;
    }
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* The place of a text among the sorted ones; equal ones have the first's. */
static int64_t rank(const struct search *search, struct text text)
{
    size_t before = 0, after = search->text_count;
    while (before < after) {
        const size_t middle = before + (after - before) / 2;
        if (text_compare(search->texts[middle], text) < 0)
            before = middle + 1;
        else
            after = middle;
    }
    return (int64_t)before;
}

/* Numbers all texts in their order, and puts these numbers into the code. */
static void rank_texts(struct search *search, struct arena *arena)
{
    const struct queue *queue = search->queue;
    struct task *task = search->task;
    size_t most = queue->text_count;
    for (size_t k = 0; k < task->input_count; k++)
        most += search->places[k] != SIZE_MAX ? 2 * search->reader->group_count : 0;
    search->texts = arena_array(arena, most + 1, sizeof *search->texts);
    for (size_t k = 0; k < queue->text_count; k++)
        search->texts[search->text_count++] = queue->texts[k];
    for (size_t k = 0; k < task->input_count && queue->text_count > 0; k++) {
        if (search->places[k] == SIZE_MAX || input_logical(&task->inputs[k]).kind != LOGICAL_TEXT)
            continue;
        for (size_t group = 0; group < search->reader->group_count; group++) {
            struct group_bounds bounds;
            search->reader->ops->bounds(search->reader, group, search->places[k], &bounds);
            search->texts[search->text_count++] = bounds.least;
            search->texts[search->text_count++] = bounds.most;
        }
    }
    qsort(search->texts, search->text_count, sizeof *search->texts, compare_texts);
    for (value v = 0; v < task->code.count; v++) {
        struct instr *instr = &task->code.at[v];
        if (!is_unknown_code(search, v))
            continue;
        const int64_t number = instr->integer - unknown_code;
        instr->integer = rank(search, queue->texts[number / 2]) + number % 2;
    }
}

static struct zone zone_of_input(const struct search *search, size_t k, size_t group)
{
    const struct column *column = search->task->inputs[k].column;
    const struct file_reader *reader = search->reader;
    struct group_bounds bounds;
    if (search->values[k] != SIZE_MAX) {
        reader->ops->bounds(reader, group, search->values[k], &bounds);
        return (struct zone){.lo = !bounds.missing, .hi = bounds.present};
    }
    if (search->places[k] == SIZE_MAX) {
        const struct zonemap *zones = column ? column_zones(column) : NULL;
        const int64_t begin = reader->group_begins[group], end = reader->group_begins[group + 1];
        if (zones && search->of_file[k])
            return zonemap_over(zones, begin, end);
        return column ? zone_unknown(column) : (struct zone){0};
    }
    reader->ops->bounds(reader, group, search->places[k], &bounds);
    if (input_logical(&search->task->inputs[k]).kind != LOGICAL_TEXT)
        return bounds.has_zone ? bounds.zone : zone_unknown(column);
    if (!bounds.has_zone || !bounds.present)
        return (struct zone){.lo = -1, .hi = (int64_t)search->text_count + 1};
    return (struct zone){.lo = rank(search, bounds.least), .hi = rank(search, bounds.most)};
}

/* Finds the places of unread inputs in the one reader that they all have; false: they have none or several. */
static bool find_places(struct search *search, const struct env *env)
{
    const struct task *task = search->task;
    bool same = true;
    for (size_t k = 0; k < task->input_count; k++)
        search->places[k] = search->values[k] = SIZE_MAX;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        size_t place;
        if (!search->of_file[k] || !column->unread)
            continue;
        const struct file_reader *reader = file_cache_reader(env->file_cache, column, &place);
        if (reader)
            search->places[k] = place;
        else
            reader = file_cache_reader_of_validity(env->file_cache, column, &place);
        if (!reader)
            continue;
        if (search->places[k] == SIZE_MAX)
            search->values[k] = place;
        same = same && (!search->reader || search->reader == reader);
        search->reader = reader;
    }
    return same && search->reader && search->reader->ops->bounds;
}

bool rows_within_bounds(const struct env *env, const struct queue *queue, const struct task *task, const bool *of_file,
                        struct row_set *rows, struct arena *arena)
{
    struct search search = {.queue = queue, .task = task_clone(task, arena), .of_file = of_file};
    search.places = arena_array(arena, task->input_count + 1, sizeof *search.places);
    search.values = arena_array(arena, task->input_count + 1, sizeof *search.values);
    if (!find_places(&search, env))
        return false;
    keep_conditions(&search, task, arena);
    if (search.task->filter_count == 0)
        return false;
    rank_texts(&search, arena);
    const struct file_reader *reader = search.reader;
    struct zone_predicate *predicate = zone_predicate_new(search.task, reader->rows, arena);
    struct zone *zones = arena_array(arena, task->input_count + 1, sizeof *zones);
    for (size_t group = 0; group < reader->group_count; group++) {
        const int64_t begin = reader->group_begins[group], end = reader->group_begins[group + 1];
        for (size_t k = 0; k < task->input_count; k++)
            zones[k] = zone_of_input(&search, k, group);
        if (!zone_predicate_exclude(predicate, begin, end, zones, zones))
            row_set_add(rows, begin, end);
    }
    return true;
}
