/* Rendered errors: positions, carets, long lines, odd bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repl/print/render_diag.h"

#include <string.h>

static const struct render_style plain = {.colour = false, .width = 100};

static struct span span_of(const struct source *source, const char *part)
{
    const char *at = strstr(source->text, part);
    assert_non_null(at);
    uint32_t begin = (uint32_t)(at - source->text);
    return (struct span){source, begin, begin + (uint32_t)strlen(part)};
}

static struct source source_of(const char *name, const char *text)
{
    return (struct source){name, text, strlen(text)};
}

static void expect(const struct diag *diag, const struct render_style *style, const char *text)
{
    struct strbuf out = {0};
    render_diag(&out, diag, style);
    assert_string_equal(out.text, text);
    strbuf_free(&out);
}

static void place_line_and_caret(void **state)
{
    (void)state;
    struct source source = source_of("q.rql", "range 1..3\nload ids.bin | select idz == 42\n");
    struct diag diag = {
        .span = span_of(&source, "idz"), .message = "no column named 'idz'", .hint = "did you mean 'ids'?"};
    expect(&diag, &plain,
           "q.rql:2:23: error: no column named 'idz'\n"
           "   2 | load ids.bin | select idz == 42\n"
           "     |                       ^~~\n"
           "hint: did you mean 'ids'?\n");
}

static void second_place_has_its_label(void **state)
{
    (void)state;
    struct source source = source_of("q.rql", "let a = 1\nlet b = a");
    struct diag diag = {.severity = SEVERITY_NOTE,
                        .span = span_of(&source, "b"),
                        .second = span_of(&source, "a"),
                        .label = "first here",
                        .message = "twice"};
    diag.second.begin = 4;
    diag.second.end = 5;
    expect(&diag, &plain,
           "q.rql:2:5: note: twice\n"
           "   2 | let b = a\n"
           "     |     ^\n"
           "q.rql:1:5: note: first here\n"
           "   1 | let a = 1\n"
           "     |     ^\n");
}

static void unnamed_source_shows_no_place(void **state)
{
    (void)state;
    struct source source = source_of("", "sum");
    struct diag diag = {.span = span_of(&source, "sum"), .message = "m"};
    expect(&diag, &plain, "error: m\n   1 | sum\n     | ^~~\n");
}

static void no_source_shows_the_message_alone(void **state)
{
    (void)state;
    struct diag diag = {.message = "no memory"};
    expect(&diag, &plain, "error: no memory\n");
}

static void wide_characters_and_tabs_align(void **state)
{
    (void)state;
    struct source source = source_of("q", "\t数 e\xcc\x81 x");
    struct diag diag = {.span = span_of(&source, "x"), .message = "m"};
    expect(&diag, &plain,
           "q:1:7: error: m\n"
           "   1 |     数 e\xcc\x81 x\n"
           "     |          ^\n");
}

static void control_bytes_are_visible(void **state)
{
    (void)state;
    struct source source = source_of("\033q", "a\033[31m\xff b");
    struct diag diag = {.span = span_of(&source, "b"), .message = "bad \033", .hint = "\a"};
    expect(&diag, &plain,
           "^[q:1:9: error: bad ^[\n"
           "   1 | a^[[31m\\xff b\n"
           "     |             ^\n"
           "hint: ^G\n");
}

static void several_lines_show_the_first(void **state)
{
    (void)state;
    struct source source = source_of("q", "load a\r\n| sum");
    struct diag diag = {.span = {&source, 5, 13}, .message = "m"};
    expect(&diag, &plain, "q:1:6: error: m\n   1 | load a\n     |      ^\n");
}

static void the_end_of_the_text_can_be_pointed_at(void **state)
{
    (void)state;
    struct source source = source_of("q", "1 +");
    struct diag diag = {.span = {&source, 3, 3}, .message = "m"};
    expect(&diag, &plain, "q:1:4: error: m\n   1 | 1 +\n     |    ^\n");
    source = source_of("q", "");
    diag.span = (struct span){&source, 0, 0};
    expect(&diag, &plain, "q:1:1: error: m\n   1 | \n     | ^\n");
}

/* For any line and position, no output exceeds the width and the caret is under the position. */
static void long_lines_are_cut_around_the_place(void **state)
{
    (void)state;
    static char text[20001];
    const struct render_style narrow = {.colour = false, .width = 60};
    for (size_t i = 0; i < sizeof text - 1; i++) {
        text[i] = 'a';
    }
    struct source source = source_of("q", text);
    const uint32_t places[] = {0, 1, 30, 53, 54, 10000, 19960, 19999};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        text[places[i]] = 'X';
        struct diag diag = {.span = {&source, places[i], places[i] + 200}, .message = "m"};
        struct strbuf out = {0};
        render_diag(&out, &diag, &narrow);
        char *line = strchr(out.text, '\n') + 1;
        char *marks = strchr(line, '\n') + 1;
        *strchr(line, '\n') = '\0';
        *strchr(marks, '\n') = '\0';
        assert_true(text_width(line, strlen(line)) <= narrow.width);
        assert_true(strlen(marks) <= narrow.width);
        assert_int_equal(text_width(line, (size_t)(strchr(line, 'X') - line)), strchr(marks, '^') - marks);
        assert_int_equal(strstr(line, "…") != NULL, 1);
        text[places[i]] = 'a';
        strbuf_free(&out);
    }
}

static void a_line_that_just_fits_is_whole(void **state)
{
    (void)state;
    struct source source = source_of("q", "0123456789012345678901234567890123456789");
    const struct render_style exact = {.colour = false, .width = 47};
    struct diag diag = {.span = {&source, 39, 40}, .message = "m"};
    expect(&diag, &exact,
           "q:1:40: error: m\n"
           "   1 | 0123456789012345678901234567890123456789\n"
           "     |                                        ^\n");
}

/* Breaks between words, keeping quotes together if possible. */
static void hints_are_folded_for_people(void **state)
{
    (void)state;
    struct render_style narrow = {.colour = false, .width = 30, .fold = true};
    struct diag diag = {.message = "m", .hint = "leave such rows out with `select x != 0` before that"};
    expect(&diag, &narrow,
           "error: m\n"
           "hint: leave such rows out with\n"
           "      `select x != 0` before\n"
           "      that\n");
    diag.hint = "or `one that is longer than any line here is wide` and done";
    expect(&diag, &narrow,
           "error: m\n"
           "hint: or `one that is longer\n"
           "      than any line here is\n"
           "      wide` and done\n");
    narrow.fold = false;
    expect(&diag, &narrow, "error: m\nhint: or `one that is longer than any line here is wide` and done\n");
}

static void colours_only_where_welcome(void **state)
{
    (void)state;
    struct source source = source_of("q", "x");
    struct diag diag = {.span = {&source, 0, 1}, .message = "m"};
    struct strbuf out = {0};
    render_diag(&out, &diag, &plain);
    assert_null(strchr(out.text, '\033'));
    strbuf_clear(&out);
    const struct render_style coloured = {.colour = true, .width = 100};
    render_diag(&out, &diag, &coloured);
    assert_non_null(strstr(out.text, "\033[1;31merror:\033[0m m"));
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_line_and_caret),
        cmocka_unit_test(second_place_has_its_label),
        cmocka_unit_test(unnamed_source_shows_no_place),
        cmocka_unit_test(no_source_shows_the_message_alone),
        cmocka_unit_test(wide_characters_and_tabs_align),
        cmocka_unit_test(control_bytes_are_visible),
        cmocka_unit_test(several_lines_show_the_first),
        cmocka_unit_test(the_end_of_the_text_can_be_pointed_at),
        cmocka_unit_test(long_lines_are_cut_around_the_place),
        cmocka_unit_test(a_line_that_just_fits_is_whole),
        cmocka_unit_test(hints_are_folded_for_people),
        cmocka_unit_test(colours_only_where_welcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
