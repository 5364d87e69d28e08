/* The manual page covers all options and tables. Run from the top of the tree, as tests/run does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "engine/formats/formats.h"
#include "engine/plan/functions.h"
#include "parser/clauses.h"
#include "parser/words.h"
#include "repl/session/commands.h"
#include "repl/session/options.h"
#include "repl/session/settings.h"

#include <stdio.h>
#include <string.h>

/* The text of a file without troff escapes. */
static struct strbuf read_plain(const char *path)
{
    struct strbuf text = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;) {
        if (c != '\\') {
            strbuf_putc(&text, (char)c);
            continue;
        }
        c = getc(file);
        if (c == '-' || c == 'e')
            strbuf_putc(&text, c == 'e' ? '\\' : '-');
    }
    (void)fclose(file);
    return text;
}

/* The manual has an item that begins with `name`. */
static void expect_item(const struct strbuf *manual, const char *name)
{
    char line[100];
    (void)snprintf(line, sizeof line, "\n.B %s", name);
    if (!strstr(manual->text, line))
        fail_msg("docs/rql.1 lacks `%s`", name);
}

/* The item `usage` is followed by `summary`. */
static void expect_told(const struct strbuf *manual, const char *usage, const char *summary)
{
    char lines[400];
    (void)snprintf(lines, sizeof lines, "\n.B %s\n%s", usage, summary);
    if (!strstr(manual->text, lines))
        fail_msg("docs/rql.1 does not say of `%s`: %s", usage, summary);
}

static void the_manual_has_all_tables(void **state)
{
    (void)state;
    struct strbuf manual = read_plain("docs/rql.1");
    for (size_t i = 0; i < word_count; i++) {
        bool listed = strcmp(words[i].text, words[i].canonical) == 0 && words[i].usage && !words[i].reserved &&
                      strncmp(words[i].usage, words[i].text, strlen(words[i].text)) == 0;
        if (listed)
            expect_told(&manual, words[i].usage, words[i].summary);
    }
    for (size_t i = 0; i < function_count; i++)
        expect_told(&manual, functions[i].usage, functions[i].summary);
    for (size_t i = 0; i < command_count; i++)
        expect_item(&manual, command_table[i].name);
    for (size_t i = 0; i < setting_count; i++)
        expect_told(&manual, setting_table[i].name, setting_table[i].summary);
    for (size_t i = 0; i < clause_count; i++) {
        expect_item(&manual, clause_table[i].word);
        if (!strstr(manual.text, clause_table[i].summary))
            fail_msg("docs/rql.1 does not say of `%s`: %s", clause_table[i].word, clause_table[i].summary);
    }
    for (size_t i = 0; i < format_count; i++)
        expect_told(&manual, format_table[i].extension, format_table[i].summary);
    strbuf_free(&manual);
}

static void the_manual_has_all_options(void **state)
{
    (void)state;
    struct strbuf manual = read_plain("docs/rql.1");
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_table[i];
        char name[64];
        if (row->letter)
            (void)snprintf(name, sizeof name, "-%c, --%s", row->letter, row->name);
        else
            (void)snprintf(name, sizeof name, "--%s", row->name);
        expect_item(&manual, name);
    }
    strbuf_free(&manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_has_all_tables),
        cmocka_unit_test(the_manual_has_all_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
