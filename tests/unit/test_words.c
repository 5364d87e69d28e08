/* The vocabulary table is consistent, and the grammar follows it. */
#include "scratch.h"

#include "parser/grammar.h"
#include "parser/parse.h"
#include "parser/words.h"

static enum parse_result parse_text(struct arena *arena, const char *text)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    *source = (struct source){"test.rql", text, strlen(text)};
    struct diags diags;
    struct stmt *first;
    diags_init(&diags, arena);
    return parse(source, PARSE_SCRIPT, arena, &diags, &first);
}

static void rows_hold_together(void **state)
{
    (void)state;
    assert_true(word_count > 40);
    for (size_t i = 0; i < word_count; i++) {
        const struct word *word = &words[i], *canonical = word_canonical(word);
        assert_ptr_equal(word_find(word->text, strlen(word->text)), word); /* so texts are unique */
        assert_non_null(canonical);
        assert_ptr_equal(word_canonical(canonical), canonical);
        assert_int_equal(word->token, canonical->token);
        assert_int_equal(word->stage, canonical->stage);
        if (word == canonical) {
            assert_non_null(word->usage);
            assert_true(strlen(word->summary) > 0 && strlen(word->summary) < 80);
            assert_non_null(strstr(word->usage, word->text));
        } else {
            assert_null(word->usage);
            assert_null(word->summary);
            assert_null(word->example);
        }
    }
}

/* All aggregates with functions of their own are one stage. */
static void every_stage_has_one_word(void **state)
{
    (void)state;
    for (int stage = STAGE_NONE + 1; stage <= STAGE_SAVE; stage++) {
        size_t found = 0;
        for (size_t i = 0; i < word_count; i++)
            found += (int)words[i].stage == stage && word_canonical(&words[i]) == &words[i];
        assert_true(found == 1 || (stage == STAGE_AGGREGATE && found > 1));
    }
}

static void finding(void **state)
{
    (void)state;
    assert_string_equal(word_find("selected", 6)->text, "select");
    assert_string_equal(word_canonical(word_find("where", 5))->text, "select");
    assert_null(word_find("selec", 5));
    assert_true(name_is_plain("amounts") && name_is_plain("select") &&
                name_is_plain("gr\xc3\xb6\xc3\x9f"
                              "e_2"));
    assert_false(name_is_plain("in") || name_is_plain("unit price") || name_is_plain("2024") || name_is_plain("a-b") ||
                 name_is_plain("$1") || name_is_plain(""));
    struct arena *arena = arena_new();
    assert_string_equal(name_written("amounts", arena), "amounts");
    assert_string_equal(name_written("unit price", arena), "`unit price`");
    arena_free(arena);
    assert_null(word_find("selects", 7));
    assert_null(word_find("Select", 6));
    assert_null(word_find("", 0));
}

static void examples_parse(void **state)
{
    struct arena *arena = arena_new();
    size_t examples = 0;
    (void)state;
    for (size_t i = 0; i < word_count; i++) {
        if (!words[i].example)
            continue;
        examples++;
        if (parse_text(arena, words[i].example) != PARSE_OK)
            fail_msg("the example of `%s` is not one: %s", words[i].text, words[i].example);
        assert_non_null(strstr(words[i].example, words[i].text));
    }
    assert_true(examples > 25);
    arena_free(arena);
}

/* Keywords are contextual: all but the reserved ones can name columns, parameters and results. Reserved words that are
 * literals cannot be defined. */
static void words_as_names(void **state)
{
    static const char *const uses[] = {
        "let %1$s = 1",
        "def f(a, %1$s) = a + %1$s * 2",
        "load a.bin as %1$s | select %1$s > 0 && 1 < %1$s | map %1$s, 1 as %1$s | pick %1$s",
        "x | derive %1$s = %1$s ? %1$s : -%1$s | sum %1$s",
        "x | select |a, %1$s| a == %1$s | zip y as %1$s",
        "x | map (%1$s | 1), max(1, %1$s) in [%1$s] | count %1$s == 1",
        "x | sort %1$s | sort %1$s desc, %1$s asc | group %1$s as %1$s, %1$s: sum(%1$s) as %1$s",
        "x | scan |a, %1$s| a + %1$s exclusive from %1$s along rows | reduce |%1$s, b| %1$s from %1$s",
        "x | stencil -1..%1$s else %1$s: at(%1$s, 0) as %1$s | shape %1$s %1$s | sum %1$s along cols",
        "x | scatter y into %1$s | hist %1$s | gather (y | take %1$s)",
        "x | drop %1$s, %1$s | rename %1$s as %1$s | pick %1$s as %1$s | hist %1$s %1$s",
    };
    struct arena *arena = arena_new();
    size_t reserved = 0;
    (void)state;
    for (size_t i = 0; i < word_count; i++) {
        reserved += words[i].reserved;
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
            const char *quoted = arena_printf(arena, "`%s`", words[i].text);
            enum parse_result result = parse_text(arena, arena_printf(arena, uses[k], words[i].text));
            bool literal =
                words[i].token == TOKEN_MISSING || words[i].token == TOKEN_TRUE || words[i].token == TOKEN_FALSE;
            if ((!literal || k == 0) && (result == PARSE_OK) == words[i].reserved)
                fail_msg("`%s` in: %s", words[i].text, uses[k]);
            assert_int_equal(parse_text(arena, arena_printf(arena, uses[k], quoted)), PARSE_OK);
        }
    }
    assert_int_equal(reserved, 8); /* and or not in as missing true false */
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_together), cmocka_unit_test(every_stage_has_one_word), cmocka_unit_test(finding),
        cmocka_unit_test(examples_parse),     cmocka_unit_test(words_as_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
