#include "parser/broken.h"

#include "parser/grammar.h"
#include "parser/lexer.h"
#include "parser/token.h"

/* Whether a `let`, of which the lexer is behind the `=`, is one within an expression: it has a `:` before any stage. */
static bool is_local(struct lexer lexer, uint32_t end)
{
    size_t questions = 0;
    for (struct lexeme next = lexer_next(&lexer); next.kind != LEX_EOF && next.end <= end; next = lexer_next(&lexer)) {
        if (next.kind == TOKEN_PIPE)
            return false;
        if (next.kind == TOKEN_COLON && questions == 0)
            return true;
        questions += next.kind == TOKEN_QUESTION;
        questions -= next.kind == TOKEN_COLON;
    }
    return false;
}

bool broken_definition(struct span statement, struct arena *arena, struct broken_definition *broken)
{
    if (!statement.source || statement.end > statement.source->length)
        return false;
    const unsigned char *text = (const unsigned char *)statement.source->text;
    struct lexer lexer = {statement.source, text + statement.begin, text + statement.source->length};
    const int word = lexer_next(&lexer).kind;
    struct lexeme name = lexer_next(&lexer);
    struct diags ignored;
    struct token token;
    diags_init(&ignored, arena);
    if ((word != TOKEN_LET && word != TOKEN_DEF) || name.kind != TOKEN_NAME ||
        !token_read(statement.source, &name, arena, &ignored, &token))
        return false;
    *broken = (struct broken_definition){.name = token.value.text, .is_def = word == TOKEN_DEF};
    struct lexeme next = lexer_next(&lexer);
    while (next.kind != TOKEN_ASSIGN && next.kind != LEX_EOF && next.end < statement.end)
        next = lexer_next(&lexer);
    if (!broken->is_def && is_local(lexer, statement.end))
        return false;
    do
        next = lexer_next(&lexer);
    while (next.kind == LEX_NEWLINE);
    broken->is_stage = broken->is_def && next.kind == TOKEN_PIPE;
    return true;
}
