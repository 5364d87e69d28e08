#include "engine/text/pass.h"

#include "engine/text/cells.h"
#include "engine/text/records.h"

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

static void set_missing(struct parser *parser, const struct step *step, int64_t row)
{
    clear_value(step, row);
    step->absent[row] = 1;
    parser->member->seen[step->number].missing++;
}

/* Parses a record of any number of cells: those that it lacks are missing, further ones are passed over, and where its
 * quotes are malformed it ends with its line. */
static bool parse_loose_line(struct parser *parser, const char **from, int64_t row)
{
    const struct table *table = parser->table;
    const struct pass *pass = parser->pass;
    const struct step *step = pass->steps;
    const char *at = *from;
    struct cell cell;
    for (size_t k = 0; k < table->count; k++) {
        const struct step *wanted =
            step < pass->steps + pass->count && step->column == &table->columns[k] ? step : NULL;
        const char *next = at ? cell_scan(table->dialect, at, parser->end, &cell) : NULL;
        if (wanted && !next)
            set_missing(parser, wanted, row);
        else if (wanted && !parse_value(parser, &at, wanted, row))
            return false;
        at = next && next < parser->end && *next == parser->delimiter ? next + 1 : NULL;
        step += wanted ? 1 : 0;
    }
    size_t cells;
    const char *end = record_end(table, *from, &cells);
    *from = end < parser->end ? end + 1 : parser->end;
    return true;
}

/* Parses a chunk record by record. */
static bool parse_lines(struct parser *parser)
{
    const struct chunk *chunk = parser->chunk;
    const struct table *table = parser->table;
    const bool loose = table->ragged || table->errors == ERRORS_MISSING;
    const struct left_out *left_out = chunk->left_out, *last = left_out ? left_out + chunk->left_out_count : NULL;
    const char *at = chunk->begin;
    for (int64_t row = chunk->first_row; row < chunk->first_row + chunk->rows; row++) {
        if (left_out < last && left_out->begin == at)
            at = left_out++->end;
        if (at == chunk->end)
            return parse_fail(parser, PROBLEM_QUOTE, at, 0);
        if (!(table->dialect->json ? parse_object(parser, &at, row)
              : loose              ? parse_loose_line(parser, &at, row)
                                   : parse_line(parser, &at, row)))
            return false;
    }
    if (left_out < last && left_out->begin == at)
        at = left_out->end;
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
    struct parser parser = {.pass = pass,
                            .table = table,
                            .chunk = chunk,
                            .part = (size_t)part,
                            .member = &pass->members[member],
                            .end = chunk->end,
                            .wanted = pass->counts ? pass->wanted_lists : pass->wanted,
                            .counts = pass->counts,
                            .may_stop =
                                table->sound && !table->values && !pass->counts && pass->space_steps[1] == pass->count,
                            .delimiter = dialect->delimiter,
                            .closing = dialect->json ? '}' : '\n',
                            .bracket = dialect->json ? ']' : '\n'};
    chunk->member = member;
    chunk->problem = (struct problem){0};
    if (part > pass->failed)
        return;
    pass_begin_chunk(&parser);
    const bool by_column =
        !dialect->json && chunk->left_out_count == 0 && cell_ends_find(table, chunk, &parser.member->ends);
    bool ok = by_column ? parse_columns(&parser) : parse_lines(&parser);
    ok = (pass->counts || parse_batches(&parser)) && ok;
    pass_end_chunk(&parser);
    int64_t failed = pass->failed;
    while (!ok && part < failed && !atomic_compare_exchange_weak(&pass->failed, &failed, part))
        continue;
}

bool pass_run(struct pass *pass, const struct workers *workers, bool counts)
{
    pass->failed = pass->table->chunk_count;
    pass->counts = counts;
    return workers_run(workers, pass->table->chunk_count, parse_chunk, pass);
}
