/* Help: everything in the tables is reachable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/formats/formats.h"
#include "engine/plan/functions.h"
#include "parser/words.h"
#include "repl/session/commands.h"
#include "repl/session/help.h"
#include "repl/session/settings.h"

#include <string.h>

static void assert_helped(const char *word)
{
    struct strbuf out = {0};
    if (!help_word(&out, word)) {
        fail_msg("no help on %s", word);
    }
    assert_true(out.text[out.length - 1] == '\n');
    strbuf_free(&out);
}

static void every_word_is_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < word_count; i++) {
        assert_helped(words[i].text);
    }
    for (size_t i = 0; i < function_count; i++) {
        assert_helped(functions[i].name);
    }
    for (size_t i = 0; i < command_count; i++) {
        assert_helped(command_table[i].name);
        assert_helped(command_table[i].name + 1);
    }
    for (size_t i = 0; i < setting_count; i++) {
        assert_helped(setting_table[i].name);
    }
    assert_helped("?:");
    assert_helped(".npy");
    assert_helped("gz");
    struct strbuf out = {0};
    assert_true(help_word(&out, ".md"));
    const char *once = strstr(out.text, "saved only");
    assert_non_null(once);
    assert_null(strstr(once + 1, "saved only"));
    size_t titles = 0;
    for (; help_title(titles); titles++) {
        strbuf_clear(&out);
        assert_true(help_topic(&out, help_title(titles), 0));
        assert_true(out.length > 0);
    }
    assert_int_equal(titles, 22);
    strbuf_clear(&out);
    assert_true(help_search(&out, "Average", 0));
    assert_non_null(strstr(out.text, "mean [E]"));
    assert_false(help_search(&out, "no such thing", 0));
    strbuf_clear(&out);
    assert_false(help_word(&out, "nonsense"));
    assert_false(help_topic(&out, "nonsense", 0));
    assert_int_equal(out.length, 0);
    strbuf_free(&out);
}

/* Aliases are not listed separately. */
static void the_overview_names_every_stage_and_fits(void **state)
{
    (void)state;
    const size_t widths[] = {40, 80, 200};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        struct strbuf out = {0};
        help_overview(&out, widths[k]);
        for (size_t i = 0; i < word_count; i++) {
            if (words[i].stage != STAGE_NONE && strcmp(words[i].text, words[i].canonical) == 0) {
                assert_non_null(strstr(out.text, words[i].text));
            }
        }
        for (const char *line = out.text, *end; (end = strchr(line, '\n')); line = end + 1) {
            assert_true((size_t)(end - line) <= (widths[k] < 80 ? 80 : widths[k]));
        }
        strbuf_free(&out);
    }
}

static void a_topic_has_a_line_for_each_of_its_words(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_true(help_topic(&out, "functions", 0));
    size_t lines = 0;
    for (const char *at = out.text; *at; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, function_count);
    strbuf_clear(&out);
    assert_true(help_topic(&out, "formats", 0));
    for (size_t i = 0; i < format_count; i++) {
        assert_non_null(strstr(out.text, format_table[i].extension));
        assert_non_null(strstr(out.text, format_table[i].summary));
    }
    assert_non_null(strstr(out.text, ".gz "));
    assert_non_null(strstr(out.text, "load PATH FORMAT"));
    strbuf_clear(&out);
    assert_true(help_topic(&out, "stages", 0));
    assert_non_null(strstr(out.text, "select E "));
    assert_null(strstr(out.text, "\nwhere"));
    assert_null(strstr(out.text, "\nfilter"));
    strbuf_free(&out);
}

static void lists_are_folded_between_words(void **state)
{
    (void)state;
    const size_t widths[] = {60, 80, 132};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        struct strbuf out = {0};
        assert_true(help_topic(&out, "stages", widths[k]));
        for (const char *line = out.text, *end; (end = strchr(line, '\n')); line = end + 1) {
            assert_true((size_t)(end - line) <= widths[k]);
            assert_true(end > line && end[-1] != ' ');
        }
        strbuf_free(&out);
    }
    struct strbuf out = {0};
    assert_true(help_topic(&out, "stages", 60));
    assert_non_null(strstr(out.text, "\ngroup [K [as NAME], ...]: AGG [as NAME], ...\n   "));
    assert_non_null(strstr(out.text, "\nfsts  "));
    strbuf_free(&out);
}

static void aliases_say_what_they_stand_for(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_true(help_word(&out, "where"));
    assert_non_null(strstr(out.text, "where is an alias of select\nselect E\n"));
    assert_non_null(strstr(out.text, "aliases: filter where"));
    strbuf_free(&out);
}

static void near_words_are_found(void **state)
{
    (void)state;
    const char *nearest[2];
    assert_true(help_nearest("selct", nearest, 2) >= 1);
    assert_string_equal(nearest[0], "select");
    assert_true(help_nearest(".frmat", nearest, 2) >= 1);
    assert_string_equal(nearest[0], ".format");
    assert_int_equal(help_nearest("xylophone", nearest, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_is_explained),
        cmocka_unit_test(the_overview_names_every_stage_and_fits),
        cmocka_unit_test(a_topic_has_a_line_for_each_of_its_words),
        cmocka_unit_test(lists_are_folded_between_words),
        cmocka_unit_test(aliases_say_what_they_stand_for),
        cmocka_unit_test(near_words_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
