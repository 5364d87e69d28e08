#include "parser/grammar.h"
#include "parser/lexer.h"
#include "parser/parse.h"

void parse_open_delimiters(const struct source *source, char *open, size_t size)
{
    struct lexer lexer;
    char stack[LIMIT_NESTING + 1];
    size_t depth = 0;
    bool after_pipe = false;
    if (size == 0)
        return;
    open[0] = '\0';
    if (source->length > LIMIT_TEXT)
        return;
    lexer_init(&lexer, source);
    for (;;) {
        struct lexeme lexeme = lexer_next(&lexer);
        if (lexeme.kind == LEX_EOF)
            break;
        if (lexeme.kind == LEX_NEWLINE)
            continue;
        after_pipe = lexeme.kind == TOKEN_PIPE;
        if ((lexeme.kind == TOKEN_LP || lexeme.kind == TOKEN_LB) && depth < LIMIT_NESTING)
            stack[depth++] = lexeme.kind == TOKEN_LP ? '(' : '[';
        if ((lexeme.kind == TOKEN_RP || lexeme.kind == TOKEN_RB) && depth > 0)
            depth--;
    }
    if (after_pipe)
        stack[depth++] = '|';

    /* Keep the innermost if they do not all fit. */
    const size_t skipped = depth < size ? 0 : depth - (size - 1);
    for (size_t i = skipped; i < depth; i++)
        open[i - skipped] = stack[i];
    open[depth - skipped] = '\0';
}
