/* Base library: memory, string buffers, UTF-8, source positions, diagnostics. */
#include "scratch.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static bool all_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

static void arena_memory(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 16, 100, 1023, 1024, 1025, 5000, 70000, 3 << 20};
    struct arena *arena = arena_new();
    char *blocks[600];
    size_t count = 0;

    (void)state;
    for (size_t round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (sizes[i] > 5000 && round > 3)
                continue;
            char *block = arena_alloc(arena, sizes[i]);
            assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
            assert_true(all_zero(block, sizes[i]));
            memset(block, (int)(count & 0xff), sizes[i]);
            blocks[count++] = block;
        }
    }
    /* No block overwrote another. */
    count = 0;
    for (size_t round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (sizes[i] > 5000 && round > 3)
                continue;
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal((unsigned char)blocks[count][k], count & 0xff);
            count++;
        }
    }
    arena_free(arena);
    arena_free(NULL);
}

static void arena_helpers(void **state)
{
    struct arena *arena = arena_new();
    (void)state;
    int *array = arena_array(arena, 3, sizeof *array);
    array[0] = 1, array[1] = 2, array[2] = 3;
    int *grown = arena_grow(arena, array, 3, 8, sizeof *grown);
    assert_memory_equal(grown, array, 3 * sizeof *array);
    assert_true(all_zero((char *)(grown + 3), 5 * sizeof *grown));
    assert_non_null(arena_grow(arena, NULL, 0, 4, sizeof *grown));
    assert_non_null(arena_array(arena, 0, 8));
    assert_string_equal(arena_text(arena, "abcdef", 3), "abc");
    assert_string_equal(arena_text(arena, NULL, 0), "");
    assert_string_equal(arena_printf(arena, "%d-%s", 42, "x"), "42-x");
    assert_int_equal(strlen(arena_printf(arena, "%100000d", 1)), 100000);
    arena_free(arena);
}

static void heap_memory(void **state)
{
    (void)state;
    char *array = heap_array(100, 3);
    assert_true(all_zero(array, 300));
    memset(array, 'x', 300);
    array = heap_resize(array, 1000, 3);
    assert_int_equal(array[299], 'x');
    array = heap_resize(array, 0, 0);
    assert_non_null(array);
    free(array);
    char *none = heap_array(0, 0), *text = heap_text("abc");
    assert_non_null(none);
    assert_string_equal(text, "abc");
    free(none);
    free(text);
}

static void end_here(void)
{
    heap_exhausted();
}

static void array_too_large(void)
{
    arena_array(arena_new(), SIZE_MAX / 4, 8);
}

static void text_too_large(void)
{
    struct strbuf buffer = {0};
    strbuf_reserve(&buffer, SIZE_MAX / 2);
}

/* Running out of memory ends the program with a message and a signal. */
static void exhaustion(void **state)
{
    void (*const ways[])(void) = {end_here, array_too_large, text_too_large};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int ends[2], status;
        char said[100] = "";
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGABRT, SIG_DFL);
            dup2(ends[1], STDERR_FILENO);
            ways[i]();
            _exit(0);
        }
        close(ends[1]);
        assert_true(read(ends[0], said, sizeof said - 1) > 0);
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        assert_string_equal(said, "rql: out of memory\n");
    }
}

static void growing_text(void **state)
{
    struct strbuf buffer = {0};
    (void)state;
    strbuf_free(&buffer);
    strbuf_clear(&buffer);
    strbuf_puts(&buffer, "");
    assert_string_equal(buffer.text, "");
    for (int i = 0; i < 10000; i++) {
        strbuf_putc(&buffer, (char)('a' + i % 26));
        assert_int_equal(buffer.text[buffer.length], '\0');
    }
    assert_int_equal(buffer.length, 10000);
    assert_int_equal(buffer.text[27], 'b');
    size_t capacity = buffer.capacity;
    strbuf_clear(&buffer);
    assert_string_equal(buffer.text, "");
    assert_int_equal(buffer.capacity, capacity);
    strbuf_add(&buffer, "a\0b", 3);
    strbuf_printf(&buffer, "%s=%d", "x", 7);
    assert_int_equal(buffer.length, 6);
    assert_memory_equal(buffer.text, "a\0bx=7", 7);
    memcpy(strbuf_reserve(&buffer, 5), "12345", 5);
    strbuf_commit(&buffer, 2);
    assert_memory_equal(buffer.text, "a\0bx=712", 9);
    strbuf_free(&buffer);
    assert_null(buffer.text);
}

/* How text is displayed, and its width in cells. */
static void visible_text(void **state)
{
    static const struct {
        const char *text;
        const char *shown;
        size_t width;
    } rows[] = {
        {"", "", 0},
        {"plain", "plain", 5},
        {"a\tb", "a    b", 6},
        {"\x1b[31m\x07", "^[[31m^G", 8},
        {"\r\n\x7f", "^M^J^?", 6},
        {"\xff"
         "a\xc3",
         "\\xffa\\xc3", 9},
        {"\xc3\xa9", "\xc3\xa9", 1},
        {"\xe6\xbc\xa2x", "\xe6\xbc\xa2x", 3},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 2},
        {"e\xcc\x81", "e\xcc\x81", 1},
        {"\xc2\x9b"
         "1m",
         "\\u009b1m", 8},
        {"\xe2\x80\xae", "\\u202e", 6},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
    };
    struct strbuf out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        strbuf_clear(&out);
        strbuf_add_visible(&out, rows[i].text, strlen(rows[i].text));
        assert_string_equal(out.text, rows[i].shown);
        assert_int_equal(text_width(rows[i].text, strlen(rows[i].text)), rows[i].width);
    }
    strbuf_clear(&out);
    strbuf_add_visible(&out, "a\0b", 3);
    assert_string_equal(out.text, "a^@b");
    strbuf_free(&out);
}

/* Encodes the code point per RFC 3629. */
static size_t encode(uint32_t code, char *to)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(size == 1 ? code : lead[size] | code);
    return size;
}

static void utf8_code_points(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[4] = {0};
        uint32_t read = 0xbad;
        size_t size = encode(code, text);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        size_t taken = utf8_decode(text, size, &read);
        if (taken != (surrogate ? 0 : size) || read != (surrogate ? 0xbad : code))
            fail_msg("U+%04X", (unsigned)code);
        assert_int_equal(utf8_decode(text, size - 1, &read), 0);
    }
}

static void utf8_ill_formed(void **state)
{
    static const char *const texts[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xe2(\xa1",
        "\xe2\x82(",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xfe",
        "\xff",
    };
    uint32_t code = 7;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(utf8_decode(texts[i], strlen(texts[i]), &code), 0);
    assert_int_equal(code, 7);

    /* Behind good text of any length, so in each place of a word. */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[40] = "0123456789\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 01234";
        for (size_t before = strlen(text); before > 0; before--) {
            if (!utf8_is_valid(text, before))
                continue; /* cut within a character */
            strcpy(text + before, texts[i]);
            assert_false(utf8_is_valid(text, strlen(text)));
        }
    }
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\0b", 3));
}

static void utf8_properties(void **state)
{
    static const uint32_t controls[] = {0, 0x1f, 0x7f, 0x80, 0x9f, 0x200e, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069};
    static const uint32_t harmless[] = {' ', '~', 0xa0, 0xe9, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0x1f600};
    static const struct {
        uint32_t code;
        unsigned cells;
    } rows[] = {{'a', 1},    {0xe9, 1},    {0x2ff, 1},   {0x300, 0},   {0x36f, 0},   {0x370, 1},
                {0x10ff, 1}, {0x1100, 2},  {0x115f, 2},  {0x1160, 1},  {0x200b, 0},  {0x6f22, 2},
                {0xac00, 2}, {0x1f600, 2}, {0x3fffd, 2}, {0x3fffe, 1}, {0xe01ef, 0}, {0x10ffff, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        assert_true(utf8_is_control(controls[i]));
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        assert_false(utf8_is_control(harmless[i]));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(utf8_cells(rows[i].code), rows[i].cells);
}

static void places(void **state)
{
    static const char text[] = "one\ntwo \xc3\xa9\xff!\r\n\nlast";
    static const struct {
        size_t offset, line, column;
        const char *shown;
    } rows[] = {
        {0, 1, 1, "one"},
        {3, 1, 4, "one"},
        {4, 2, 1, "two \xc3\xa9\xff!"},
        {10, 2, 6, "two \xc3\xa9\xff!"}, /* stray byte after a two-byte character */
        {11, 2, 7, "two \xc3\xa9\xff!"},
        {13, 2, 9, "two \xc3\xa9\xff!"}, /* newline after a hidden carriage return */
        {14, 3, 1, ""},
        {15, 4, 1, "last"},
        {19, 4, 5, "last"},
        {1000, 4, 5, "last"},
    };
    const struct source source = {"test", text, sizeof text - 1};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct place place = source_place(&source, rows[i].offset);
        assert_int_equal(place.line, rows[i].line);
        assert_int_equal(place.column, rows[i].column);
        assert_int_equal(place.length, strlen(rows[i].shown));
        assert_memory_equal(place.text, rows[i].shown, place.length);
    }
    const struct source empty = {"empty", "", 0};
    struct place place = source_place(&empty, 0);
    assert_true(place.line == 1 && place.column == 1 && place.length == 0);
}

static void joined_spans(void **state)
{
    const struct source a = {"a", "", 0}, b = {"b", "", 0};
    const struct span none = {0}, left = {&a, 2, 4}, right = {&a, 7, 9}, other = {&b, 1, 2};
    (void)state;
    struct span both = span_join(right, left);
    assert_true(both.source == &a && both.begin == 2 && both.end == 9);
    both = span_join(none, left);
    assert_true(both.source == &a && both.begin == 2 && both.end == 4);
    both = span_join(left, none);
    assert_true(both.source == &a && both.begin == 2 && both.end == 4);
    both = span_join(left, other);
    assert_true(both.source == &a && both.begin == 2 && both.end == 4);
    assert_null(span_join(none, none).source);
}

static void diagnostics(void **state)
{
    struct scratch *scratch = scratch_new();
    struct diags *diags = &scratch->diags;
    const struct source source = {"a", "abc", 3};
    const struct span span = {&source, 1, 2};
    char label[] = "here";

    (void)state;
    diag_hint(diags, "of nothing");
    diag_second(diags, span, label);
    assert_int_equal(diags->count, 0);
    diag_note(diags, span, "note %d", 1);
    assert_false(diags_have_errors(diags));
    for (int i = 0; i < 100; i++)
        assert_int_equal(diag_error(diags, span, "error %d", i), STATUS_FAILED);
    diag_hint(diags, "hint %s", "x");
    diag_second(diags, (struct span){&source, 0, 1}, label);
    label[0] = 'w';
    assert_true(diags_have_errors(diags));
    assert_int_equal(diags->count, 101);
    assert_int_equal(diags->at[0].severity, SEVERITY_NOTE);
    assert_string_equal(diags->at[0].message, "note 1");
    assert_null(diags->at[99].hint);
    assert_string_equal(diags->at[100].message, "error 99");
    assert_string_equal(diags->at[100].hint, "hint x");
    assert_string_equal(diags->at[100].label, "here");
    assert_int_equal(diags->at[100].second.end, 1);
    assert_int_equal(diags->at[100].span.begin, 1);
    scratch_free(scratch);
}

static void nearest(void **state)
{
    static const char *const names[] = {"ids", "amounts", "amount", "price", "x", "ID", "quantity"};
    static const struct {
        const char *name;
        const char *nearest; /* all, best first */
    } rows[] = {
        {"idz", "ids ID"},
        {"ids", "ids ID"},
        {"amuonts", "amounts amount"},
        {"amounts", "amounts amount"},
        {"AMOUNT", "amount amounts"},
        {"qty", "quantity"},
        {"prcie", "price"},
        {"prices", "price"},
        {"amt", "amounts amount"},
        {"zebra", ""},
        {"", ""},
        {"y", ""},
        {"quantities", "quantity"},
    };
    enum { COUNT = sizeof names / sizeof *names, LONG = 300 };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found[COUNT];
        struct strbuf all = {0};
        size_t count = nearest_names(rows[i].name, names, COUNT, found, COUNT);
        strbuf_puts(&all, "");
        for (size_t k = 0; k < count; k++)
            strbuf_printf(&all, "%s%s", k ? " " : "", found[k]);
        if (strcmp(all.text, rows[i].nearest) != 0)
            fail_msg("near to %s: %s", rows[i].name, all.text);
        strbuf_free(&all);
        /* Limits of one and zero. */
        assert_int_equal(nearest_names(rows[i].name, names, COUNT, found, 1), count > 0);
        if (count > 0)
            assert_memory_equal(found[0], rows[i].nearest, strlen(found[0]));
        assert_int_equal(nearest_names(rows[i].name, names, COUNT, found, 0), 0);
    }

    /* Very long names are skipped, and many matches do not overflow. */
    char long_name[LONG + 1];
    const char *same[100], *found[100];
    memset(long_name, 'n', LONG);
    long_name[LONG] = '\0';
    for (size_t i = 0; i < 100; i++)
        same[i] = long_name + LONG - 255;
    assert_int_equal(nearest_names(long_name, same, 100, found, 100), 0);
    size_t count = nearest_names(same[0], same, 100, found, 100);
    assert_true(count > 0 && count <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory),     cmocka_unit_test(arena_helpers),   cmocka_unit_test(heap_memory),
        cmocka_unit_test(exhaustion),       cmocka_unit_test(growing_text),    cmocka_unit_test(visible_text),
        cmocka_unit_test(utf8_code_points), cmocka_unit_test(utf8_ill_formed), cmocka_unit_test(utf8_properties),
        cmocka_unit_test(places),           cmocka_unit_test(joined_spans),    cmocka_unit_test(diagnostics),
        cmocka_unit_test(nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
