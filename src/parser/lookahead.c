#include "parser/lookahead.h"

#include "parser/clauses.h"
#include "parser/grammar.h"

enum set_form set_form(const struct automaton *automaton, size_t tokens)
{
    if (tokens == 0 || !automaton_accepts(automaton, TOKEN_SET))
        return SET_NONE;
    return automaton_accepts(automaton, TOKEN_INT) ? SET_OPERAND : SET_NAME;
}

bool ahead_uses_stage(struct lexer ahead)
{
    switch (lexer_next(&ahead).kind) {
    case TOKEN_PIPE:
    case TOKEN_LP:
    case TOKEN_RP:
    case TOKEN_COMMA:
    case LEX_EOF:
    case LEX_NEWLINE:
    case LEX_SEMICOLON:
        return true;
    default:
        return false;
    }
}

static bool is_operator(int kind)
{
    static const int operators[] = {
        TOKEN_PLUS,    TOKEN_MINUS,    TOKEN_STAR,   TOKEN_SLASH,     TOKEN_SLASH_SLASH, TOKEN_SLASH_QUESTION,
        TOKEN_PERCENT, TOKEN_EQ,       TOKEN_NE,     TOKEN_LT,        TOKEN_LE,          TOKEN_GT,
        TOKEN_GE,      TOKEN_AND,      TOKEN_OR,     TOKEN_XOR,       TOKEN_BITAND,      TOKEN_SHL,
        TOKEN_SHR,     TOKEN_IN,       TOKEN_NOT_IN, TOKEN_IS,        TOKEN_NOT,         TOKEN_QUESTION,
        TOKEN_LIKE,    TOKEN_COALESCE, TOKEN_TILDE,  TOKEN_BANG_TILDE};
    size_t i = 0;
    while (i < sizeof operators / sizeof *operators && operators[i] != kind)
        i++;
    return i < sizeof operators / sizeof *operators;
}

bool ahead_is_value(struct lexer ahead, bool source)
{
    size_t depth = 1;
    bool pipe = false, stage = false;
    while (depth > 0) {
        struct lexeme next = lexer_next(&ahead);
        if (next.kind == LEX_NEWLINE)
            continue;
        if (next.kind == LEX_EOF || next.kind == LEX_SEMICOLON)
            break;
        stage = stage || (pipe && depth == 1 && next.word && next.word->stage != STAGE_NONE);
        pipe = next.kind == TOKEN_PIPE;
        depth += next.kind == TOKEN_LP || next.kind == TOKEN_LB;
        depth -= next.kind == TOKEN_RP || next.kind == TOKEN_RB;
    }
    if (!stage || !source)
        return stage;
    int next;
    do
        next = lexer_next(&ahead).kind;
    while (next == TOKEN_RP);
    return is_operator(next);
}

bool ahead_is_local(struct lexer ahead)
{
    size_t questions = 0;
    int last = TOKEN_LET;
    for (;;) {
        const int kind = lexer_next(&ahead).kind;
        if (kind == LEX_EOF || kind == LEX_SEMICOLON || kind == LEX_NEWLINE)
            return last == TOKEN_COMMA;
        if (kind == TOKEN_COLON && questions == 0)
            return true;
        questions += kind == TOKEN_QUESTION;
        questions -= kind == TOKEN_COLON;
        last = kind;
    }
}

/* The next lexeme that is no newline. */
static struct lexeme next_on_any_line(struct lexer *ahead)
{
    struct lexeme next = lexer_next(ahead);
    while (next.kind == LEX_NEWLINE)
        next = lexer_next(ahead);
    return next;
}

bool ahead_is_definition(struct lexer ahead, bool prompt)
{
    const struct lexeme name = next_on_any_line(&ahead);
    if (name.kind != TOKEN_NAME && (!name.word || name.word->reserved))
        return false;
    const int next = next_on_any_line(&ahead).kind;
    return next == TOKEN_ASSIGN || (next == LEX_EOF && prompt);
}

bool ahead_is_head(struct lexer ahead, bool pipe, bool prompt)
{
    bool stage_word = false, name_next = true;
    size_t names = 0;
    for (;;) {
        struct lexeme next = lexer_next(&ahead);
        if (next.kind == LEX_NEWLINE)
            continue;
        if (next.kind == LEX_EOF)
            return prompt && name_next && names > 0;
        if (name_next) {
            if (next.kind != TOKEN_NAME && (!next.word || next.word->reserved))
                return false;
            stage_word = next.word && next.word->stage != STAGE_NONE;
            names++;
        } else if (next.kind != TOKEN_COMMA) {
            const bool stage = names == 1 && stage_word && pipe;
            return next.kind == TOKEN_PIPE && !stage;
        }
        name_next = !name_next;
    }
}

static enum clause_kind clause_of(const struct source *source, struct lexeme word)
{
    return clause_find(source->text + word.begin, word.end - word.begin);
}

int ahead_clause(struct lexer ahead, struct lexeme word)
{
    const struct source *source = ahead.source;
    const enum clause_kind kind = clause_of(source, word);
    if (kind == CLAUSE_KINDS)
        return 0;
    const struct lexeme next = lexer_next(&ahead);
    const bool text = next.kind == TOKEN_STRING, name = next.kind == TOKEN_NAME || next.word;
    switch (clause_table[kind].form) {
    case FORM_NONE: /* before a type, it names a column */
        return !name || next.kind == TOKEN_MISSING || clause_of(source, next) < CLAUSE_KINDS ? TOKEN_CLAUSE_BARE : 0;
    case FORM_INTEGER:
        return next.kind == TOKEN_INT ? TOKEN_CLAUSE : 0;
    case FORM_TEXT:
        return text ? TOKEN_CLAUSE : 0;
    case FORM_WORD:
        break;
    }
    const bool value = name && clause_value(kind, source->text + next.begin, next.end - next.begin) >= 0;
    return value || (text && kind == CLAUSE_ENCODING) ? TOKEN_CLAUSE : 0;
}
