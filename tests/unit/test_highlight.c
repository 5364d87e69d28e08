/* What the parts of a line being typed are, their brackets, and where they are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repl/line/highlight.h"
#include "repl/line/line_editor.h"

#include <string.h>

/* A letter for each style: of pieces in their order, of brackets that match, and of those that close nothing. */
static const char letters[] = ".wcns/#d()MX";

static void expect(const char *entry, const char *line, size_t cursor, const char *styles)
{
    struct arena *arena = arena_new();
    struct strbuf before = {0};
    strbuf_puts(&before, entry);
    const struct completer completer = {NULL, &before};
    const size_t length = strlen(line);
    const unsigned char *found = highlight_line(&completer, line, length, cursor, arena);
    char *shown = arena_alloc(arena, length + 1);
    for (size_t i = 0; i < length; i++)
        shown[i] = letters[found[i]];
    assert_string_equal(shown, styles);
    strbuf_free(&before);
    arena_free(arena);
}

static void words_are_words_where_they_mean_that(void **state)
{
    (void)state;
    expect("", "load count.csv | count sum > 1", NO_CURSOR, "wwww./////////...wwwww.......n");
    expect("", "t | group a: sum(b) as n", NO_CURSOR, "....wwwww....ccc(.).ww..");
    expect("", "t | double | triple(2) | count", NO_CURSOR, "....cccccc...cccccc(n)...wwwww");
    expect("", "a.csv | select s not in ['x']", NO_CURSOR, "/////...wwwwww...wwwwww.(sss)");
    expect("", "| sel x | sum", NO_CURSOR, "..........www");
    expect("", "x | bogus y | take 3; range 1..2", NO_CURSOR, "..............wwww.n..wwwww.n..n");
    expect("", "d > 2024-01-02 # why", NO_CURSOR, "....nnnnnnnnnn.#####");
    expect("", "s == \"open", NO_CURSOR, ".....sssss");
    expect("", ".set fusion off", NO_CURSOR, "dddd...........");
    expect("", "", NO_CURSOR, "");
}

static void the_lines_before_count(void **state)
{
    (void)state;
    expect("load a.csv |", "count", NO_CURSOR, "wwwww");
    expect("(1 +", "2)", NO_CURSOR, "n)");
    expect("", "2)", NO_CURSOR, "nX");
}

static void brackets_match(void **state)
{
    (void)state;
    expect("", "f(a[1], (2))", 1, "cM.(n)..(n)M");
    expect("", "f(a[1], (2))", 12, "cM.(n)..(n)M");
    expect("", "f(a[1], (2))", 11, "cM.(n)..(n)M");
    expect("", "f(a[1], (2))", 10, "c(.(n)..MnM)");
    expect("", "f(a[1], (2))", 5, "c(.MnM..(n))");
    expect("", "f(a[1], (2))", 6, "c(.MnM..(n))");
    expect("", "(1", 0, "(n");
    expect("", "'('", 0, "sss");
}

static const char *painted(const char *prompt, const char *line, size_t cursor, size_t width, size_t height,
                           struct strbuf *out)
{
    unsigned char styles[64] = {0};
    const struct painting painting = {prompt, line, strlen(line), cursor, styles, width, height};
    strbuf_clear(out);
    return paint_line(out, &painting) ? out->text : "";
}

static void lines_are_drawn_where_they_are(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_string_equal(painted("> ", "ab", 2, 10, 5, &out), "\0337\r\033[2C\033[0mab\033[0m\0338");
    assert_string_equal(painted("> ", "abcd", 4, 6, 5, &out), "\0337\033[1A\r\033[2C\033[0mabcd\033[0m\0338");
    assert_string_equal(painted("> ", "abcd", 3, 6, 5, &out), "\0337\r\033[2C\033[0mabcd\033[0m\0338");
    assert_string_equal(painted("> ", "a\nb", 3, 6, 5, &out), "\0337\033[1A\r\033[2C\033[0ma\r\033[1Bb\033[0m\0338");
    assert_string_equal(painted("123456", "a", 1, 6, 5, &out), "\0337\033[1A\r\033[1B\033[0ma\033[0m\0338");
    assert_string_equal(painted("> ", "a\tb", 3, 6, 5, &out), "");
    assert_string_equal(painted("> ", "abcdefgh", 0, 5, 2, &out), "");
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_words_where_they_mean_that),
        cmocka_unit_test(the_lines_before_count),
        cmocka_unit_test(brackets_match),
        cmocka_unit_test(lines_are_drawn_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
