/* Text to lexemes, and lexemes to values. */
#include "scratch.h"

#include "base/strbuf.h"
#include "parser/grammar.h"
#include "parser/lexer.h"
#include "parser/parse.h"
#include "parser/token.h"

#include <math.h>

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
        {TOKEN_POSITION, "position"},
        {TOKEN_ARGUMENT, "argument"},
        {TOKEN_PATH, "path"},
        {TOKEN_NOT_IN, "not-in"},
        {LEX_NEWLINE, "newline"},
        {LEX_SEMICOLON, "semicolon"},
        {LEX_COMMAND, "command"},
        {LEX_BAD_NUMBER, "number?"},
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
        {"12abc 0x 0b2 1_ 1__0 1e 1.5x 0xg",
         "number?[12abc] number?[0x] number?[0b2] number?[1_] number?[1__0] number?[1e] "
         "number?[1.5x] number?[0xg]"},
        {"$1 $12 $ $a1", "position[$1] position[$12] position?[$] argument[$a1]"},
        {"\"a\" 'b' \"c\\\"d\" \"\\\\\" 'e\\'",
         "string[\"a\"] string['b'] string[\"c\\\"d\"] string[\"\\\\\"] string['e\\']"},
        {"\"a", "string?[\"a]"},
        {"'a\"b\n'", "string?['a\"b] newline[] string?[']"},
        {"\"a\\", "string?[\"a\\]"},
        {"\"a\\\nb\"", "string?[\"a\\] newline[] name[b] string?[\"]"},
        {"'\xff'", "string['\\xff']"},
        {"||||| &&& === !== <<= >>= <>", "|| || | && & == = != = << = >> = < >"},
        {"+-*/%^~!?:,()[]", "+ - * / % ^ ~ ! ? : , ( ) [ ]"},
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
        {"a\x01.b", "a", "a"},
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
        for (int any = 0; any < 2; any++) {
            const char *expected = any ? rows[i].any : rows[i].like_a_path;
            struct source source = {"test", rows[i].text, strlen(rows[i].text)};
            struct lexer lexer;
            lexer_init(&lexer, &source);
            const unsigned char *before = lexer.cursor;
            struct lexeme path = lexer_path(&lexer, any);
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
        cmocka_unit_test(lexemes), cmocka_unit_test(paths),        cmocka_unit_test(commands),
        cmocka_unit_test(values),  cmocka_unit_test(longest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
