/* Text to lexemes, and lexemes to values. */
#include "scratch.h"

#include "base/strbuf.h"
#include "parser/grammar.h"
#include "parser/lexer.h"
#include "parser/literal.h"
#include "parser/parse.h"

#include <math.h>
#include <stdio.h>

/* "op" for operators and words, which are shown by their text. */
static const char *kind_name(int kind)
{
    static const struct {
        int kind;
        const char *name;
    } names[] = {
        {TOKEN_NAME, "name"},
        {TOKEN_INT, "int"},
        {TOKEN_FLOAT, "float"},
        {TOKEN_STRING, "string"},
        {TOKEN_DATE, "date"},
        {TOKEN_TIMESTAMP, "time"},
        {TOKEN_DURATION, "duration"},
        {TOKEN_MONTHS, "months"},
        {TOKEN_POSITION, "position"},
        {TOKEN_ARGUMENT, "argument"},
        {TOKEN_PATH, "path"},
        {TOKEN_NOT_IN, "not-in"},
        {LEX_NEWLINE, "newline"},
        {LEX_SEMICOLON, "semicolon"},
        {LEX_COMMAND, "command"},
        {LEX_BAD_NUMBER, "number?"},
        {LEX_BAD_TIME, "time?"},
        {LEX_BAD_STRING, "string?"},
        {LEX_BAD_QUOTED, "quoted?"},
        {LEX_BAD_POSITION, "position?"},
        {LEX_BAD_CHARACTER, "character?"},
        {LEX_BAD_BYTE, "byte?"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].kind == kind)
            return names[i].name;
    }
    return "op";
}

/* All lexemes as "kind[text] ..."; operators as text alone, words as text in angle brackets. */
static void expect_lexemes(const char *text, size_t length, const char *expected)
{
    struct source source = {"test", text, length};
    struct lexer lexer;
    struct strbuf out = {0};
    uint32_t end = 0;

    lexer_init(&lexer, &source);
    strbuf_puts(&out, "");
    for (;;) {
        struct lexeme lexeme = lexer_next(&lexer);
        assert_true(lexeme.begin >= end && lexeme.end >= lexeme.begin && lexeme.end <= length);
        end = lexeme.end;
        if (lexeme.kind == LEX_EOF)
            break;
        assert_true(lexeme.end > lexeme.begin);
        strbuf_puts(&out, out.length ? " " : "");
        const char *name = kind_name(lexeme.kind);
        if (lexeme.word)
            assert_int_equal(lexeme.kind, lexeme.word->token);
        if (lexeme.word)
            strbuf_putc(&out, '<');
        else if (strcmp(name, "op") != 0)
            strbuf_printf(&out, "%s[", name);
        if (lexeme.kind != LEX_NEWLINE)
            strbuf_add_visible(&out, text + lexeme.begin, lexeme.end - lexeme.begin);
        if (lexeme.word)
            strbuf_putc(&out, '>');
        else if (strcmp(name, "op") != 0)
            strbuf_putc(&out, ']');
    }
    assert_int_equal(lexer_next(&lexer).kind, LEX_EOF);
    assert_string_equal(out.text, expected);
    strbuf_free(&out);
}

static void lexemes(void **state)
{
    static const struct {
        const char *text;
        const char *lexemes;
    } rows[] = {
        {"", ""},
        {" \t# comment", ""},
        {"a\n\r\nb", "name[a] newline[] newline[] name[b]"},
        {"a;# b; c\n", "name[a] semicolon[;] newline[]"},
        {"select x where", "<select> name[x] <where>"},
        {"Select selects _s s1", "name[Select] name[selects] name[_s] name[s1]"},
        {"\xc3\xa9t\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97", "name[\xc3\xa9t\xc3\xa9] name[\xe6\xbc\xa2\xe5\xad\x97]"},
        {"`a b` ``", "name[`a b`] name[``]"},
        {"`a\nb`", "quoted?[`a] newline[] name[b] quoted?[`]"},
        {"0 42 1_000 0xFf 0b1_0", "int[0] int[42] int[1_000] int[0xFf] int[0b1_0]"},
        {"1.5 1e6 1E-6 2.5e+3 1_0.2_5", "float[1.5] float[1e6] float[1E-6] float[2.5e+3] float[1_0.2_5]"},
        {"1..10 1.5..2 0x1..0b1", "int[1] .. int[10] float[1.5] .. int[2] int[0x1] .. int[0b1]"},
        {"1. 1.e5", "int[1] character?[.] int[1] character?[.] name[e5]"},
        {"a.b.c a.`b c`.d `a`.b in.not", "name[a.b.c] name[a.`b c`.d] name[`a`.b] name[in.not]"},
        {"a..b a.1 a.``", "name[a] .. name[b] name[a] character?[.] int[1] name[a] character?[.] name[``]"},
        {"12abc 0x 0b2 1_ 1__0 1e 1.5x 0xg",
         "number?[12abc] number?[0x] number?[0b2] number?[1_] number?[1__0] number?[1e] "
         "number?[1.5x] number?[0xg]"},
        {"2024-01-31 x-2024-01-31-1 (2024-99-99)",
         "date[2024-01-31] name[x] - date[2024-01-31] - int[1] ( date[2024-99-99] )"},
        {"2024 - 01 - 31 2024-03 2024 -01-31",
         "int[2024] - int[01] - int[31] int[2024] - int[03] int[2024] - int[01] - int[31]"},
        {"12024-01-31 1_2024-01-31 a2024-01-31 1.2024-01-31",
         "int[12024] - int[01] - int[31] int[1_2024] - int[01] - int[31] name[a2024] - int[01] - int[31] "
         "float[1.2024] - int[01] - int[31]"},
        {"2024-1-5 2024-01-5 2024-1-05 2024-1-31 2024-12-1", "time?[2024-1-5] time?[2024-01-5] time?[2024-1-05] "
                                                             "time?[2024-1-31] time?[2024-12-1]"},
        {"2024-1-32 2024-0-5 2024-13-5 1024-1-1000 2024-01-311",
         "int[2024] - int[1] - int[32] int[2024] - int[0] - int[5] int[2024] - int[13] - int[5] "
         "int[1024] - int[1] - int[1000] int[2024] - int[01] - int[311]"},
        {"2024-01-31x 2024-01-31_ 2024-01-31.5 2024-1-99x", "time?[2024-01-31x] time?[2024-01-31_] "
                                                            "time?[2024-01-31.5] time?[2024-1-99x]"},
        {"2024-01-01..2024-01-31 1..2024-01-31", "date[2024-01-01] .. date[2024-01-31] int[1] .. date[2024-01-31]"},
        {"2024-01-31T09:30 2024-01-31T09:30:15 2024-01-31T09:30:15.25",
         "time[2024-01-31T09:30] time[2024-01-31T09:30:15] time[2024-01-31T09:30:15.25]"},
        {"2024-01-31T09:30Z 2024-01-31T09:30:00.123456-01:30 2024-01-31T09:30+05:30",
         "time[2024-01-31T09:30Z] time[2024-01-31T09:30:00.123456-01:30] time[2024-01-31T09:30+05:30]"},
        {"2024-01-31T09:30..2024-01-31T10:00", "time[2024-01-31T09:30] .. time[2024-01-31T10:00]"},
        {"2024-01-31T09:30:00..2024-01-31T10:00-1h",
         "time[2024-01-31T09:30:00] .. time[2024-01-31T10:00] - duration[1h]"},
        {"2024-01-31T09:30 : x", "time[2024-01-31T09:30] : name[x]"},
        {"2024-01-31T 2024-01-31T9:30 2024-01-31T09 2024-01-31T09:30:5 2024-01-31T09:30:00.1234567",
         "time?[2024-01-31T] time?[2024-01-31T9:30] time?[2024-01-31T09] time?[2024-01-31T09:30:5] "
         "time?[2024-01-31T09:30:00.1234567]"},
        {"2024-01-31T09:30z 2024-01-31t09 2024-01-31T09:30Zx", "time?[2024-01-31T09:30z] time?[2024-01-31t09] "
                                                               "time?[2024-01-31T09:30Zx]"},
        {"10us 250ms 90s 15min 4h 2d 1w 1_000us 1mo 2q 1y",
         "duration[10us] duration[250ms] duration[90s] duration[15min] duration[4h] duration[2d] duration[1w] "
         "duration[1_000us] months[1mo] months[2q] months[1y]"},
        {"-5min..0 1d..2d 0x1d 0b1", "- duration[5min] .. int[0] duration[1d] .. duration[2d] int[0x1d] int[0b1]"},
        {"5M 5m 1.5h 1h30min 90sx 90s_ 1e3s 1__0s", "number?[5M] number?[5m] number?[1.5h] number?[1h30min] "
                                                    "number?[90sx] number?[90s_] number?[1e3s] number?[1__0s]"},
        {"a//b a ?? b ??c s !~ t !~x",
         "name[a] // name[b] name[a] ?? name[b] ?? name[c] name[s] !~ name[t] !~ name[x]"},
        {"is not like missing true false True", "<is> <not> <like> <missing> <true> <false> name[True]"},
        {"$1 $12 $ $a1", "position[$1] position[$12] position?[$] argument[$a1]"},
        {"\"a\" 'b' \"c\\\"d\" \"\\\\\" 'e\\'",
         "string[\"a\"] string['b'] string[\"c\\\"d\"] string[\"\\\\\"] string['e\\']"},
        {"\"a", "string?[\"a]"},
        {"'a\"b\n'", "string?['a\"b] newline[] string?[']"},
        {"\"a\\", "string?[\"a\\]"},
        {"\"a\\\nb\"", "string?[\"a\\] newline[] name[b] string?[\"]"},
        {"'\xff'", "string['\\xff']"},
        {"||||| &&& === !== <<= >>= <>", "|| || | && & == = != = << = >> = < >"},
        {"+-*/%^~!?:,()[]///", "+ - * / % ^ ~ ! ? : , ( ) [ ] // /"},
        {".. ... .", ".. .. character?[.] character?[.]"},
        {"not in not  in not\nin notin", "not-in[not in] not-in[not  in] <not> newline[] <in> name[notin]"},
        {"not not in", "<not> not-in[not in]"},
        {"@{}\\", "character?[@] character?[{] character?[}] character?[\\]"},
        {"a\rb", "name[a] character?[^M] name[b]"},
        {"\x1b\x7f", "character?[^[] character?[^?]"},
        {"\xe2\x82\xac\xe2\x82", "character?[\xe2\x82\xac] byte?[\\xe2] byte?[\\x82]"},
        {"\xff\xc0\xaf", "byte?[\\xff] byte?[\\xc0] byte?[\\xaf]"},
        {"\xed\xa0\x80", "byte?[\\xed] byte?[\\xa0] byte?[\\x80]"},
        {"\xef\xbb\xbf"
         "a",
         "name[a]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_lexemes(rows[i].text, strlen(rows[i].text), rows[i].lexemes);
    expect_lexemes("a\0b", 3, "name[a] byte?[^@] name[b]");
    expect_lexemes("'\0'", 3, "string['^@']");
    expect_lexemes("#\0\n1", 4, "newline[] int[1]");
}

static void paths(void **state)
{
    /* The path at the start of the text or NULL, if any word is a path, and if it must look like one. */
    static const struct {
        const char *text;
        const char *any;
        const char *like_a_path;
    } rows[] = {
        {"ids.bin", "ids.bin", "ids.bin"},
        {"  ids.bin|x", "ids.bin", "ids.bin"},
        {"ids", "ids", NULL},
        {"./ids as x", "./ids", "./ids"},
        {"../a-b+c=d.x,e", "../a-b+c=d.x", "../a-b+c=d.x"},
        {"a.b;c", "a.b", "a.b"},
        {"a.b)c", "a.b", "a.b"},
        {"a.b(c", "a.b", "a.b"},
        {"a.b#c", "a.b", "a.b"},
        {"a.b\r\n", "a.b", "a.b"},
        {"a\tb.c", "a", NULL},
        {"\xc3\xb6.x", "\xc3\xb6.x", "\xc3\xb6.x"},
        {"a.b\x1b", "a.b", "a.b"},
        {"a\x01.b", "a", NULL},
        {"a.b\xff"
         "c",
         "a.b", "a.b"},
        {"a.b\"c", "a.b\"c", "a.b\"c"},
        {"[1.5]", NULL, NULL},
        {"\"a.b\"", NULL, NULL},
        {"'a.b'", NULL, NULL},
        {"`a.b`", NULL, NULL},
        {"|a.b", NULL, NULL},
        {"(a.b", NULL, NULL},
        {"\na.b", NULL, NULL},
        {"", NULL, NULL},
        {"\xff", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (enum path_form form = PATH_ANY_WORD; form <= PATH_LIKE; form++) {
            const char *expected = form == PATH_ANY_WORD ? rows[i].any : rows[i].like_a_path;
            struct source source = {"test", rows[i].text, strlen(rows[i].text)};
            struct lexer lexer;
            lexer_init(&lexer, &source);
            const unsigned char *before = lexer.cursor;
            struct lexeme path = lexer_path(&lexer, form);
            assert_int_equal(path.kind, expected ? TOKEN_PATH : LEX_NONE);
            if (!expected) {
                assert_ptr_equal(lexer.cursor, before);
                continue;
            }
            assert_int_equal(path.end - path.begin, strlen(expected));
            assert_memory_equal(source.text + path.begin, expected, strlen(expected));
        }
    }
}

/* Paths where an expression may stand. */
static void certain_paths(void **state)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"trades.csv", "trades.csv"},
        {" trades.csv.gz | count", "trades.csv.gz"},
        {"trades.csv\n", "trades.csv"},
        {"trades.csv as t", "trades.csv"},
        {"old.dat csv", "old.dat"},
        {"trades.csv)", "trades.csv"},
        {"trades.csv # c", "trades.csv"},
        {"a-b/../c+d.x", "a-b/../c+d.x"},
        {"2024-trades.csv", "2024-trades.csv"},
        {"trades-*.csv", "trades-*.csv"},
        {"$dir/ids.bin", "$dir/ids.bin"},
        {"./ids", "./ids"},
        {"../ids", "../ids"},
        {"/tmp/ids", "/tmp/ids"},
        {"~/ids", "~/ids"},
        {"x", NULL},
        {"x/2", NULL},
        {"data/ids", NULL},
        {"data/", NULL},
        {"1.5", NULL},
        {"1.5e3", NULL},
        {"1.e5", NULL},
        {"2024.csv", NULL},
        {"1..x", NULL},
        {"a..b", NULL},
        {"x.7z", NULL},
        {"-1.e", NULL},
        {".csv", NULL},
        {"/ 2", NULL},
        {"./", NULL},
        {"~x", NULL},
        {"a.b + 1", NULL},
        {"a.b == 1", NULL},
        {"a.b || c", NULL},
        {"a.b(1)", NULL},
        {"sym=='a.b c'", NULL},
        {"\"a.b\"", NULL},
        {"a.`b`", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct source source = {"test", rows[i].text, strlen(rows[i].text)};
        struct lexer lexer;
        lexer_init(&lexer, &source);
        struct lexeme path = lexer_path(&lexer, PATH_CERTAIN);
        if (path.kind != (rows[i].path ? TOKEN_PATH : LEX_NONE))
            fail_msg("`%s` is %sa path", rows[i].text, rows[i].path ? "not " : "");
        if (rows[i].path)
            assert_memory_equal(source.text + path.begin, rows[i].path, path.end - path.begin);
    }
}

static void commands(void **state)
{
    static const struct {
        const char *text;
        const char *command;
    } rows[] = {
        {".help", ".help"}, {" \t.set a  b \t\r\n1", ".set a  b"},
        {".q", ".q"},       {".a; b # c", ".a; b # c"},
        {".5", NULL},       {". a", NULL},
        {"..a", NULL},      {"a .b", NULL},
        {".", NULL},        {"", NULL},
        {"\n.a", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct source source = {"test", rows[i].text, strlen(rows[i].text)};
        struct lexer lexer;
        lexer_init(&lexer, &source);
        struct lexeme command = lexer_command(&lexer);
        assert_int_equal(command.kind, rows[i].command ? LEX_COMMAND : LEX_NONE);
        if (rows[i].command) {
            assert_int_equal(command.end - command.begin, strlen(rows[i].command));
            assert_memory_equal(source.text + command.begin, rows[i].command, strlen(rows[i].command));
        }
    }
}

/* Reads the text's only lexeme. */
static bool read_one(struct scratch *scratch, const char *text, struct lexeme *lexeme, struct token *token)
{
    struct source *source = arena_alloc(scratch->arena, sizeof *source);
    *source = (struct source){"test", text, strlen(text)};
    struct lexer lexer;
    lexer_init(&lexer, source);
    *lexeme = lexer_next(&lexer);
    return token_read(source, lexeme, scratch->arena, &scratch->diags, token);
}

static void values(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } integers[] = {
        {"0", 0},
        {"007", 7},
        {"1_2_3", 123},
        {"0xff", 255},
        {"0xFf_0", 4080},
        {"0b1010", 10},
        {"$3", 3},
        {"$2147483647", INT32_MAX},
        {"9223372036854775807", INT64_MAX},
        {"0x7fffffffffffffff", INT64_MAX},
        {"0b111111111111111111111111111111111111111111111111111111111111111", INT64_MAX},
        {"000000000000000000000000000000000000000001", 1},
    };
    static const struct {
        const char *text;
        double value;
    } floats[] = {
        {"0.5", 0.5},
        {"1e0", 1},
        {"1_0.2_5e1", 102.5},
        {"1e-400", 0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"5e-324", 5e-324},
        {"0.1", 0.1},
    };
    static const struct {
        const char *text;
        const char *value;
    } texts[] = {
        {"abc", "abc"},         {"`a b`", "a b"},       {"'a\\b'", "a\\b"}, {"\"a\\\"b\"", "a\"b"},
        {"\"a\\\\b\"", "a\\b"}, {"\"a\\nb\"", "a\\nb"}, {"'\xff'", "\xff"}, {"select", "select"},
    };
    static const char *const limits[] = {"9223372036854775808", "0x8000000000000000",
                                         "0b1000000000000000000000000000000000000000000000000000000000000000"};
    static const struct {
        const char *text;
        const char *said;
    } bad[] = {
        {"9223372036854775809", "64 bits"},
        {"0xffffffffffffffff", "64 bits"},
        {"18446744073709551617", "64 bits"},
        {"99999999999999999999999", "64 bits"},
        {"1e309", "too large for a float"},
        {"$0", "no column $0"},
        {"``", "empty"},
        {"''", "empty"},
        {"12x", "not a number"},
        {"'a", "unterminated"},
        {"`a", "closing"},
        {"$", "not a column"},
        {"@", "`@`"},
        {"\x80", "\\x80"},
        {"`\x80`", "\\x80"},
    };
    struct scratch *scratch = scratch_new();
    struct lexeme lexeme;
    struct token token;

    (void)state;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        assert_true(read_one(scratch, integers[i].text, &lexeme, &token));
        assert_true(token.value.integer == integers[i].value);
        assert_int_not_equal(lexeme.kind, TOKEN_INT_LIMIT);
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        assert_true(read_one(scratch, floats[i].text, &lexeme, &token));
        assert_true(fabs(token.value.number - floats[i].value) <= 0);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(read_one(scratch, texts[i].text, &lexeme, &token));
        assert_string_equal(token.value.text, texts[i].value);
        assert_int_equal(token.end, strlen(texts[i].text));
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_true(read_one(scratch, limits[i], &lexeme, &token));
        assert_int_equal(lexeme.kind, TOKEN_INT_LIMIT);
        assert_true(token.value.integer == INT64_MIN);
    }
    assert_int_equal(scratch->diags.count, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(read_one(scratch, bad[i].text, &lexeme, &token));
        assert_only_told(scratch, bad[i].said);
    }
    scratch_free(scratch);
}

/* Days since 1970-01-01 by counting, for dates from 1970 on. */
static int64_t counted_days(int year, int month, int day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = day - 1;
    for (int at = 1970; at <= year; at++) {
        bool leap = (at % 4 == 0 && at % 100 != 0) || at % 400 == 0;
        for (int i = 1; i <= 12 && (at < year || i < month); i++)
            days += lengths[i - 1] + (i == 2 && leap);
    }
    return days;
}

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        bool utc;
    } rows[] = {
        {"1970-01-01", 0, false},
        {"2000-02-29", 11016, false},
        {"0001-01-01", -719162, false},
        {"9999-12-31", 2932896, false},
        {"1970-01-01T00:00", 0, false},
        {"1970-01-01T00:00Z", 0, true},
        {"1970-01-02T03:04:05.6", INT64_C(97445600000), false},
        {"1970-01-01T00:00:00.000001Z", 1, true},
        {"1970-01-01T00:00+01:30", -INT64_C(5400000000), true},
        {"1970-01-01T00:00:00.5-23:59", INT64_C(86340500000), true},
        {"1969-12-31T23:59:59.999999", -1, false},
        {"0s", 0, false},
        {"10us", 10, false},
        {"250ms", 250000, false},
        {"90s", 90000000, false},
        {"15min", 900000000, false},
        {"4h", INT64_C(14400000000), false},
        {"2d", INT64_C(172800000000), false},
        {"1w", INT64_C(604800000000), false},
        {"1_000us", 1000, false},
        {"9223372036854775807us", INT64_MAX, false},
        {"106751991d", INT64_C(106751991) * 86400000000, false},
        {"5mo", 5, false},
        {"2q", 6, false},
        {"3y", 36, false},
    };
    static const struct {
        const char *text;
        const char *said;
    } bad[] = {
        {"2024-02-30", "there is no 30 February 2024"},
        {"2023-02-29", "there is no 29 February 2023"},
        {"1900-02-29", "there is no 29 February 1900"},
        {"2024-04-31", "there is no 31 April 2024"},
        {"2024-01-00", "there is no 0 January 2024"},
        {"2024-00-10", "there is no month 00"},
        {"2024-13-10", "there is no month 13"},
        {"0000-01-01", "there is no year 0000"},
        {"2024-02-30T10:00", "there is no 30 February 2024"},
        {"2024-01-31T24:00", "there is no 24:00"},
        {"2024-01-31T23:60", "there is no 23:60"},
        {"2024-01-31T23:59:60", "there is no 23:59:60"},
        {"2024-01-31T23:59+24:00", "there is no +24:00"},
        {"2024-01-31T23:59-00:60", "there is no -00:60"},
        {"2024-1-5", "`2024-1-5` is not a date"},
        {"2024-01-05.5", "is not a date"},
        {"2024-01-05T9:00", "is not a timestamp"},
        {"2024-01-05T09:00:00.1234567", "is not a timestamp"},
        {"9223372036854775808us", "does not fit in 64 bits"},
        {"106751992d", "does not fit in 64 bits"},
        {"99999999999999999999999999y", "does not fit in 64 bits"},
    };
    struct scratch *scratch = scratch_new();
    struct lexeme lexeme;
    struct token token;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(read_one(scratch, rows[i].text, &lexeme, &token));
        if (token.value.integer != rows[i].value || token.utc != rows[i].utc)
            fail_msg("%s is %lld", rows[i].text, (long long)token.value.integer);
    }
    for (int year = 1970; year <= 2100; year += 2) {
        for (int month = 1; month <= 12; month++) {
            char text[32];
            snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, 1 + (year * 7 + month * 11) % 28);
            assert_true(read_one(scratch, text, &lexeme, &token));
            assert_true(token.value.integer == counted_days(year, month, 1 + (year * 7 + month * 11) % 28));
        }
    }
    assert_int_equal(scratch->diags.count, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(read_one(scratch, bad[i].text, &lexeme, &token));
        assert_only_told(scratch, bad[i].said);
    }
    scratch_free(scratch);
}

/* Text in quotes: what an expression reads. */
static void quoted_text(void **state)
{
    static const struct {
        const char *text, *value;
        size_t length; /* 0: strlen(value) */
    } rows[] = {
        {"\"AAPL\"", "AAPL", 0},
        {"\"\"", "", 0},
        {"''", "", 0},
        {"'a\\n\"b'", "a\\n\"b", 0},
        {"\"\\\"\\\\\\n\\t\"", "\"\\\n\t", 0},
        {"\"\\u{41}\\u{e9}\\u{20AC}\\u{1f600}\\u{10ffff}\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
         0},
        {"\"a\\u{0}b\"", "a\0b", 3},
    };
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"\"\\q\"", "unknown escape `\\q`"},
        {"\"\\\xc3\xa9\"", "unknown escape"},
        {"\"\\u\"", "not a character"},
        {"\"\\u41\"", "not a character"},
        {"\"\\u{}\"", "not a character"},
        {"\"\\u{41\"", "not a character"},
        {"\"\\u{4g}\"", "not a character"},
        {"\"\\u{d800}\"", "not a character"},
        {"\"\\u{110000}\"", "not a character"},
        {"\"\\u{100000041}\"", "not a character"},
        {"\"\xff\"", "\\xff"},
        {"'\xc3'", "\\xc3"},
    };
    struct scratch *scratch = scratch_new();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows + sizeof bad / sizeof *bad; i++) {
        bool good = i < sizeof rows / sizeof *rows;
        const char *text = good ? rows[i].text : bad[i - sizeof rows / sizeof *rows].text;
        struct source source = {"test", text, strlen(text)};
        struct lexer lexer;
        lexer_init(&lexer, &source);
        struct lexeme lexeme = lexer_next(&lexer);
        assert_int_equal(lexeme.kind, TOKEN_STRING);
        assert_int_equal(lexeme.end, strlen(text));
        lexeme.kind = TOKEN_TEXT;
        struct token token;
        assert_int_equal(token_read(&source, &lexeme, scratch->arena, &scratch->diags, &token), good);
        if (!good) {
            assert_only_told(scratch, bad[i - sizeof rows / sizeof *rows].said);
            continue;
        }
        size_t length = rows[i].length ? rows[i].length : strlen(rows[i].value);
        assert_int_equal(token.length, length);
        assert_memory_equal(token.value.text, rows[i].value, length + 1);
    }
    scratch_free(scratch);
}

static void decimals(void **state)
{
    static const struct {
        const char *text;
        int64_t digits;
        int scale; /* -1: not a decimal */
    } rows[] = {
        {"0.05", 5, 2},
        {"0.050", 50, 3},
        {"123.0", 1230, 1},
        {"1_000.2_5", 100025, 2},
        {"0.000000000000000001", 1, 18},
        {"0.0000000000000000001", 0, -1},
        {"999999999999999999.0", 0, -1},
        {"99999999999999999.9", 999999999999999999, 1},
        {"0.999999999999999999", 999999999999999999, 18},
        {"000000000000000000000001.5", 15, 1},
        {"1e2", 0, -1},
        {"1.5e0", 0, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t digits;
        uint8_t scale;
        bool decimal = literal_decimal(rows[i].text, strlen(rows[i].text), &digits, &scale);
        assert_int_equal(decimal, rows[i].scale >= 0);
        assert_true(!decimal || (digits == rows[i].digits && scale == rows[i].scale));
    }
}

static void longest_name(void **state)
{
    struct scratch *scratch = scratch_new();
    char name[LIMIT_IDENTIFIER + 4];
    struct lexeme lexeme;
    struct token token;
    (void)state;
    memset(name, 'n', sizeof name);
    name[LIMIT_IDENTIFIER] = '\0';
    assert_true(read_one(scratch, name, &lexeme, &token));
    name[LIMIT_IDENTIFIER] = 'n', name[LIMIT_IDENTIFIER + 1] = '\0';
    assert_false(read_one(scratch, name, &lexeme, &token));
    assert_only_told(scratch, "256 bytes, the limit is 255");
    /* Quotes do not count. */
    name[0] = name[LIMIT_IDENTIFIER + 1] = '`', name[LIMIT_IDENTIFIER + 2] = '\0';
    assert_true(read_one(scratch, name, &lexeme, &token));
    assert_int_equal(strlen(token.value.text), LIMIT_IDENTIFIER);
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_paths), cmocka_unit_test(lexemes),  cmocka_unit_test(paths),
        cmocka_unit_test(commands),      cmocka_unit_test(values),   cmocka_unit_test(times),
        cmocka_unit_test(quoted_text),   cmocka_unit_test(decimals), cmocka_unit_test(longest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
