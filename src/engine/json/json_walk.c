#include "engine/json/json_walk.h"

#include "base/heap.h"
#include "engine/json/json.h"
#include "engine/text/classify.h"
#include "engine/text/records.h"
#include "engine/text/scan.h"

#include <stdlib.h>

enum {
    TEXT_BYTES = 64,    /* of a transition, at most */
    COMPARED = 32,      /* of these at once */
    ENTERED = 4,        /* keys in them, at most */
    MAX_TRANSITIONS = 8 /* from a state */
};

struct json_transition {
    char text[TEXT_BYTES];
    uint32_t mask; /* of the first bytes those that are compared */
    uint32_t next; /* of the same state, + 1; 0: none */
    uint32_t node; /* whose value follows; 0: the record ends */
    uint8_t length, entered_count;
    uint32_t entered[ENTERED]; /* nodes of its keys, but within arrays */
};

/* What belongs to a node. */
struct json_state {
    uint32_t first; /* of the transitions from its values, + 1; 0: none. Of the records' node: from their beginning */
    uint32_t count;
    bool in_array, has_values;
    int64_t record; /* the last one with the key */
};

void json_walker_init(struct json_walker *walker, const struct json_keys *keys, const struct table *table)
{
    walker->keys = keys;
    walker->table = table;
    walker->states = heap_array(keys->count, sizeof *walker->states);
    for (size_t k = 1; k < keys->count; k++) {
        const struct json_node *node = &keys->nodes[k];
        walker->states[k].in_array = keys->nodes[node->parent].elements == k || walker->states[node->parent].in_array;
        walker->states[k].has_values = evidence_has_values(&node->evidence);
    }
}

void json_walker_free(struct json_walker *walker)
{
    free(walker->states);
    free(walker->transitions);
    free(walker->values);
    strbuf_free(&walker->scratch);
}

/* On the way from a value to the next one. */
struct step_over {
    enum { AT_KEY, AT_VALUE, AT_NEXT, AT_SCALAR, AT_END } place;
    const char *at, *end;
    size_t node;               /* of the value; of AT_KEY and AT_NEXT that of the open object or array */
    bool array;                /* of AT_NEXT: it is one */
    bool known;                /* nothing was met that is not */
    uint32_t entered[ENTERED]; /* as in a transition */
    size_t entered_count;
};

static void enter(struct json_walker *walker, size_t node)
{
    struct json_state *state = &walker->states[node];
    walker->twice = walker->twice || state->record == walker->record;
    state->record = walker->record;
}

static void end_value(const struct json_walker *walker, struct step_over *step)
{
    const size_t node = step->node;
    step->node = walker->keys->nodes[node].parent;
    step->array = node > 0 && walker->keys->nodes[step->node].elements == node;
    step->place = node > 0 ? AT_NEXT : AT_END;
}

static void over_key(struct json_walker *walker, struct step_over *step)
{
    struct cell key;
    size_t guess = 0;
    step->at = json_key(step->at, step->end, &key);
    if (!step->at)
        return;
    const size_t field = json_field(walker->keys, step->node, key, &guess, walker->table->dialect, &walker->scratch);
    if (!field) {
        walker->found(walker->context, step->node, (struct text){key.at - 1, (size_t)(key.end - key.at) + 1});
        step->at = json_skip_value(step->at, step->end);
        step->place = AT_NEXT;
        step->array = step->known = false;
        return;
    }
    step->node = field;
    step->place = AT_VALUE;
    if (walker->states[field].in_array)
        return;
    enter(walker, field);
    if (step->entered_count < ENTERED)
        step->entered[step->entered_count] = (uint32_t)field;
    step->entered_count++;
}

static void over_opening(struct json_walker *walker, struct step_over *step)
{
    const struct json_node *node = &walker->keys->nodes[step->node];
    const char first = step->at < step->end ? *step->at : '\0';
    const bool object = first == '{', array = first == '[';
    if (!object && !array) {
        step->place = AT_SCALAR;
    } else if (object ? !node->fields : !node->elements) {
        if (node->level < JSON_LEVELS)
            walker->found(walker->context, step->node, (struct text){step->at, 1});
        step->at = json_skip_value(step->at, step->end);
        step->known = false;
        end_value(walker, step);
    } else {
        step->at = json_enter(step->at, step->end);
        const bool empty = step->at < step->end && *step->at == (object ? '}' : ']');
        step->at += empty;
        if (empty)
            end_value(walker, step);
        else if (object)
            step->place = AT_KEY;
        else
            step->node = node->elements;
    }
}

static void over_next(const struct json_walker *walker, struct step_over *step)
{
    bool more = false;
    step->at = json_next(step->at, step->end, step->array ? ']' : '}', &more);
    if (!more) {
        end_value(walker, step);
    } else {
        step->place = step->array ? AT_VALUE : AT_KEY;
        step->node = step->array ? walker->keys->nodes[step->node].elements : step->node;
    }
}

/* Keeps what a step was. */
static void learn(struct json_walker *walker, size_t from, const char *begin, const struct step_over *step)
{
    const size_t length = (size_t)(step->at - begin);
    struct json_state *state = &walker->states[from];
    if (!step->known || length > TEXT_BYTES || step->entered_count > ENTERED || state->count == MAX_TRANSITIONS)
        return;
    walker->transitions =
        heap_reserve(walker->transitions, walker->count, &walker->capacity, sizeof *walker->transitions);
    struct json_transition *added = &walker->transitions[walker->count++];
    *added = (struct json_transition){.mask = length < COMPARED ? ((uint32_t)1 << length) - 1 : UINT32_MAX,
                                      .node = (uint32_t)step->node,
                                      .length = (uint8_t)length,
                                      .entered_count = (uint8_t)step->entered_count};
    memcpy(added->text, begin, length);
    memcpy(added->entered, step->entered, sizeof added->entered);
    /* Behind the others: those that were met first are frequent. */
    uint32_t *last = &state->first;
    while (*last > 0)
        last = &walker->transitions[*last - 1].next;
    *last = (uint32_t)walker->count;
    state->count++;
}

/* A step without a transition. */
static const char *step_slowly(struct json_walker *walker, size_t *node, const char *at, const char *end)
{
    struct step_over step = {.at = at, .end = end, .node = *node, .known = true};
    if (*node > 0)
        end_value(walker, &step);
    else
        step.place = AT_VALUE;
    while (step.at && step.place != AT_SCALAR && step.place != AT_END) {
        if (step.place == AT_KEY)
            over_key(walker, &step);
        else if (step.place == AT_VALUE)
            over_opening(walker, &step);
        else
            over_next(walker, &step);
    }
    if (step.at)
        learn(walker, *node, at, &step);
    *node = step.node;
    return step.at;
}

/* Whether the text is at `at`; TEXT_BYTES are readable there. */
static inline bool is_at(const struct json_transition *transition, const char *at)
{
    const size_t length = transition->length;
#ifdef __SSE2__
    uint32_t equal = 0;
    for (int k = 0; k < COMPARED; k += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(transition->text + k));
        const __m128i here = _mm_loadu_si128((const __m128i *)(const void *)(at + k));
        equal |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, here)) << k;
    }
    return (~equal & transition->mask) == 0 &&
           (length <= COMPARED || memcmp(at + COMPARED, transition->text + COMPARED, length - COMPARED) == 0);
#else
    return memcmp(at, transition->text, length) == 0;
#endif
}

/* Steps from a value of the node, or the beginning of a record, to the next one, or to the record's end, of node 0. */
static inline const char *step(struct json_walker *walker, size_t *node, const char *at)
{
    for (uint32_t next = walker->states[*node].first; next > 0;) {
        const struct json_transition *transition = &walker->transitions[next - 1];
        next = transition->next;
        if (!is_at(transition, at))
            continue;
        const char *to = at + transition->length;
        /* A blank, which may be within an empty array, too, or no value of the node follows. */
        if (transition->node > 0 && (*to <= ' ' || *to == '{' || *to == '[' || *to == ']'))
            continue;
        for (int k = 0; k < transition->entered_count; k++)
            enter(walker, transition->entered[k]);
        *node = transition->node;
        return to;
    }
    return NULL;
}

const char *json_walk(struct json_walker *walker, const char *at)
{
    const struct table *table = walker->table;
    const char *end = table->end, *limit = NULL; /* of the record */
    size_t node = 0;
    walker->record++;
    walker->value_count = 0;
    do {
        const char *begin = at;
        at = end - begin > TEXT_BYTES ? step(walker, &node, begin) : NULL;
        if (!at) {
            limit = limit ? limit : record_limit(table, begin, end);
            at = step_slowly(walker, &node, begin, limit);
        }
        if (!at || node == 0)
            return at;
        if (at < end && *at != 'n' && !walker->states[node].has_values)
            walker->found(walker->context, node, (struct text){"v", 1});
        const char *value = at;
        at = at < end && *at == '"' ? json_skip_string(at + 1, end) : json_skip_number(at, end);
        if (!at && (value == end || *value != '"'))
            at = json_skip_value(value, end);
        if (walker->wanted && walker->wanted[node])
            *HEAP_PUSH(walker->values, walker->value_count, walker->value_capacity) =
                (struct json_found){node, value, at};
    } while (at);
    return at;
}
