#include "engine/text/pass.h"

#include "engine/text/cells.h"
#include "engine/text/json.h"
#include "engine/text/key_index.h"

#include <string.h>

/* The column of a key, `count` if it is none; `guess` is the one expected. */
static size_t column_of(const struct table *table, struct cell key, size_t guess, struct strbuf *scratch)
{
    const size_t length = (size_t)(key.end - key.at);
    if (guess < table->count) {
        const struct cell *expected = &table->columns[guess].key;
        if ((size_t)(expected->end - expected->at) == length && memcmp(expected->at, key.at, length) == 0)
            return guess;
    }
    return key_index_find(table->keys, cell_text(table->dialect, key, scratch));
}

/* Parses the value of a key, or skips it. */
static bool parse_member(struct parser *parser, const char **at, struct cell key, size_t k, int64_t row)
{
    const struct pass *pass = parser->pass;
    struct member *member = parser->member;
    if (k < parser->table->count) {
        if (member->last_rows[k] == row + 1)
            return parse_fail(parser, PROBLEM_KEY, key.at, k);
        member->last_rows[k] = row + 1;
        if (pass->step_of[k] < pass->count)
            return parse_value(parser, at, &pass->steps[pass->step_of[k]], row);
    } else if (!member->unknown) {
        member->unknown = key.at;
    }
    struct cell cell;
    *at = json_scan(*at, parser->end, &cell);
    return *at;
}

static void mark_absent(struct parser *parser, int64_t row)
{
    const struct pass *pass = parser->pass;
    struct member *member = parser->member;
    for (size_t i = 0; i < pass->count; i++) {
        if (member->last_rows[pass->steps[i].column - parser->table->columns] != row + 1) {
            clear_value(&pass->steps[i], row);
            pass->steps[i].absent[row] = 1;
            member->seen[i].missing++;
        }
    }
}

bool parse_object(struct parser *parser, const char **from, int64_t row)
{
    const size_t count = parser->table->count;
    const char *end = parser->end, *at = json_open(*from, end);
    size_t found = 0, guess = 0;
    bool more = at && at < end && *at != '}';
    while (more) {
        struct cell key;
        at = json_key(at, end, &key);
        if (!at)
            return parse_fail(parser, PROBLEM_COUNT, *from, 0);
        const size_t k = column_of(parser->table, key, guess, &parser->member->scratch);
        if (!parse_member(parser, &at, key, k, row))
            return parser->chunk->problem.kind != PROBLEM_NONE && parser->chunk->problem.kind != PROBLEM_QUOTE
                       ? false
                       : parse_fail(parser, PROBLEM_COUNT, *from, 0);
        found += k < count;
        guess = k + 1;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == end || (*at != ',' && *at != '}'))
            return parse_fail(parser, PROBLEM_COUNT, *from, 0);
        more = *at == ',';
        at += more;
    }
    at = at && at < end ? json_line_end(at + 1, end) : NULL;
    if (!at)
        return parse_fail(parser, PROBLEM_COUNT, *from, 0);
    if (found < count)
        mark_absent(parser, row);
    *from = at < end ? at + 1 : at;
    return true;
}
