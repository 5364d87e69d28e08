#include "engine/text/pass.h"

#include "engine/text/cells.h"

#include <stdatomic.h>

bool parse_fail(struct parser *parser, enum problem_kind kind, const char *at, size_t column)
{
    parser->chunk->problem = (struct problem){kind, at, column};
    return false;
}

/* Parses a record and its newline. */
static bool parse_line(struct parser *parser, const char **from, int64_t row)
{
    const struct table *table = parser->table;
    const char *end = parser->end, *at = *from;
    enum problem_kind problem = PROBLEM_NONE;
    size_t left = table->count; /* cells still to come */
    for (size_t i = 0; i < parser->pass->count; i++) {
        const struct step *step = &parser->pass->steps[i];
        if (step->skip > 0 && !(at = cells_skip(table->dialect, at, end, step->skip, &problem)))
            return parse_fail(parser, problem, *from, 0);
        if (!parse_value(parser, &at, step, row))
            return false;
        left -= step->skip + 1;
        if (left > 0) {
            if (at == end || *at != parser->delimiter)
                return parse_fail(parser, PROBLEM_COUNT, *from, 0);
            at++;
        }
    }
    if (left > 1 && !(at = cells_skip(table->dialect, at, end, left - 1, &problem)))
        return parse_fail(parser, problem, *from, 0);
    if (left > 0) {
        struct cell cell;
        at = cell_scan(table->dialect, at, end, &cell);
        if (!at)
            return parse_fail(parser, PROBLEM_QUOTE, *from, 0);
    }
    if (at < end && *at != '\n')
        return parse_fail(parser, PROBLEM_COUNT, *from, 0);
    *from = at < end ? at + 1 : at;
    return true;
}

/* Parses a chunk record by record. */
static bool parse_lines(struct parser *parser)
{
    const struct chunk *chunk = parser->chunk;
    const char *at = chunk->begin;
    for (int64_t row = chunk->first_row; row < chunk->first_row + chunk->rows; row++) {
        if (at == chunk->end)
            return parse_fail(parser, PROBLEM_QUOTE, at, 0);
        if (!(parser->table->dialect->json ? parse_object(parser, &at, row) : parse_line(parser, &at, row)))
            return false;
    }
    /* Rows were counted by newlines; a difference means misplaced quotes. */
    return at == chunk->end || parse_fail(parser, PROBLEM_QUOTE, at, 0);
}

/* Parses a chunk column by column. The first problem is the one of the first record. */
static bool parse_columns(struct parser *parser)
{
    struct problem *found = &parser->chunk->problem, first = {0};
    for (size_t i = 0; i < parser->pass->count; i++) {
        if (!parse_column(parser, &parser->pass->steps[i], &parser->member->ends) &&
            (first.kind == PROBLEM_NONE || found->at < first.at))
            first = *found;
    }
    *found = first;
    return first.kind == PROBLEM_NONE;
}

static void parse_chunk(void *context, int member, int64_t part)
{
    struct pass *pass = context;
    const struct table *table = pass->table;
    const struct dialect *dialect = table->dialect;
    struct chunk *chunk = &table->chunks[part];
    struct parser parser = {
        pass, table, chunk, &pass->members[member], chunk->end, dialect->delimiter, dialect->json ? '}' : '\n'};
    chunk->member = member;
    chunk->problem = (struct problem){0};
    if (part > pass->failed)
        return;
    const bool by_column = !dialect->json && cell_ends_find(table, chunk, &parser.member->ends);
    const bool ok = by_column ? parse_columns(&parser) : parse_lines(&parser);
    int64_t failed = pass->failed;
    while (!ok && part < failed && !atomic_compare_exchange_weak(&pass->failed, &failed, part))
        continue;
}

bool pass_run(struct pass *pass, const struct workers *workers)
{
    pass->failed = pass->table->chunk_count;
    return workers_run(workers, pass->table->chunk_count, parse_chunk, pass);
}
