/* Writes the syntax file of an editor from the tables that the parser, help and completion read.
 *
 *   syntax vim       a syntax file of vim
 *   syntax vscode    a TextMate grammar, which VS Code and other editors read */
#include "base/strbuf.h"
#include "engine/plan/aggregates.h"
#include "engine/plan/functions.h"
#include "parser/words.h"
#include "repl/session/commands.h"

#include <stdio.h>
#include <string.h>

/* What is highlighted alike, and the pattern of it with %s for the words; the same in both dialects but for escapes. */
struct rule {
    const char *vim, *scope;                                  /* the group of vim and the scope of TextMate */
    const char *vim_pattern, *pattern;                        /* regular expressions */
    void (*words)(struct strbuf *out, const char *separator); /* NULL: the patterns are whole */
};

static void add(struct strbuf *out, const char *word, const char *separator)
{
    strbuf_printf(out, "%s%s", out->length > 0 ? separator : "", word);
}

static void stage_words(struct strbuf *out, const char *separator)
{
    for (size_t i = 0; i < word_count; i++) {
        if (words[i].stage != STAGE_NONE)
            add(out, words[i].text, separator);
    }
}

static void other_words(struct strbuf *out, const char *separator)
{
    for (size_t i = 0; i < word_count; i++) {
        if (words[i].stage == STAGE_NONE)
            add(out, words[i].text, separator);
    }
}

static void function_names(struct strbuf *out, const char *separator)
{
    for (size_t i = 0; i < function_count; i++)
        add(out, functions[i].name, separator);
    for (size_t i = 0; i < aggregate_function_count; i++)
        add(out, aggregate_functions[i].name, separator);
}

static void command_names(struct strbuf *out, const char *separator)
{
    for (size_t i = 0; i < command_count; i++)
        add(out, command_table[i].name + 1, separator); /* without the dot */
}

/* A later rule of vim wins over an earlier one that begins at the same place; in a grammar the first one does, so it
 * gets them backwards. */
static const struct rule rules[] = {
    {"Operator", "keyword.operator", "[-+*/%<>=!~&|^?]", "[-+*/%<>=!~&|^?]", NULL},
    {"Statement", "keyword.control", "\\<\\%%(%s\\)\\>", "\\b(?:%s)\\b", other_words},
    {"Function", "support.function", "\\<\\%%(%s\\)(\\@=", "\\b(?:%s)(?=\\()", function_names},
    {"Keyword", "keyword.other", "\\%%(|\\s*\\)\\@20<=\\<\\%%(%s\\)\\>", "(?:(?<=\\|)|(?<=\\| ))(?:%s)\\b",
     stage_words},
    {"Number", "constant.numeric",
     "\\<\\d[0-9_]*\\%(\\.\\d[0-9_]*\\)\\?\\%([eE][-+]\\?\\d\\+\\)\\?\\%(us\\|ms\\|min\\|mo\\|[shdwqy]\\)\\?\\>",
     "\\b\\d[0-9_]*(?:\\.\\d[0-9_]*)?(?:[eE][-+]?\\d+)?(?:us|ms|min|mo|[shdwqy])?\\b", NULL},
    {"Number", "constant.numeric", "\\<0[xb][0-9A-Fa-f_]\\+\\>", "\\b0[xb][0-9A-Fa-f_]+\\b", NULL},
    {"Number", "constant.numeric", "\\<\\d\\{4}-\\d\\d-\\d\\d\\%(T[0-9:.]*Z\\?\\)\\?",
     "\\b\\d{4}-\\d\\d-\\d\\d(?:T[0-9:.]*Z?)?", NULL},
    {"Identifier", "variable.other", "\\$\\w\\+", "\\$\\w+", NULL},
    {"Identifier", "variable.other", "`[^`]*`", "`[^`]*`", NULL},
    {"String", "string.quoted", "'[^']*'", "'[^']*'", NULL},
    {"String", "string.quoted", "\"\\%(\\\\.\\|[^\"\\\\]\\)*\"", "\"(?:\\\\.|[^\"\\\\])*\"", NULL},
    {"PreProc", "keyword.control", "^\\s*\\.\\%%(%s\\)\\>", "^\\s*\\.(?:%s)\\b", command_names},
    {"Comment", "comment.line", "#.*$", "#.*$", NULL},
};
enum { RULES = sizeof rules / sizeof *rules };

/* The pattern with its words; the table is the only source of formats. */
static void add_pattern(struct strbuf *out, const struct rule *rule, const char *pattern, const char *separator)
{
    struct strbuf listed = {0};
    const char *place = rule->words ? strstr(pattern, "%s") : NULL;
    if (place)
        rule->words(&listed, separator);
    for (const char *at = pattern; *at; at++) {
        if (at == place) {
            strbuf_add(out, listed.text, listed.length);
            at++;
        } else {
            strbuf_putc(out, *at);
            at += rule->words && at[0] == '%' && at[1] == '%';
        }
    }
    strbuf_free(&listed);
}

static void add_vim(struct strbuf *out)
{
    strbuf_puts(out, "\" Made from rql's tables by contrib/editors/syntax.c.\n"
                     "if exists(\"b:current_syntax\")\n  finish\nendif\nsyntax case match\n");
    for (size_t i = 0; i < RULES; i++) {
        strbuf_printf(out, "syntax match rql%s @", rules[i].vim);
        add_pattern(out, &rules[i], rules[i].vim_pattern, "\\|");
        strbuf_printf(out, "@\nhighlight default link rql%s %s\n", rules[i].vim, rules[i].vim);
    }
    strbuf_puts(out, "setlocal commentstring=#\\ %s\nlet b:current_syntax = \"rql\"\n");
}

static void add_json(struct strbuf *out, const struct strbuf *text)
{
    strbuf_putc(out, '"');
    for (size_t i = 0; i < text->length; i++) {
        if (text->text[i] == '"' || text->text[i] == '\\')
            strbuf_putc(out, '\\');
        strbuf_putc(out, text->text[i]);
    }
    strbuf_putc(out, '"');
}

static void add_grammar(struct strbuf *out)
{
    strbuf_puts(out, "{\n  \"name\": \"rql\",\n  \"scopeName\": \"source.rql\",\n  \"patterns\": [\n");
    for (size_t i = RULES; i-- > 0;) {
        struct strbuf pattern = {0};
        add_pattern(&pattern, &rules[i], rules[i].pattern, "|");
        strbuf_printf(out, "    {\"name\": \"%s.rql\", \"match\": ", rules[i].scope);
        add_json(out, &pattern);
        strbuf_puts(out, i > 0 ? "},\n" : "}\n");
        strbuf_free(&pattern);
    }
    strbuf_puts(out, "  ]\n}\n");
}

int main(int argc, char **argv)
{
    struct strbuf out = {0};
    if (argc == 2 && strcmp(argv[1], "vim") == 0)
        add_vim(&out);
    else if (argc == 2 && strcmp(argv[1], "vscode") == 0)
        add_grammar(&out);
    else
        return 2;
    bool written = fwrite(out.text, 1, out.length, stdout) == out.length && fflush(stdout) == 0;
    strbuf_free(&out);
    return written ? 0 : 1;
}
