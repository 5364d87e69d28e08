#include "parser/hints.h"

#include "parser/grammar.h"

/* Whether the stage takes keys, and its word was just read. */
static bool before_keys(const struct trail *trail)
{
    const struct word *stage = trail->stage;
    return trail->count > 0 && stage && trail->last.word == stage &&
           (stage->token == TOKEN_STAGE_GROUP || stage->token == TOKEN_STAGE_KEYS || stage->token == TOKEN_STAGE_PER);
}

/* `group by K`: what follows is a key, so `by` is none. */
static bool is_by(const struct trail *trail, const struct lexer *lexer, struct lexeme lexeme)
{
    struct lexer ahead = *lexer;
    if (lexeme.kind != TOKEN_BY || !before_keys(trail))
        return false;
    const struct lexeme next = lexer_next(&ahead);
    return next.kind == TOKEN_NAME || next.kind == TOKEN_POSITION || (next.word && next.word->stage != STAGE_NONE);
}

static bool is_count(struct lexeme lexeme)
{
    return lexeme.word && lexeme.word->stage == STAGE_COUNT;
}

/* `count(*)` as a function, and `count()` and `count(*)` as stages: up to where the lexer is left. */
static bool is_star(const struct trail *trail, struct lexer *lexer, struct lexeme lexeme)
{
    struct lexer ahead = *lexer;
    const bool stage = trail->stage && trail->last.word == trail->stage && is_count(trail->last);
    if (stage && lexeme.kind == TOKEN_LP) {
        struct lexeme next = lexer_next(&ahead);
        if (next.kind == TOKEN_STAR)
            next = lexer_next(&ahead);
        if (next.kind != TOKEN_RP)
            return false;
        *lexer = ahead;
        return true;
    }
    const bool star = lexeme.kind == TOKEN_STAR || (lexeme.kind == TOKEN_SET && lexeme.end == lexeme.begin + 1);
    return star && trail->last.kind == TOKEN_LP && is_count(trail->previous) && lexer_next(&ahead).kind == TOKEN_RP;
}

bool filler_skip(const struct trail *trail, struct lexer *lexer, struct lexeme lexeme)
{
    return is_by(trail, lexer, lexeme) || is_star(trail, lexer, lexeme);
}
