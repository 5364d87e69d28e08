/* Syntax errors: their location and message, and recovery after them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parser/parse.h"
#include "tree_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text with one error: the text that its span covers ("" if empty), the message, part of the hint. */
struct row {
    const char *text;
    const char *at;
    const char *message;
    const char *hint;
};

struct parsed {
    struct arena *arena;
    struct diags diags;
    struct stmt *first;
    enum parse_result result;
};

static struct parsed parsed_of(const char *text, size_t length)
{
    struct parsed parsed = {.arena = arena_new()};
    diags_init(&parsed.diags, parsed.arena);
    struct source *source = arena_alloc(parsed.arena, sizeof *source);
    *source = (struct source){"test.rql", text, length};
    parsed.result = parse(source, PARSE_SCRIPT, parsed.arena, &parsed.diags, &parsed.first);
    return parsed;
}

static void expect(const struct row *row)
{
    struct parsed parsed = parsed_of(row->text, strlen(row->text));
    if (parsed.result != PARSE_FAILED || parsed.diags.count != 1)
        fail_msg("`%s`: %zu errors", row->text, parsed.diags.count);
    const struct diag *diag = &parsed.diags.at[0];
    if (strcmp(diag->message, row->message) != 0)
        fail_msg("`%s`: %s", row->text, diag->message);
    if (diag->span.end - diag->span.begin != strlen(row->at) ||
        memcmp(row->text + diag->span.begin, row->at, strlen(row->at)) != 0)
        fail_msg("`%s`: points at %u..%u", row->text, diag->span.begin, diag->span.end);
    if (row->hint ? !diag->hint || !strstr(diag->hint, row->hint) : diag->hint != NULL)
        fail_msg("`%s`: the hint is: %s", row->text, diag->hint ? diag->hint : "none");
    arena_free(parsed.arena);
}

static void expect_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&rows[i]);
}

#define EXPECT_ALL(rows) expect_all(rows, sizeof(rows) / sizeof *(rows))

#define A_SOURCE "a source (load, range, a name, ...)"
#define A_STAGE  "a stage (select, take, zip, map, ...)"

static void expected_words(void **state)
{
    static const struct row rows[] = {
        {"1 +", "", "expected an expression, found the end of input", NULL},
        {"1 + 1 1", "1", "expected an operator or the end of the statement, found `1`", NULL},
        {"1 + * 2", "*", "expected an expression, found `*`", NULL},
        {"(1 + 2]", "]", "expected an operator, `)` or `|`, found `]`", NULL},
        {"1 + 2)", ")", "expected an operator or the end of the statement, found `)`", NULL},
        {"x ? 1;", ";", "expected an operator or `:`, found `;`", NULL},
        {"x in ,", ",", "expected an expression or `[`, found `,`", NULL},
        {"f(1", "", "expected an operator, `,`, `)` or `|`, found the end of input", NULL},
        {"sum(k in 1..3", "", "expected an operator, `:`, `,`, `)` or `|`, found the end of input", NULL},
        {"load a.bin |", "", "expected " A_STAGE ", found the end of input", NULL},
        {"load a.bin | | count", "|", "expected " A_STAGE ", found `|`", NULL},
        {"load | count", "|", "expected a path, found `|`", NULL},
        {"x | save", "", "expected a path, found the end of input", NULL},
        {"load a.bin as $1", "$1", "expected a name, found `$1`", NULL},
        {"range 1 to 5", "to", "expected an operator or `..`, found `to`", "`A..B`"},
        {"range 1..2 x", "x", "expected an operator, `as`, `by`, `|` or the end of the statement, found `x`", NULL},
        {"x | zip", "", "expected a path, a name, `range`, `(` or `[`, found the end of input", NULL},
        {"x | pick 1", "1", "expected a column or a name, found `1`", NULL},
        {"x | derive a + 1", "+", "expected `=`, found `+`", "`derive NAME = E`"},
        {"x | fsts 2", "2", "expected `|` or the end of the statement, found `2`", NULL},
        {"let a =", "", "expected " A_SOURCE " or an expression, found the end of input", NULL},
        {"let 5", "5", "expected a name, found `5`", NULL},
        {"def f(x = 1", "=", "expected `,` or `)`, found `=`", NULL},
        {"explain", "", "expected " A_SOURCE ", `kernel`, `passes`, `run` or `sql`, found the end of input", NULL},
        {"explain 1 + 1", "1", "expected " A_SOURCE ", `kernel`, `passes`, `run` or `sql`, found `1`", NULL},
        {"x | scan", "", "expected a name or an operator, found the end of input", "+ * min max & ^ bitor"},
        {"x | scan + 5", "5", "expected `exclusive`, `from`, `along`, `|` or the end of the statement, found `5`",
         NULL},
        {"x | fold + exclusive", "exclusive",
         "expected `from`, `along`, `|` or the end of the statement, found `exclusive`", NULL},
        {"x | fold + along", "along", "expected `from`, `along`, `|` or the end of the statement, found `along`",
         "`along rows` or `along cols`"},
        {"x | sum a b", "b", "expected an operator, `along`, `|` or the end of the statement, found `b`", NULL},
        {"x | sort a b", "b", "expected an operator, `desc`, `,`, `|` or the end of the statement, found `b`",
         "`desc` after a key"},
        {"x | group", "", "expected an expression or `:`, found the end of input", "group K: sum(E), count()"},
        {"x | group a:", "", "expected an expression, found the end of input", NULL},
        {"x | stencil", "", "expected an expression or `[`, found the end of input", NULL},
        {"x | stencil [-1..1 else 0: a", "else", "expected an operator, `,` or `]`, found `else`", NULL},
        {"x | gather", "", "expected a path, a name, `range`, `(` or `[`, found the end of input", NULL},
        {"x | scatter [1] to 5", "to", "expected `as`, `into`, `|` or the end of the statement, found `to`", NULL},
        {"x | shape", "", "expected a number, found the end of input", "shape 480 640"},
        {"x | shape i 2, j 3 4", "j 3 4", "an axis is a name and a size, or a size alone", "shape 4 3 2"},
        {"x | shape (2) 3, 4", "(2) 3", "an axis is a name and a size, or a size alone", "shape i 4, j 3, k 2"},
        {"x | shape $i 3, 4", "$i 3", "an axis is a name and a size, or a size alone", "shape i 4, j 3, k 2"},
        {"x | distinct a", "a", "expected `|` or the end of the statement, found `a`", "`pick NAME, ... | distinct`"},
        {")", ")", "expected " A_SOURCE ", an expression, `let`, `def`, `explain` or `race`, found `)`", NULL},
    };
    (void)state;
    EXPECT_ALL(rows);
}

static void advice(void **state)
{
    static const struct row rows[] = {
        {"| count", "|", "expected " A_SOURCE ", an expression, `let`, `def`, `explain` or `race`, found `|`",
         "begins with a source"},
        {"lod ids.bin | count", "lod", "unknown command `lod`", "did you mean `load`?"},
        {"from ids.bin", "from", "unknown command `from`", "`load PATH`"},
        {"load a.bin | bottom 3 by x", "bottom", "expected " A_STAGE ", found `bottom`", "`top N by E asc`"},
        {"load a.bin | top 3 x", "x", "expected an operator, `by`, `|` or the end of the statement, found `x`",
         "`top 3 by amounts`"},
        {"load a.bin | cuont 3", "cuont", "expected " A_STAGE ", found `cuont`", "did you mean `count`?"},
        {"load a.bin | pivot a", "pivot", "expected " A_STAGE ", found `pivot`", "`.help stages`"},
        {"load a.bin | load b.bin", "load", "expected " A_STAGE ", found `load`", "`zip` adds columns"},
        {"x | map a | b 3", "b", "expected " A_STAGE ", found `b`", "(a | b)"},
        {"let f = (a | b 3)", "b", "expected " A_STAGE ", found `b`", "bitor(a, b)"},
        {"select x > 3", "x", "expected an operator, `as`, `|` or the end of the statement, found `x`",
         "follows a source"},
        {"load a.bin select a > 1", ">",
         "expected a name, `(`, `missing`, `,`, `|` or the end of the statement, found `>`", "put a `|` before it"},
        {"x | select a, b", ",", "expected an operator, `|` or the end of the statement, found `,`",
         "`pick` selects columns"},
        {"x | select a = 1", "=", "expected an operator, `|` or the end of the statement, found `=`", "`==` compares"},
        {"x | map a = 1", "=", "expected an operator, `as`, `,`, `|` or the end of the statement, found `=`",
         "`E as NAME`"},
        {"a = 1", "=", "expected an operator, `as`, `|` or the end of the statement, found `=`", "let NAME"},
        {"6 | 1", "|", "expected an operator or the end of the statement, found `|`", "(a | b)"},
        {"1..5", "..", "expected an operator or the end of the statement, found `..`", "`range A..B`"},
        {"x | select | count", "|", "expected an expression, found `|`", "`select` needs an expression"},
        {"x | map |a b| a", "|", "expected an expression, found `|`", "|a, b|"},
        {"x | scan | count", "|", "expected a name or an operator, found `|`", "|a, b| a + b"},
        {"x | reduce -", "-", "expected a name or an operator, found `-`", "`reduce` takes one of"},
        {"x | group a sum(b)", "sum",
         "expected an operator, `:`, `as`, `,`, `|` or the end of the statement, found `sum`", "follow a colon"},
        {"x | stencil -1..1: at(0)", ":", "expected an operator or `else`, found `:`", "after `else`"},
        {"x | stencil -1..1 else 0 at(0)", "at", "expected an operator or `:`, found `at`", "else 0: at(-1)"},
        {"x | shape 2,, 3", ",", "expected a number, found `,`", "shape 480 640"},
        {"x | shape n / 2 3", "/", "expected a number, `,`, `|` or the end of the statement, found `/`",
         "need parentheses"},
        {"x | sum a along 3", "along", "expected an operator, `along`, `|` or the end of the statement, found `along`",
         "`along rows` or `along cols`"},
        {"load t.csv price: text", ":",
         "expected a name, `as`, `missing`, `,`, `|` or the end of the statement, found `:`",
         "load t.csv price decimal(2), id text"},
        {"load t.csv price decimal(x)", "x", "expected a number, found `x`", "decimal(2)"},
        {"load t.csv missing x", "x", "expected quoted text, found `x`", "missing \"-\""},
        {"load t.csv a text, b", "", "expected a name, found the end of input", "price decimal(2)"},
        {"x | pick a b", "b", "expected `as`, `,`, `|` or the end of the statement, found `b`", "with commas"},
        {"x | drop a b", "b", "expected `,`, `|` or the end of the statement, found `b`", "with commas"},
        {"x | rename a = b", "=", "expected `as`, found `=`", "rename OLD as NEW"},
        {"x | rename a, b", ",", "expected `as`, found `,`", "rename OLD as NEW"},
        {"x | rename a as b c", "c", "expected `,`, `|` or the end of the statement, found `c`", "with commas"},
        {"x | exclude a", "exclude", "expected " A_STAGE ", found `exclude`", "`drop NAME, ...`"},
        {"let in = 5", "in", "expected a name, found `in`", "in backquotes"},
        {"x | pick \"a\"", "\"a\"", "expected a column or a name, found `\"a\"`", "names in backquotes"},
        {"let missing = 5", "missing", "expected a name, found `missing`", "in backquotes"},
        {"x | map 1 as true", "true", "expected a name, found `true`", "in backquotes"},
        {"x | select d > date '2024-01-01'", "'2024-01-01'",
         "expected an operator, `|` or the end of the statement, found `'2024-01-01'`", "without quotes: 2024-01-31"},
        {"x | select d > 2024-01-31 09:30", "09", "expected an operator, `|` or the end of the statement, found `09`",
         "2024-01-31T09:30"},
        {"x | select a + INTERVAL '1' day", "'1'", "expected an operator, `|` or the end of the statement, found `'1'`",
         "2d"},
        {"x | select a <> 1", ">", "expected an expression, found `>`", "`!=`"},
        {"x | select a == \"b", "\"b", "unterminated string", "the quote"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

static void bad_lexemes(void **state)
{
    static const struct row rows[] = {
        {"12abc", "12abc", "`12abc` is not a number", "in backquotes"},
        {"5x", "5x", "`5x` is not a number", "in backquotes"},
        {"5M", "5M", "`5M` is not a number", "15min, 4h, 2d, 1w; calendar steps 1mo"},
        {"3hours", "3hours", "`3hours` is not a number", "4h"},
        {"1h30min", "1h30min", "`1h30min` is not a number", "`1h + 30min`"},
        {"1.5h", "1.5h", "`1.5h` is not a number", "`90min`"},
        {"d > 2024-02-30", "2024-02-30", "there is no 30 February 2024", "write spaces"},
        {"d > 2024-1-5", "2024-1-5", "`2024-1-5` is not a date", "2024-01-05; for a subtraction write spaces"},
        {"2024-01-31T09", "2024-01-31T09", "`2024-01-31T09` is not a timestamp", "2024-01-31T09:30"},
        {"2024-01-31T09:00:00.1234567", "2024-01-31T09:00:00.1234567",
         "`2024-01-31T09:00:00.1234567` is not a timestamp", "6 digits"},
        {"2024-01-31T09:60:10", "09:60:10", "there is no 09:60:10 in a timestamp: the limit is 23:59:59", "T09:30"},
        {"2024-01-31T09:10+25:00", "+25:00", "there is no +25:00 in a timestamp: the limit is +23:59", "T09:30"},
        {"2000000000000h", "2000000000000h", "the duration 2000000000000h does not fit in 64 bits", "106751991d"},
        {"s == \"a\\qb\"", "\\q", "unknown escape `\\q`", "single quotes"},
        {"s == \"a\\u{d800}\"", "\\u{d800}", "this escape is not a character", "\\u{e9}"},
        {"s == \"a\\u41\"", "\\u", "this escape is not a character", "\\u{e9}"},
        {"s == 'a\xff'", "\xff", "the byte \\xff is not valid UTF-8", "UTF-8"},
        {"1.5x", "1.5x", "`1.5x` is not a number", "in backquotes"},
        {"x + 0xzz", "0xzz", "`0xzz` is not a number", "in backquotes"},
        {"1__0", "1__0", "`1__0` is not a number", "in backquotes"},
        {"5.", ".", "unexpected character `.`", "a digit on both sides"},
        {"x @ y", "@", "unexpected character `@`", NULL},
        {"{1}", "{", "unexpected character `{`", "( and )"},
        {"\xe2\x80\x9c", "\xe2\x80\x9c", "unexpected character `\xe2\x80\x9c`", "quote"},
        {"x + \xe2\x82\xac", "\xe2\x82\xac", "unexpected character `\xe2\x82\xac`", "in backquotes"},
        {"x \x1b]0;t\x07; y z", "\x1b", "unexpected invisible character U+001B", NULL},
        {"x\xe2\x80\xae"
         "y",
         "\xe2\x80\xae", "unexpected invisible character U+202E", NULL},
        {"x \xc2\x9b"
         "31m",
         "\xc2\x9b", "unexpected invisible character U+009B", NULL},
        {"x \xff\xfe; y z", "\xff", "the byte \\xff is not valid UTF-8", "UTF-8"},
        {"x \xc0\xaf", "\xc0", "the byte \\xc0 is not valid UTF-8", "UTF-8"},
        {"x \xed\xa0\x80", "\xed", "the byte \\xed is not valid UTF-8", "UTF-8"},
        {"`a\xff`", "\xff", "the byte \\xff is not valid UTF-8", "UTF-8"},
        {".help \xff", "\xff", "the byte \\xff is not valid UTF-8", "UTF-8"},
        {"load \"a", "\"a", "unterminated string", "the quote"},
        {"load 'a\n1", "'a", "unterminated string", "the quote"},
        {"load \"a\\\"", "\"a\\\"", "unterminated string", "the quote"},
        {"load \"\"", "\"\"", "empty path", NULL},
        {"`a", "`a", "unterminated name: no closing backquote on this line", NULL},
        {"``", "``", "empty name", NULL},
        {"$", "$", "`$` is not a column", "$1"},
        {"$", "$", "`$` is not a column", "$1"},
        {"$0", "$0", "there is no column $0", "$1"},
        {"$2147483648", "$2147483648", "there is no column $2147483648", "$1"},
        {"1e999", "1e999", "1e999 is too large for a float", "1.8e308"},
    };
    static const struct {
        const char *text;
        const char *number;
    } large[] = {
        {"9223372036854775808", "9223372036854775808"},
        {"1 - 9223372036854775808", "9223372036854775808"},
        {"-9223372036854775809", "9223372036854775809"},
        {"0x1_0000_0000_0000_0000", "0x1_0000_0000_0000_0000"},
        {"x | take 99999999999999999999", "99999999999999999999"},
    };

    (void)state;
    EXPECT_ALL(rows);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct parsed parsed = parsed_of(large[i].text, strlen(large[i].text));
        assert_int_equal(parsed.diags.count, 1);
        assert_non_null(strstr(parsed.diags.at[0].message, large[i].number));
        assert_non_null(strstr(parsed.diags.at[0].message, "64 bits"));
        assert_non_null(strstr(parsed.diags.at[0].hint, "-9223372036854775808 to 9223372036854775807"));
        arena_free(parsed.arena);
    }
}

/* The lexer treats NUL as an ordinary byte, valid only in comments. */
static void nul_bytes(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        uint32_t at;
    } rows[] = {{"\0", 1, 0},    {"1 \0+ 1", 6, 2}, {"load \"a\0b\"", 10, 7}, {"load a\0b", 8, 6},
                {"`a\0`", 4, 2}, {".a\0", 3, 2},    {"load \0", 6, 5},        {"x\0", 2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed parsed = parsed_of(rows[i].text, rows[i].length);
        assert_int_equal(parsed.result, PARSE_FAILED);
        assert_int_equal(parsed.diags.count, 1);
        assert_string_equal(parsed.diags.at[0].message, "a query cannot contain a NUL byte");
        assert_int_equal(parsed.diags.at[0].span.begin, rows[i].at);
        arena_free(parsed.arena);
    }
    struct parsed parsed = parsed_of("# \0 \xff\n1", 7);
    assert_int_equal(parsed.result, PARSE_OK);
    assert_non_null(parsed.first);
    arena_free(parsed.arena);
}

/* Messages never contain raw control bytes from the text. */
static void messages_are_harmless(void **state)
{
    static const char *const around[] = {"%c",       "x %c y", "load %c.bin x y", "1%c",
                                         "x | %c%c", "$%c",    "'%c' 'a' 1",      "`%c` `a`"};
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
            char text[32];
            int length = snprintf(text, sizeof text, around[i], byte, byte);
            struct parsed parsed = parsed_of(text, (size_t)length);
            for (size_t k = 0; k < parsed.diags.count; k++) {
                for (const char *at = parsed.diags.at[k].message; *at; at++)
                    assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
            }
            arena_free(parsed.arena);
        }
    }
}

/* Messages truncate long lexemes. */
static void long_words_are_cut(void **state)
{
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);
    (void)state;
    assert_non_null(text);
    memset(text, '1', LENGTH);
    text[LENGTH] = '\0';
    struct parsed parsed = parsed_of(text, LENGTH);
    assert_true(strlen(parsed.diags.at[0].message) < 200);
    assert_non_null(strstr(parsed.diags.at[0].message, "111..."));
    arena_free(parsed.arena);
    free(text);
}

/* Parsing resumes at the next statement: the statements parsed and the errors reported. */
static void recovery(void **state)
{
    static const struct {
        const char *text;
        const char *trees;
        size_t errors;
    } rows[] = {
        {"1 +* 2; 3\n4", "3; 4", 1},
        {"x | cuont 3\n| sum\n\n# c\n | show\n1", "1", 1},
        {"1 + 1 1\n2 2\n3\n4 4", "3", 3},
        {"f(1 +* 2,\n 3)\n4", "4", 1},
        {"(1 + 2\nlet a = 3\n4", "let a = 3; 4", 1},
        {"x | zip (y | bogus\nload b.bin | count\n4", "{load b.bin} | count; 4", 1},
        {"x | zip (\n load y.bin | bogus z\n)\n4", "4", 1},
        {"1 +\nlet a = 2\na", "let a = 2; {a}", 1},
        {"1 +\nload b.bin | count\n2", "{load b.bin} | count; 2", 1},
        {"x |\n.help\n2", ".help; 2", 1},
        {"x | take (\nexplain y\n2", "explain {y}; 2", 1},
        {"1 @ 2; 3", "3", 1},
        {"1 \x1b 2; 3 3\n4", "4", 1},
        {"load \"a; 1\n2", "2", 1},
        {".a\xff\n2", "2", 1},
        {"1 +;;\n2", "2", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed parsed = parsed_of(rows[i].text, strlen(rows[i].text));
        struct strbuf trees = {0};
        add_statements(&trees, parsed.first);
        assert_int_equal(parsed.result, PARSE_FAILED);
        if (strcmp(trees.text, rows[i].trees) != 0 || parsed.diags.count != rows[i].errors)
            fail_msg("`%s` became %s with %zu errors", rows[i].text, trees.text, parsed.diags.count);
        strbuf_free(&trees);
        arena_free(parsed.arena);
    }
}

static void only_so_many_errors(void **state)
{
    struct strbuf text = {0};
    (void)state;
    for (int i = 0; i < 3 * LIMIT_ERRORS; i++)
        strbuf_puts(&text, "1 1\n");
    struct parsed parsed = parsed_of(text.text, text.length);
    assert_int_equal(parsed.result, PARSE_FAILED);
    assert_int_equal(parsed.diags.count, LIMIT_ERRORS + 1);
    assert_int_equal(parsed.diags.at[LIMIT_ERRORS].severity, SEVERITY_NOTE);
    arena_free(parsed.arena);
    strbuf_free(&text);
}

/* `begin`, repeated `part`, `middle`, repeated `part_end`. */
static struct parsed repeated(struct strbuf *text, const char *begin, const char *part, const char *middle,
                              const char *part_end, int times)
{
    strbuf_clear(text);
    strbuf_puts(text, begin);
    for (int i = 0; i < times; i++)
        strbuf_puts(text, part);
    strbuf_puts(text, middle);
    for (int i = 0; i < times; i++)
        strbuf_puts(text, part_end);
    return parsed_of(text->text, text->length);
}

/* Reaching a limit is no error; exceeding it is one that names the limit and has a span. */
static void limits(void **state)
{
    enum { FAR = 10000 };
    static const struct {
        const char *begin, *part, *middle, *end;
        int limit;
        const char *names;
    } rows[] = {
        {"", "(", "1", ")", LIMIT_NESTING, "200"},
        {"", "abs(", "1", ")", LIMIT_NESTING, "200"},
        {"", "t[", "1", "]", LIMIT_NESTING, "200"},
        {"", "1 in [", "1", "]", LIMIT_NESTING, "200"},
        {"", "- ", "1", "", LIMIT_NESTING, "200"},
        {"", "not ", "1", "", LIMIT_NESTING, "200"},
        {"", "1 ? ", "1", " : 0", LIMIT_NESTING, "200"},
        {"", "1 ? 1 : ", "0", "", LIMIT_NESTING, "200"},
        {"x", " | zip (y", "", ")", LIMIT_NESTING, "200"},
        {"", "(", "x | count", ")", LIMIT_NESTING, "200"},
        {"1", " + 1", "", "", LIMIT_DEPTH - 1, "5000"},
        {"x", " | take 1", "", "", LIMIT_STAGES, "50000"},
        {"x | count ", "n", "", "", LIMIT_IDENTIFIER, "255"},
    };
    struct strbuf text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int over = 0; over < 3; over++) {
            int times = over == 2 ? rows[i].limit + FAR : rows[i].limit + over;
            struct parsed parsed = repeated(&text, rows[i].begin, rows[i].part, rows[i].middle, rows[i].end, times);
            if (parsed.diags.count != (over > 0) || parsed.result != (over ? PARSE_FAILED : PARSE_OK))
                fail_msg("%d times `%s`: %zu errors", times, rows[i].part, parsed.diags.count);
            if (over) {
                assert_non_null(strstr(parsed.diags.at[0].message, rows[i].names));
                assert_true(parsed.diags.at[0].span.end > 0);
            }
            arena_free(parsed.arena);
        }
    }
    /* The deepest parser stack: every operator pending at every level. */
    struct parsed parsed =
        repeated(&text, "x | map ", "1 || 1 && 1 == 1 < 1 ^ 1 & 1 << 1 + 1 * f(1 | 1, ", "1", ")", LIMIT_NESTING);
    assert_int_equal(parsed.result, PARSE_OK);
    arena_free(parsed.arena);
    parsed = repeated(&text, "[", "1,", "1]", "", LIMIT_TERMS);
    assert_int_equal(parsed.diags.count, 1);
    assert_non_null(strstr(parsed.diags.at[0].message, "1000000"));
    arena_free(parsed.arena);
    strbuf_free(&text);

    /* Rejected unread. */
    struct source source = {"huge", "", (size_t)LIMIT_TEXT + 1};
    struct stmt *first;
    parsed = parsed_of("", 0);
    assert_int_equal(parse(&source, PARSE_SCRIPT, parsed.arena, &parsed.diags, &first), PARSE_FAILED);
    assert_non_null(strstr(parsed.diags.at[0].message, "1073741824"));
    assert_null(first);
    arena_free(parsed.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_words),
        cmocka_unit_test(advice),
        cmocka_unit_test(bad_lexemes),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(messages_are_harmless),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(recovery),
        cmocka_unit_test(only_so_many_errors),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
