#include "engine/text/pass.h"

#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/records.h"

#include <string.h>

static bool parse_node(struct parser *parser, const char **at, size_t k, int64_t row);

static struct step *step_of(const struct pass *pass, size_t column)
{
    const size_t s = column == NO_COLUMN ? pass->count : pass->step_of[column];
    return s < pass->count ? &pass->steps[s] : NULL;
}

static bool malformed(struct parser *parser)
{
    return parser->chunk->problem.kind == PROBLEM_NONE || parser->chunk->problem.kind == PROBLEM_QUOTE
               ? parse_fail(parser, PROBLEM_COUNT, parser->record, 0)
               : false;
}

static void set_absent(struct parser *parser, struct step *step, int64_t row)
{
    if (step->column->kind == VALUE_LIST)
        ((int64_t *)step->data)[row] = parser->member->next[step->column->elements];
    else
        clear_value(step, row);
    step->absent[row] = 1;
    parser->member->seen[step->number].missing++;
}

/* Marks what a row, a record or an element, does not have. */
static void finish_row(struct parser *parser, size_t space, int64_t row)
{
    const struct pass *pass = parser->pass;
    for (size_t s = pass->space_steps[space]; s < pass->space_steps[space + 1]; s++) {
        if (parser->member->stored[s] != row + 1)
            set_absent(parser, &pass->steps[s], row);
    }
}

static bool parse_members(struct parser *parser, const char **from, size_t k, int64_t row)
{
    const struct json_keys *keys = parser->table->keys;
    const struct dialect *dialect = parser->table->dialect;
    struct member *member = parser->member;
    const char *end = parser->end, *at = json_enter(*from, end);
    size_t guess = 0;
    bool more = at == end || *at != '}';
    at += !more;
    while (more) {
        struct cell key;
        size_t field = json_expected(keys, k, &at, end, &guess, &key);
        if (!field) {
            at = json_key(at, end, &key);
            if (!at)
                return malformed(parser);
            field = json_field(keys, k, key, &guess, dialect, &member->scratch);
        }
        if (field && !parser->counts && member->last_rows[field] == row + 1)
            return parse_fail(parser, PROBLEM_KEY, key.at, field);
        if (field && !parser->counts)
            member->last_rows[field] = row + 1;
        else if (!field && !member->unknown)
            member->unknown = key.at;
        if (field && parser->wanted[field]) {
            if (!parse_node(parser, &at, field, row))
                return malformed(parser);
            if (parser->left == 0)
                return true;
        } else if (!(at = json_skip_value(at, end))) {
            return malformed(parser);
        }
        at = json_next(at, end, '}', &more);
        if (!at)
            return malformed(parser);
    }
    *from = at;
    return true;
}

/* The elements of an array, each a row of its own. The text has as many as were counted, unless the file changes. */
static bool parse_elements(struct parser *parser, const char **from, size_t k, int64_t row)
{
    const struct pass *pass = parser->pass;
    const struct json_node *node = &parser->table->keys->nodes[k];
    struct member *member = parser->member;
    struct step *step = parser->counts ? NULL : step_of(pass, node->list);
    const size_t space = parser->table->columns[node->list].elements;
    const char *end = parser->end, *at = json_enter(*from, end);
    if (step) {
        ((int64_t *)step->data)[row] = member->next[space];
        member->seen[step->number].values++;
        member->stored[step->number] = row + 1;
    }
    bool more = at == end || *at != ']';
    at += !more;
    while (more) {
        const int64_t element = member->next[space]++;
        if (!parser->counts && element >= pass->first_rows[space * (size_t)pass->table->chunk_count + parser->part] +
                                              pass->rows_of[space * (size_t)pass->table->chunk_count + parser->part])
            return malformed(parser);
        if (!parse_node(parser, &at, node->elements, element))
            return malformed(parser);
        if (!parser->counts)
            finish_row(parser, space, element);
        at = json_next(at, end, ']', &more);
        if (!at)
            return malformed(parser);
    }
    *from = at;
    return true;
}

/* Parses the value of a node, or skips it. */
static bool parse_node(struct parser *parser, const char **at, size_t k, int64_t row)
{
    const struct json_node *node = &parser->table->keys->nodes[k];
    const unsigned wanted = parser->wanted[k];
    const char first = *at < parser->end ? **at : '\0';
    if (first == '{' && (wanted & WANTED_FIELDS) && !node->raw)
        return parse_members(parser, at, k, row);
    if (first == '[' && (wanted & WANTED_ELEMENTS) && !node->raw)
        return parse_elements(parser, at, k, row);
    struct step *step = parser->counts || !(wanted & WANTED_VALUES) ? NULL : step_of(parser->pass, node->column);
    if (step && (node->raw || first != '{')) {
        parser->member->stored[step->number] = row + 1;
        parser->left--;
        return parse_value(parser, at, step, row);
    }
    *at = json_skip_value(*at, parser->end);
    return *at;
}

bool parse_object(struct parser *parser, const char **from, int64_t row)
{
    const struct table *table = parser->table;
    const char *limit = parser->end, *begin = *from;
    parser->record = begin;
    parser->end = record_limit(table, begin, limit);
    parser->left = parser->may_stop ? parser->pass->count : SIZE_MAX;
    const char *at = json_skip_blank(begin, parser->end);
    bool good = at < parser->end && *at == '{' ? parse_members(parser, &at, 0, row) : malformed(parser);
    if (good && !parser->counts)
        finish_row(parser, 0, row);
    if (good && parser->left == 0) {
        *from = parser->end + (parser->end < limit);
    } else if (good) {
        *from = record_next(table, at, parser->end, limit);
        good = *from || malformed(parser);
    }
    parser->end = limit;
    return good;
}
