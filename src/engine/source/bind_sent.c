#include "engine/source/bind_sent.h"

#include "engine/storage/residency.h"
#include "engine/values/dictionary.h"

static int64_t most_bytes(const struct binder *binder)
{
    const struct table_source *tables = file_cache_tables(binder->env->file_cache);
    return tables->limits(tables->servers).upload;
}

/* Binds the source as if it were run here, for its columns. */
static bool bind_columns(struct binder *binder, const struct source_node *node, struct flow *flow)
{
    struct facts facts = *binder->facts;
    struct bound bound;
    struct diags diags;
    struct needs needs = *binder->needs;
    diags_init(&diags, binder->arena);
    bound_init(&bound, binder->arena);
    facts.remote = false;
    struct binder inner = binder_new(&facts, binder->arena, &needs, &diags);
    inner.queue = &bound.queue;
    bind_source(&inner, node, flow);
    queue_release(&bound.queue);
    binder->needs->values = needs.values;
    binder->needs->value_count = needs.value_count;
    binder->needs->value_capacity = needs.value_capacity;
    bool known = inner.errors == 0 && !inner.cancelled && !flow->open;
    for (size_t k = 0; k < flow->count && known; k++)
        known = flow->columns[k].known && flow->columns[k].logical.kind != LOGICAL_LIST;
    return known;
}

bool sent_add(struct binder *binder, const struct source_node *node, struct sent_sources *sent)
{
    struct flow flow;
    if (binder->facts->dialect || most_bytes(binder) == 0 || !bind_columns(binder, node, &flow))
        return false;
    struct sent_source *added = ARENA_PUSH(binder->arena, sent->at, sent->count, sent->capacity);
    *added = (struct sent_source){.node = node, .flow = flow, .rows.number = sent->count - 1};
    return true;
}

const struct sent_source *sent_find(const struct sent_sources *sent, const struct source_node *node)
{
    for (size_t i = 0; sent && i < sent->count; i++) {
        if (sent->at[i].node == node)
            return &sent->at[i];
    }
    return NULL;
}

static struct column *standing(const struct column *column, const struct flow *flow, size_t k)
{
    const struct slot *slot = &flow->columns[k];
    const enum type type = column ? column->type : slot->type;
    struct logical_type logical = column ? column->logical : slot->logical;
    logical.dictionary = NULL;
    return column_unread(type, logical, TABLE_ROWS, column ? !!column->validity : slot->validity != 0, false);
}

void sent_stand_in(const struct binder *binder, const struct sent_sources *sent, struct table_columns *first)
{
    struct arena *arena = binder->arena;
    while (first->next)
        first = (struct table_columns *)first->next;
    for (size_t i = 0; i < sent->count; i++) {
        struct sent_source *source = &sent->at[i];
        const struct evaluated *evaluated = evaluated_find(binder, source->node);
        const size_t count = source->flow.count;
        size_t *places = arena_array(arena, count + 1, sizeof *places);
        source->rows.relation = evaluated ? evaluated->relation : NULL;
        source->rows.used = arena_array(arena, count + 1, sizeof *source->rows.used);
        source->columns = arena_array(arena, count + 1, sizeof(struct column *));
        for (size_t k = 0; k < count; k++) {
            const struct column *column = source->rows.relation ? evaluated_column(evaluated, k) : NULL;
            places[k] = column ? evaluated->places[k] : SIZE_MAX;
            source->columns[k] = standing(column, &source->flow, k);
        }
        source->from =
            (struct table_columns){.sent = &source->rows, .columns = source->columns, .places = places, .count = count};
        first->next = &source->from;
        first = &source->from;
    }
}

void sent_release(const struct sent_sources *sent)
{
    for (size_t i = 0; i < sent->count; i++)
        columns_unref(sent->at[i].columns, sent->at[i].flow.count);
}

/* Whether a file is named within the source. */
static bool is_within(const struct sent_source *source, const struct source_file *file)
{
    const struct span *outer = &source->node->span, *inner = &file->written->span;
    return outer->source == inner->source && outer->begin <= inner->begin && inner->end <= outer->end;
}

bool sent_reads(const struct sent_sources *sent, const struct source_file *file)
{
    bool reads = false;
    for (size_t i = 0; i < sent->count && !reads; i++)
        reads = is_within(&sent->at[i], file);
    return reads;
}

/* Whether the source reads tables on servers, which is not done to explain. */
static bool reads_tables(const struct binder *binder, const struct sent_source *source)
{
    const struct sources *sources = &binder->facts->sources;
    bool reads = false;
    for (size_t i = 0; i < sources->count && !reads; i++) {
        const struct source_file *file = &sources->files[i];
        const struct column *column = file->count > 0 ? file->columns[0].column : NULL;
        reads = column && column->live && is_within(source, file);
    }
    return reads;
}

/* Requests what the query reads of the source, unless it is there. */
static bool lacks(struct binder *binder, const struct sent_source *source)
{
    const struct evaluated *evaluated = evaluated_find(binder, source->node);
    const size_t count = source->flow.count;
    bool *wanted = arena_array(binder->arena, count + 1, sizeof *wanted), lack = !source->rows.relation;
    for (size_t k = 0; k < count; k++) {
        const bool there = source->rows.relation && evaluated->evaluated[k];
        wanted[k] = source->rows.used[k] || there;
        lack = lack || (wanted[k] && !there);
    }
    if (!lack || (binder->facts->describes && reads_tables(binder, source)))
        return false;
    (void)evaluated_request(binder, source->node, pipeline_of_source(binder->arena, source->node), &source->flow,
                            wanted);
    return true;
}

/* The bytes of the columns that are read, and of the number of each row. */
static int64_t bytes_of(const struct sent_source *source)
{
    const struct relation *relation = source->rows.relation;
    int64_t bytes = relation->rows * (int64_t)sizeof(int64_t);
    for (size_t k = 0; k < source->from.count; k++) {
        const struct column *column = source->rows.used[k] ? relation->columns[source->from.places[k]] : NULL;
        if (!column)
            continue;
        bytes += column->validity ? relation->rows : 0;
        if (column->logical.kind != LOGICAL_TEXT) {
            bytes += relation->rows * (int64_t)type_table[column->type].size;
            continue;
        }
        for (int64_t row = 0; row < relation->rows; row++)
            bytes += column_is_missing(column, row)
                         ? 1
                         : 1 + (int64_t)dictionary_text(column->logical.dictionary, column_get_int(column, row)).length;
    }
    return bytes;
}

static const char *name_of(const struct binder *binder, const struct sent_source *source)
{
    enum { SHOWN = 40 };
    return text_of_span(binder->arena, source->node->span, SHOWN);
}

/* Takes the bytes of the source from those that may go up. False: it has more, or cannot be read. */
static bool take_room(const struct sent_source *source, struct arena *arena, int64_t *room)
{
    struct relation *relation = source->rows.relation;
    struct diags dropped; /* reading it again tells */
    diags_init(&dropped, arena);
    if (!relation)
        return true;
    if (relation->rows > *room / (int64_t)sizeof(int64_t) ||
        relation_fetch(relation, 0, relation->rows, source->node->span, &dropped) != STATUS_OK)
        return false;
    *room -= bytes_of(source);
    return *room >= 0;
}

enum sent_state sent_check(struct binder *binder, const struct sent_sources *sent, const char **refusal)
{
    const int64_t most = most_bytes(binder), megabyte = 1000000;
    bool lack = false;
    for (size_t i = 0; i < sent->count; i++)
        lack = lacks(binder, &sent->at[i]) || lack;
    if (lack)
        return SENT_LACKS;
    int64_t room = most;
    for (size_t i = 0; i < sent->count; i++) {
        const struct sent_source *source = &sent->at[i];
        if (take_room(source, binder->arena, &room))
            continue;
        *refusal = arena_printf(
            binder->arena, "the rows of `%s` are more than the %lld MB that go up to it; `.set upload` allows more",
            name_of(binder, source), (long long)(most / megabyte));
        return SENT_TOO_LARGE;
    }
    return SENT_READY;
}

const char *sent_description(const struct binder *binder, const struct sent_sources *sent)
{
    const char *all = NULL;
    for (size_t i = 0; i < sent->count; i++) {
        const struct sent_source *source = &sent->at[i];
        struct strbuf line = {0};
        const char *before = "";
        strbuf_printf(&line, "%srql_x%zu is `%s`, sent up with it: ", all ? all : "  ", source->rows.number,
                      name_of(binder, source));
        for (size_t k = 0; k < source->flow.count; k++) {
            if (!source->rows.used[k])
                continue;
            strbuf_printf(&line, "%s%s as c%zu", before, source->flow.columns[k].name, k);
            before = ", ";
        }
        if (source->rows.relation)
            strbuf_printf(&line, "; %s, %lld bytes\n", text_of_count(binder->arena, source->rows.relation->rows, "row"),
                          (long long)bytes_of(source));
        else
            strbuf_puts(&line, "; its rows are read first\n");
        all = strbuf_take(&line, binder->arena);
        if (i + 1 < sent->count)
            all = arena_printf(binder->arena, "%s  ", all);
    }
    return all;
}
