#include "parser/parser.h"

#include "base/utf8.h"
#include "parser/grammar.h"
#include "parser/hints.h"
#include "parser/lookahead.h"

#include <string.h>

enum outcome { STATEMENT_READ, STATEMENT_FAILED, STATEMENT_INCOMPLETE };

static size_t error_count(const struct parser *p)
{
    size_t count = 0;
    for (size_t i = p->records_before; i < p->tree.diags->count; i++)
        count += p->tree.diags->at[i].severity == SEVERITY_ERROR;
    return count;
}

static bool can_end(const struct parser *p)
{
    return automaton_accepts(p->automaton, 0);
}

/* Whether the string just read is text, not a path. Where both may be, as at the start of a statement, a path is
 * followed by a stage, `as` or a format. */
static bool is_text(struct parser *p)
{
    if (!automaton_accepts(p->automaton, TOKEN_TEXT))
        return false;
    if (!automaton_expects(p->automaton, TOKEN_LOAD))
        return true;
    struct lexer ahead = p->lexer;
    int next = lexer_next(&ahead).kind;
    const bool same_line = next != LEX_NEWLINE;
    while (next == LEX_NEWLINE)
        next = lexer_next(&ahead).kind;
    return next != TOKEN_PIPE && !(same_line && (next == TOKEN_AS || next == TOKEN_NAME));
}

/* A bare path is read only where the grammar accepts one; where it also accepts a name, the word must look like a path,
 * and where an expression may stand it must not look like one. */
static enum path_form path_form(const struct parser *p)
{
    if (!automaton_accepts(p->automaton, TOKEN_NAME))
        return PATH_ANY_WORD;
    return automaton_expects(p->automaton, TOKEN_LOAD) ? PATH_CERTAIN : PATH_LIKE;
}

/* Whether the bracket just read opens a pipeline that is a value. After `in` it is a relation. */
static bool opens_value(const struct parser *p)
{
    const int last = p->trail.last.kind;
    const bool after_in = p->trail.count > 0 && (last == TOKEN_IN || last == TOKEN_NOT_IN);
    return !after_in && ahead_is_value(p->lexer, automaton_expects(p->automaton, TOKEN_LOAD));
}

struct lexeme parser_lexeme(struct parser *p)
{
    if (automaton_expects(p->automaton, TOKEN_DIALECT)) {
        struct lexeme dialect = lexer_dialect(&p->lexer);
        if (dialect.kind != LEX_NONE)
            return dialect;
    }
    if (automaton_accepts(p->automaton, TOKEN_PATH)) {
        struct lexeme path = lexer_path(&p->lexer, path_form(p));
        if (path.kind != LEX_NONE)
            return path;
    }
    struct lexeme next = lexer_set(&p->lexer, set_form(p->automaton, p->trail.count));
    if (next.kind == LEX_NONE)
        next = lexer_next(&p->lexer);
    if ((next.kind == TOKEN_NAME || next.word) && automaton_expects(p->automaton, TOKEN_CLAUSE)) {
        const int clause = ahead_clause(p->lexer, next);
        next.kind = clause ? clause : next.kind;
    }
    if (next.kind == TOKEN_STRING && is_text(p))
        next.kind = TOKEN_TEXT;
    if (next.kind == TOKEN_LP && automaton_accepts(p->automaton, TOKEN_VALUE_LP) && opens_value(p))
        next.kind = TOKEN_VALUE_LP;
    if (next.kind == TOKEN_ALONG && !automaton_accepts(p->automaton, TOKEN_ALONG))
        next.kind = TOKEN_NAME;
    const bool name = next.kind == TOKEN_NAME || (next.word && !next.word->reserved && next.word->stage == STAGE_NONE);
    if (name && automaton_accepts(p->automaton, TOKEN_STAGE_NAME) && !automaton_expects(p->automaton, next.kind) &&
        !automaton_accepts(p->automaton, TOKEN_NAME) && ahead_uses_stage(p->lexer))
        next.kind = TOKEN_STAGE_NAME;
    if (next.kind == TOKEN_BANG_TILDE && !automaton_accepts(p->automaton, TOKEN_BANG_TILDE)) {
        next.kind = TOKEN_BANG; /* !~x */
        next.end--;
        p->lexer.cursor--;
    }
    if (next.kind == TOKEN_PIPE && automaton_accepts(p->automaton, TOKEN_HEAD) &&
        ahead_is_head(p->lexer, automaton_accepts(p->automaton, TOKEN_PIPE), p->mode == PARSE_PROMPT))
        next.kind = TOKEN_HEAD;
    return next;
}

/* Skips blank and comment lines; returns the lexeme after them without consuming it. */
static struct lexeme peek_next_line(struct parser *p)
{
    for (;;) {
        struct lexer before = p->lexer;
        struct lexeme next = lexer_next(&p->lexer);
        if (next.kind != LEX_NEWLINE) {
            p->lexer = before;
            return next;
        }
    }
}

/* Whether a new statement seems to follow. Its first word counts only where the grammar does not accept it as itself:
 * in `zip (` followed by a line with `load` it does. */
static bool begins_statement(const struct parser *p)
{
    struct lexer ahead = p->lexer;
    const struct lexeme command = lexer_command(&ahead);
    if (command.kind == LEX_COMMAND && p->tree.source->text[command.begin] == '.')
        return true;
    const int kind = lexer_next(&ahead).kind;
    if (kind == TOKEN_LET)
        return !automaton_expects(p->automaton, kind) || !ahead_is_local(ahead);
    return (kind == TOKEN_DEF || kind == TOKEN_EXPLAIN || kind == TOKEN_RACE || kind == TOKEN_LOAD ||
            kind == TOKEN_RANGE) &&
           !automaton_expects(p->automaton, kind);
}

/* Whether the statement with an error seems to end with the line just read. Lines that begin with `|` or a closing
 * bracket belong to it; with open brackets so does everything up to a line that begins a statement. */
static bool ends_here(struct parser *p)
{
    struct lexeme next = peek_next_line(p);
    if (next.kind == TOKEN_PIPE || next.kind == TOKEN_RP || next.kind == TOKEN_RB)
        return false;
    return p->trail.brackets == 0 || begins_statement(p);
}

/* Whether the lexeme is not text; the rest of its line is not worth a message. */
static bool is_garbage(const struct parser *p, struct lexeme lexeme)
{
    uint32_t code = 0;
    const char *text = p->tree.source->text + lexeme.begin;
    return lexeme.kind == LEX_BAD_BYTE ||
           (lexeme.kind == LEX_BAD_CHARACTER && utf8_decode(text, lexeme.end - lexeme.begin, &code) &&
            utf8_is_control(code));
}

/* Skips the rest of a statement after an error. `lexeme` is the wrong one. */
static enum outcome recover(struct parser *p, struct lexeme lexeme)
{
    if (p->restart.source) {
        p->lexer = p->restart;
        return STATEMENT_FAILED;
    }
    for (bool garbage = false;; lexeme = lexer_next(&p->lexer)) {
        garbage = garbage || is_garbage(p, lexeme);
        if (lexeme.kind == LEX_EOF || (lexeme.kind == LEX_SEMICOLON && !garbage) ||
            (lexeme.kind == LEX_NEWLINE && ends_here(p)))
            return STATEMENT_FAILED;
        if (lexeme.kind == TOKEN_LP || lexeme.kind == TOKEN_LB)
            p->trail.brackets++;
        if ((lexeme.kind == TOKEN_RP || lexeme.kind == TOKEN_RB) && p->trail.brackets > 0)
            p->trail.brackets--;
    }
}

/* Reports an unexpected lexeme. On a line that looks like a statement of its own, the error is in the statement before.
 */
static void report(const struct parser *p, struct lexeme lexeme)
{
    struct diags *diags = p->tree.diags;
    report_unexpected(p->automaton, &p->tree, &p->trail, lexeme);
    if (p->restart.source) {
        struct diag *diag = &diags->at[diags->count - 1];
        diag_second(diags, diag->span, diag->message);
        diag->span = p->before;
        diag->message = "incomplete statement: the next line does not continue it";
    }
}

static enum outcome unexpected(struct parser *p, struct lexeme lexeme)
{
    report(p, lexeme);
    return recover(p, lexeme);
}

/* Whether the word just read is a name here, although it may begin something elsewhere. */
static bool is_plain_name(const struct parser *p, int kind)
{
    if (kind == TOKEN_LET)
        return p->trail.count > 0 && !ahead_is_definition(p->lexer, p->mode == PARSE_PROMPT);
    return (kind == TOKEN_INTO || kind == TOKEN_ON) && !automaton_accepts(p->automaton, kind);
}

/* Whether a line that looks like a statement begins with this `let`, although it may be within an expression here. */
static bool begins_let_statement(const struct parser *p, int kind)
{
    return kind == TOKEN_LET && p->restart.source && p->trail.last.begin == p->before.begin;
}

/* Feeds one lexeme. Returns false with an error recorded if it has no value, is not accepted here or exceeds a limit.
 */
static bool feed(struct parser *p, struct lexeme *lexeme)
{
    struct token token;
    if (is_plain_name(p, lexeme->kind))
        lexeme->kind = TOKEN_NAME;
    if (!token_read(p->tree.source, lexeme, p->tree.arena, p->tree.diags, &token))
        return false;
    if (!automaton_accepts(p->automaton, lexeme->kind) || begins_let_statement(p, lexeme->kind)) {
        report(p, *lexeme);
        return false;
    }
    if (lexeme->kind == TOKEN_LP || lexeme->kind == TOKEN_LB || lexeme->kind == TOKEN_VALUE_LP)
        p->trail.brackets++;
    if (lexeme->kind == TOKEN_RP || lexeme->kind == TOKEN_RB)
        p->trail.brackets--;
    trail_add(&p->trail, p->automaton, *lexeme);
    automaton_feed(p->automaton, lexeme->kind, token);
    if (p->trail.brackets > LIMIT_NESTING || p->tree.too_deep)
        tree_too_deep(&p->tree, (struct span){p->tree.source, lexeme->begin, lexeme->end});
    return !p->tree.failed;
}

/* At a newline where the statement may end: whether the next line continues it. So does one that begins with an
 * operator, if no statement could. */
static bool continues(struct parser *p)
{
    static const int operators[] = {TOKEN_AND,
                                    TOKEN_OR,
                                    TOKEN_IN,
                                    TOKEN_AS,
                                    TOKEN_EQ,
                                    TOKEN_NE,
                                    TOKEN_LT,
                                    TOKEN_LE,
                                    TOKEN_GT,
                                    TOKEN_GE,
                                    TOKEN_BITAND,
                                    TOKEN_XOR,
                                    TOKEN_PLUS,
                                    TOKEN_STAR,
                                    TOKEN_SLASH,
                                    TOKEN_SHL,
                                    TOKEN_SHR,
                                    TOKEN_SLASH_SLASH,
                                    TOKEN_COMMA,
                                    TOKEN_PERCENT,
                                    TOKEN_QUESTION,
                                    TOKEN_COALESCE,
                                    TOKEN_SLASH_QUESTION};
    const int next = peek_next_line(p).kind;
    struct lexer ahead = p->lexer;
    if (lexer_command(&ahead).kind == LEX_COMMAND)
        return false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (next == operators[i])
            return automaton_accepts(p->automaton, next);
    }
    return next == TOKEN_PIPE;
}

/* Tells of a line that begins with a minus after a pipeline: it might be meant to continue an expression. */
static void note_minus(struct parser *p)
{
    const struct lexeme next = peek_next_line(p);
    if (next.kind != TOKEN_MINUS || !p->trail.stage || !automaton_accepts(p->automaton, TOKEN_MINUS))
        return;
    diag_note(p->tree.diags, (struct span){p->tree.source, next.begin, next.end},
              "a line that begins with `-` is a statement of its own");
    diag_hint(p->tree.diags, "to continue the line before, end it with the `-`");
}

static enum outcome finish(struct parser *p)
{
    automaton_feed(p->automaton, 0, (struct token){0});
    if (p->tree.failed)
        return STATEMENT_FAILED;
    p->tree.stmt->span = (struct span){p->tree.source, p->trail.first.begin, p->trail.last.end};
    return STATEMENT_READ;
}

/* Reads one statement that begins with `lexeme`, and its terminator. The result is in p->tree.stmt. */
static enum outcome read_statement(struct parser *p, struct lexeme lexeme)
{
    for (;;) {
        switch (lexeme.kind) {
        case LEX_EOF:
            if (can_end(p))
                return finish(p);
            if (p->mode == PARSE_PROMPT)
                return STATEMENT_INCOMPLETE;
            return unexpected(p, lexeme);
        case LEX_SEMICOLON:
            return can_end(p) ? finish(p) : unexpected(p, lexeme);
        case LEX_NEWLINE:
            /* Where the statement cannot end, a newline is white space. */
            if (can_end(p) && !continues(p)) {
                note_minus(p);
                return finish(p);
            }
            p->restart = begins_statement(p) ? p->lexer : (struct lexer){0};
            p->before = (struct span){p->tree.source, p->trail.last.begin, p->trail.last.end};
            break;
        default:
            if (!filler_skip(&p->trail, &p->lexer, lexeme) && !feed(p, &lexeme))
                return recover(p, lexeme);
            break;
        }
        lexeme = parser_lexeme(p);
    }
}

void parser_begin_statement(struct parser *p)
{
    p->tree.stmt = NULL;
    p->tree.terms = 0;
    p->tree.failed = p->tree.too_deep = p->tree.unexpected = false;
    p->trail = (struct trail){0};
    p->restart = (struct lexer){0};
    automaton_reset(p->automaton);
}

void parser_feed_last(struct parser *p, struct lexeme pipe)
{
    automaton_feed(p->automaton, TOKEN_LAST, (struct token){.begin = pipe.begin, .end = pipe.begin});
}

static enum outcome read_command(struct parser *p, struct lexeme *command)
{
    struct token token;
    if (!token_read(p->tree.source, command, p->tree.arena, p->tree.diags, &token))
        return STATEMENT_FAILED;
    stmt_command(&p->tree, token);
    return STATEMENT_READ;
}

/* Notes in the errors from `since` on which text the statement has. */
static void note_statement(const struct parser *p, uint32_t begin, size_t since)
{
    const struct source *source = p->tree.source;
    size_t end = p->restart.source ? p->before.end : (size_t)((const char *)p->lexer.cursor - source->text);
    while (end > begin && strchr(" \t\r\n;", source->text[end - 1]))
        end--;
    for (size_t i = since; i < p->tree.diags->count; i++)
        p->tree.diags->at[i].statement = (struct span){source, begin, (uint32_t)end};
}

/* Reads all statements and appends those that could be read to the list. */
static enum parse_result read_statements(struct parser *p, struct stmt **end)
{
    bool first = true;
    for (;;) {
        const struct lexer before = p->lexer;
        struct lexeme lexeme = lexer_command(&p->lexer);
        if (lexeme.kind == LEX_NONE)
            lexeme = lexer_next(&p->lexer);
        if (lexeme.kind == LEX_EOF)
            return error_count(p) ? PARSE_FAILED : PARSE_OK;
        if (lexeme.kind == LEX_NEWLINE || lexeme.kind == LEX_SEMICOLON)
            continue;

        parser_begin_statement(p);
        if (lexeme.kind != LEX_COMMAND) {
            p->lexer = before;
            lexeme = parser_lexeme(p);
        }
        if (first && p->mode == PARSE_PROMPT && lexeme.kind == TOKEN_PIPE)
            parser_feed_last(p, lexeme);
        first = false;

        const uint32_t begin = lexeme.begin;
        const size_t diags_before = p->tree.diags->count;
        const enum outcome outcome = lexeme.kind == LEX_COMMAND ? read_command(p, &lexeme) : read_statement(p, lexeme);
        if (outcome == STATEMENT_INCOMPLETE)
            return error_count(p) ? PARSE_FAILED : PARSE_INCOMPLETE;
        if (outcome == STATEMENT_READ) {
            *end = p->tree.stmt;
            end = &p->tree.stmt->next;
            continue;
        }
        note_statement(p, begin, diags_before);
        if (p->mode != PARSE_EACH && error_count(p) >= LIMIT_ERRORS) {
            diag_note(p->tree.diags, (struct span){0}, "only the first %d errors are shown", (int)LIMIT_ERRORS);
            return PARSE_FAILED;
        }
    }
}

struct parser parser_new(const struct source *source, enum parse_mode mode, struct arena *arena, struct diags *diags)
{
    struct parser p = {
        .mode = mode,
        .records_before = diags->count,
        .tree = {.source = source, .arena = arena, .diags = diags},
    };
    lexer_init(&p.lexer, source);
    return p;
}

enum parse_result parse(const struct source *source, enum parse_mode mode, struct arena *arena, struct diags *diags,
                        struct stmt **first)
{
    *first = NULL;
    if (source->length > LIMIT_TEXT) {
        diag_error(diags, (struct span){source, 0, 0}, "the query has %zu bytes, the limit is %d", source->length,
                   (int)LIMIT_TEXT);
        return PARSE_FAILED;
    }

    struct parser p = parser_new(source, mode, arena, diags);
    p.automaton = automaton_new(&p.tree);
    const enum parse_result result = read_statements(&p, first);
    automaton_free(p.automaton);
    return result;
}

bool parser_follow(struct parser *p, struct lexeme *lexeme)
{
    const bool ends = lexeme->kind == LEX_SEMICOLON || (lexeme->kind == LEX_NEWLINE && can_end(p) && !continues(p));
    if (p->trail.count == 0 && (lexeme->kind == LEX_SEMICOLON || lexeme->kind == LEX_NEWLINE))
        return true;
    if (!ends)
        return lexeme->kind == LEX_NEWLINE || feed(p, lexeme);
    const bool whole = can_end(p);
    parser_begin_statement(p);
    return whole;
}
