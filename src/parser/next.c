#include "parser/next.h"

#include "parser/grammar.h"
#include "parser/hints.h"
#include "parser/parser.h"

static const struct {
    int token;
    enum next_kind kind;
} kind_of_token[] = {
    {TOKEN_INT, NEXT_EXPRESSION},   {TOKEN_POSITION, NEXT_COLUMN}, {TOKEN_RANGE, NEXT_SOURCE},  {TOKEN_PATH, NEXT_PATH},
    {TOKEN_STAGE_NAME, NEXT_STAGE}, {TOKEN_DIALECT, NEXT_DIALECT}, {TOKEN_CLAUSE, NEXT_CLAUSE},
};

/* `group K: _` and `group K: sum(a), _`, but not `group K: sum(max(a, _`. */
static bool awaits_aggregate(const struct trail *trail)
{
    return trail->stage && trail->stage->token == TOKEN_STAGE_GROUP && trail->second_part &&
           trail->brackets == trail->outer && (trail->last.kind == TOKEN_COLON || trail->last.kind == TOKEN_COMMA);
}

static unsigned kinds_of(const struct automaton *automaton, const struct trail *trail)
{
    unsigned kinds = trail->count == 0 ? NEXT_STATEMENT : 0;
    for (size_t i = 0; i < sizeof kind_of_token / sizeof *kind_of_token; i++)
        kinds |= automaton_expects(automaton, kind_of_token[i].token) ? kind_of_token[i].kind : 0u;
    if (kinds & NEXT_EXPRESSION)
        kinds &= ~(unsigned)NEXT_COLUMN;
    if (kinds & NEXT_EXPRESSION && awaits_aggregate(trail))
        kinds = NEXT_AGGREGATE;
    const bool name = automaton_expects(automaton, TOKEN_NAME);
    /* After a path or the name of its column; nowhere else do two names follow each other. */
    const bool named = trail->count > 0 && (trail->last.kind == TOKEN_PATH || trail->last.kind == TOKEN_STRING ||
                                            trail->last.kind == TOKEN_NAME);
    if (name && named)
        kinds |= NEXT_FORMAT;
    if (name && automaton_expects(automaton, TOKEN_STAR))
        kinds |= NEXT_COMBINER;
    /* Without an axis, the word is a name. */
    if (trail->count > 0 && trail->last.word && trail->last.word->token == TOKEN_ALONG)
        kinds |= NEXT_AXIS;
    return kinds;
}

static void describe(const struct automaton *automaton, const struct trail *trail, struct arena *arena,
                     struct next *next)
{
    next->kinds = kinds_of(automaton, trail);
    next->words = arena_array(arena, word_count, sizeof *next->words);
    for (size_t i = 0; i < word_count; i++) {
        if (automaton_expects(automaton, words[i].token))
            next->words[next->word_count++] = &words[i];
    }
}

/* Feeds all lexemes of an incomplete text. */
static bool follow_all(struct parser *p)
{
    bool first = true;
    for (parser_begin_statement(p);; first = false) {
        struct lexeme lexeme = parser_lexeme(p);
        if (lexeme.kind == LEX_EOF)
            return true;
        if (first && lexeme.kind == TOKEN_PIPE)
            parser_feed_last(p, lexeme);
        if (!filler_skip(&p->trail, &p->lexer, lexeme) && !parser_follow(p, &lexeme))
            return false;
    }
}

bool next_after(const struct source *text, struct arena *arena, struct next *next)
{
    struct diags diags;
    diags_init(&diags, arena);
    struct parser p = parser_new(text, PARSE_PROMPT, arena, &diags);
    *next = (struct next){0};
    if (text->length > LIMIT_TEXT)
        return false;
    p.automaton = automaton_new(&p.tree);
    const bool followed = follow_all(&p);
    if (followed)
        describe(p.automaton, &p.trail, arena, next);
    automaton_free(p.automaton);
    return followed;
}

/* The open brackets, and the last few pipes within each. */
enum { MAX_LEVELS = 16, MAX_PIPES = 8 };

struct level {
    uint32_t begin;
    uint32_t pipes[MAX_PIPES]; /* a ring */
    size_t count;
};

static size_t add_parts(const struct source *text, const struct level *level, struct span *parts, size_t count,
                        size_t max)
{
    const size_t pipes = level->count < MAX_PIPES ? level->count : MAX_PIPES;
    for (size_t i = 1; i <= pipes && count < max; i++)
        parts[count++] = (struct span){text, level->begin, level->pipes[(level->count - i) % MAX_PIPES]};
    return count;
}

size_t next_pipelines(const struct source *text, struct span *parts, size_t max)
{
    struct level levels[MAX_LEVELS] = {{0}};
    size_t depth = 0; /* brackets deeper than MAX_LEVELS are skipped */
    struct lexer lexer;
    lexer_init(&lexer, text);
    for (;;) {
        struct lexeme lexeme = lexer_next(&lexer);
        if (lexeme.kind == LEX_EOF)
            break;
        if (lexeme.kind == TOKEN_LP || lexeme.kind == TOKEN_LB) {
            if (++depth < MAX_LEVELS)
                levels[depth] = (struct level){.begin = lexeme.end};
        } else if ((lexeme.kind == TOKEN_RP || lexeme.kind == TOKEN_RB) && depth > 0) {
            depth--;
        } else if (lexeme.kind == TOKEN_PIPE && depth < MAX_LEVELS) {
            levels[depth].pipes[levels[depth].count++ % MAX_PIPES] = lexeme.begin;
        } else if (lexeme.kind == LEX_SEMICOLON) {
            depth = 0;
            levels[0] = (struct level){.begin = lexeme.end};
        }
    }
    size_t count = 0;
    for (size_t i = depth < MAX_LEVELS ? depth + 1 : MAX_LEVELS; i > 0; i--)
        count = add_parts(text, &levels[i - 1], parts, count, max);
    return count;
}
