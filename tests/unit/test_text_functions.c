/* Functions of text against Python (text_cases.def), towupper, and themselves on one string and on many threads. */
#include "engine/text_functions/text_call.h"
#include "engine/text_functions/text_functions.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

struct text_case {
    const char *function;
    struct text text, a, b;
    int64_t i, k;
    bool present;
    int64_t integer;
    double real;
    struct text result;
};

static const struct text_case cases[] = {
#define TEXT_CASE(function, text, a, b, i, k, present, integer, real, result)                                          \
    {function, {text, sizeof text - 1},    {a, sizeof a - 1}, {b, sizeof b - 1}, i, k, present, integer,               \
     real,     {result, sizeof result - 1}},
#include "text_cases.def"
#undef TEXT_CASE
};

enum { CASES = sizeof cases / sizeof *cases };

static const struct text_function *function_of(const char *name)
{
    const struct text_function *function = text_function_find(name);
    assert_non_null(function);
    return function;
}

static struct text text_of(const char *text)
{
    return (struct text){text, strlen(text)};
}

/* A dictionary of the strings, and the code of each. */
static struct dictionary *dictionary_of(const struct text *texts, size_t count, int64_t *codes)
{
    struct interner *interner = interner_new();
    uint32_t *map;
    for (size_t k = 0; k < count; k++)
        codes[k] = interner_add(interner, texts[k]);
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    for (size_t k = 0; k < count; k++)
        codes[k] = map[codes[k]];
    free(map);
    interner_free(interner);
    return dictionary;
}

static struct diags new_diags(void)
{
    struct diags diags;
    diags_init(&diags, arena_new());
    return diags;
}

static enum status apply(const char *name, const struct dictionary *dictionary, const struct text_argument *args,
                         int count, const struct workers *workers, struct text_lookup *lookup)
{
    struct diags diags = new_diags();
    enum status status =
        text_function_apply(function_of(name), dictionary, args, count, workers, (struct span){0}, &diags, lookup);
    assert_int_equal(diags_have_errors(&diags), status == STATUS_FAILED);
    arena_free(diags.arena);
    return status;
}

static int64_t integer_of(const struct text_lookup *lookup, int64_t code)
{
    switch (lookup->type) {
    case TYPE_BOOL:
    case TYPE_U8:
        return ((const uint8_t *)lookup->values)[code];
    case TYPE_U16:
        return ((const uint16_t *)lookup->values)[code];
    case TYPE_U32:
        return ((const uint32_t *)lookup->values)[code];
    case TYPE_I32:
        return ((const int32_t *)lookup->values)[code];
    default:
        assert_int_equal(lookup->type, TYPE_I64);
        return ((const int64_t *)lookup->values)[code];
    }
}

static void check_value(const struct text_lookup *lookup, int64_t code, const struct text_case *expected)
{
    bool present = !lookup->present || lookup->present[code], same;
    if (!expected->present)
        same = lookup->type == TYPE_F64 ? ((const double *)lookup->values)[code] == 0 : integer_of(lookup, code) == 0;
    else if (lookup->type == TYPE_F64)
        same = ((const double *)lookup->values)[code] == expected->real;
    else if (lookup->logical.kind == LOGICAL_TEXT)
        same = present && text_compare(dictionary_text(lookup->logical.dictionary, integer_of(lookup, code)),
                                       expected->result) == 0;
    else
        same = integer_of(lookup, code) == expected->integer;
    if (present != expected->present || !same)
        fail_msg("%s of '%.*s' ('%.*s', '%.*s', %d, %d)", expected->function, (int)expected->text.length,
                 expected->text.at, (int)expected->a.length, expected->a.at, (int)expected->b.length, expected->b.at,
                 (int)expected->i, (int)expected->k);
}

static void arguments_of(const struct text_case *text_case, struct text_argument *args)
{
    const struct text_function *function = function_of(text_case->function);
    bool text_before = function->kinds[0] == ARGUMENT_TEXT;
    args[0] = (struct text_argument){text_case->a, text_case->i};
    args[1] = (struct text_argument){text_case->b, text_before ? text_case->i : text_case->k};
}

static void test_cases(void **context)
{
    (void)context;
    struct text texts[CASES];
    int64_t codes[CASES];
    for (size_t k = 0; k < CASES; k++)
        texts[k] = cases[k].text;
    struct dictionary *all = dictionary_of(texts, CASES, codes);
    for (size_t k = 0; k < CASES; k++) {
        struct text_argument args[TEXT_ARGUMENTS];
        arguments_of(&cases[k], args);
        int count = function_of(cases[k].function)->most;
        int64_t code;
        struct text_lookup lookup = {0};
        assert_int_equal(apply(cases[k].function, all, args, count, NULL, &lookup), STATUS_OK);
        assert_int_equal(lookup.count, all->count);
        check_value(&lookup, codes[k], &cases[k]);
        text_lookup_free(&lookup);
        struct dictionary *one = dictionary_of(&cases[k].text, 1, &code);
        assert_int_equal(apply(cases[k].function, one, args, count, NULL, &lookup), STATUS_OK);
        check_value(&lookup, 0, &cases[k]);
        assert_int_equal(lookup.missing, !cases[k].present);
        assert_int_equal(lookup.present != NULL, !cases[k].present);
        text_lookup_free(&lookup);
        dictionary_unref(one);
    }
    dictionary_unref(all);
}

/* Many strings on several threads give what one thread gives. */
static void test_threads(void **context)
{
    (void)context;
    enum { MANY = 30000 };
    struct text *texts = calloc(MANY, sizeof *texts);
    int64_t *codes = calloc(MANY, sizeof *codes);
    char(*bytes)[32] = calloc(MANY, sizeof *bytes);
    for (size_t k = 0; k < MANY; k++)
        texts[k] = (struct text){bytes[k], (size_t)snprintf(bytes[k], 32, "%zu-Ä/%zu é", k * 7919 % 1000, k)};
    struct dictionary *dictionary = dictionary_of(texts, MANY, codes);
    struct thread_pool *pool = thread_pool_new(4);
    const struct workers workers = {.threads = 4, .thread_pool = pool};
    static const char *const names[] = {"len", "upper", "substr", "split", "replace", "+", "like", "~", "int"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const struct text_function *function = function_of(names[n]);
        bool integer = function->kinds[0] == ARGUMENT_INT;
        struct text_argument args[2] = {{text_of(integer ? "" : "1"), 1}, {text_of("xyz"), 1}};
        struct text_lookup one = {0}, many = {0};
        assert_int_equal(apply(names[n], dictionary, args, function->most, NULL, &one), STATUS_OK);
        assert_int_equal(apply(names[n], dictionary, args, function->most, &workers, &many), STATUS_OK);
        assert_true(one.type == many.type && one.missing == many.missing);
        assert_memory_equal(one.values, many.values, (size_t)one.count * type_table[one.type].size);
        assert_int_equal(one.present != NULL, many.present != NULL);
        if (one.present)
            assert_memory_equal(one.present, many.present, (size_t)one.count);
        if (one.logical.dictionary) {
            assert_int_equal(one.logical.dictionary->count, many.logical.dictionary->count);
            for (int64_t code = 0; code < one.logical.dictionary->count; code++)
                assert_int_equal(text_compare(dictionary_text(one.logical.dictionary, code),
                                              dictionary_text(many.logical.dictionary, code)),
                                 0);
        }
        text_lookup_free(&one);
        text_lookup_free(&many);
    }
    atomic_int cancel = 1;
    const struct workers cancelled = {.threads = 4, .thread_pool = pool, .cancel = &cancel};
    struct text_lookup lookup = {0};
    assert_int_equal(apply("upper", dictionary, NULL, 0, &cancelled, &lookup), STATUS_CANCELLED);
    assert_null(lookup.values);
    thread_pool_free(pool);
    dictionary_unref(dictionary);
    free(texts);
    free(codes);
    free(bytes);
}

static void test_case_mapping(void **context)
{
    (void)context;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    int differ = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        char upper[4], lower[4], self[4];
        size_t size = utf8_encode(code, self);
        assert_true(utf8_encode(case_upper(code), upper) <= size + (size == 2));
        assert_true(utf8_encode(case_lower(code), lower) <= size + (size == 2));
        differ += case_upper(code) != towupper((wint_t)code) || case_lower(code) != towlower((wint_t)code);
    }
    (void)setlocale(LC_CTYPE, "C");
    /* None with Unicode 14; later editions have a few more. */
    assert_in_range(differ, 0, 100);
}

static void test_dates(void **context)
{
    (void)context;
    static const struct {
        const char *text;
        int64_t date; /* INT64_MIN: missing */
        int64_t timestamp, zoned_only;
    } known[] = {{"1970-01-02", 1, 86400000000, INT64_MIN},
                 {"1970-01-01T00:00:01", INT64_MIN, 1000000, INT64_MIN},
                 {"1970-01-01 00:00:01.1234567", INT64_MIN, 1123456, INT64_MIN},
                 {"2024-02-30", INT64_MIN, INT64_MIN, INT64_MIN},
                 {"", INT64_MIN, INT64_MIN, INT64_MIN},
                 {"1970-01-01T02:00+01:00", INT64_MIN, INT64_MIN, 3600000000}};
    enum { KNOWN = sizeof known / sizeof *known };
    struct text texts[KNOWN];
    int64_t codes[KNOWN];
    for (size_t k = 0; k < KNOWN; k++)
        texts[k] = text_of(known[k].text);
    for (int zoned = 0; zoned < 2; zoned++) {
        struct dictionary *dictionary = dictionary_of(texts, KNOWN - 1 + (size_t)zoned, codes);
        struct text_lookup dates = {0}, times = {0};
        assert_int_equal(apply("date", dictionary, NULL, 0, NULL, &dates), STATUS_OK);
        assert_int_equal(apply("timestamp", dictionary, NULL, 0, NULL, &times), STATUS_OK);
        assert_true(dates.type == TYPE_I32 && dates.logical.kind == LOGICAL_DATE);
        assert_true(times.type == TYPE_I64 && times.logical.kind == LOGICAL_TIMESTAMP &&
                    (times.logical.zone != NULL) == zoned);
        assert_int_equal(times.cut, zoned ? 0 : 1);
        assert_int_equal(times.missing, zoned ? 5 : 2);
        assert_int_equal(dates.missing, dictionary->count - 1);
        for (int64_t k = 0; k < dictionary->count; k++) {
            int64_t date = known[k].date, time = zoned ? known[k].zoned_only : known[k].timestamp;
            assert_int_equal(dates.present[codes[k]], date != INT64_MIN);
            assert_int_equal(times.present[codes[k]], time != INT64_MIN);
            assert_int_equal(integer_of(&dates, codes[k]), date == INT64_MIN ? 0 : date);
            assert_int_equal(integer_of(&times, codes[k]), time == INT64_MIN ? 0 : time);
        }
        text_lookup_free(&dates);
        text_lookup_free(&times);
        dictionary_unref(dictionary);
    }
}

static void check_wrong(const char *name, struct text_argument first, struct text_argument second, int count,
                        const char *message)
{
    struct text_argument args[2] = {first, second};
    struct diags diags = new_diags();
    struct text_lookup lookup = {0};
    int64_t code;
    struct text text = text_of("a");
    struct dictionary *dictionary = dictionary_of(&text, 1, &code);
    const struct text_function *function = function_of(name);
    assert_int_equal(text_function_check(function, args, count, (struct span){0}, &diags), STATUS_FAILED);
    assert_int_equal(text_function_apply(function, dictionary, args, count, NULL, (struct span){0}, &diags, &lookup),
                     STATUS_FAILED);
    assert_int_equal(diags.count, 2);
    assert_string_equal(diags.at[0].message, message);
    assert_string_equal(diags.at[1].message, message);
    assert_null(lookup.values);
    dictionary_unref(dictionary);
    arena_free(diags.arena);
}

static void test_wrong_arguments(void **context)
{
    (void)context;
    const struct text_argument none = {{"", 0}, 0};
    check_wrong("replace", none, none, 2, "`replace`: the text to replace is empty");
    check_wrong("split", none, none, 2, "`split`: the separator is empty");
    check_wrong("substr", none, (struct text_argument){{"", 0}, -1}, 2,
                "`substr`: the number of characters is negative");
    check_wrong("like", (struct text_argument){text_of("a\\"), 0}, none, 1,
                "`like`: the pattern ends in a backslash; `\\\\` is a backslash");
    check_wrong("~", (struct text_argument){text_of("é(a"), 0}, none, 1,
                "regular expression: missing closing parenthesis, at character 3");
    check_wrong("~", (struct text_argument){text_of("[z-a]"), 0}, none, 1,
                "regular expression: range out of order in character class, at character 3");
}

/* A pattern that tries all ways to divide the text. */
static void test_slow_pattern(void **context)
{
    (void)context;
    struct text text = text_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    int64_t code;
    struct dictionary *dictionary = dictionary_of(&text, 1, &code);
    const struct text_argument arg = {text_of("^(a|aa|a+)+b?$"), 0};
    struct text_lookup lookup = {0};
    assert_int_equal(apply("~", dictionary, &arg, 1, NULL, &lookup), STATUS_FAILED);
    assert_null(lookup.values);
    /* `like` never needs more than the lengths multiplied. */
    char *many = malloc(20001);
    memset(many, 'a', 20000);
    many[20000] = 0;
    struct dictionary *longer = dictionary_of(&(struct text){many, 20000}, 1, &code);
    assert_int_equal(
        apply("like", longer, &(struct text_argument){text_of("%a%a%a%a%a%a%a%a%ab"), 0}, 1, NULL, &lookup), STATUS_OK);
    assert_int_equal(integer_of(&lookup, 0), 0);
    text_lookup_free(&lookup);
    dictionary_unref(longer);
    dictionary_unref(dictionary);
    free(many);
}

static void test_nothing(void **context)
{
    (void)context;
    struct dictionary *dictionary = dictionary_of(NULL, 0, NULL);
    for (size_t k = 0; k < text_function_count; k++) {
        const struct text_argument args[2] = {{text_of("a"), 0}, {text_of("b"), 0}};
        struct text_lookup lookup = {0};
        const bool reads_format = text_argument_is_constant(&text_functions[k], 0) && text_functions[k].least == 0;
        const int count = reads_format ? 0 : text_functions[k].most;
        assert_int_equal(apply(text_functions[k].name, dictionary, args, count, NULL, &lookup), STATUS_OK);
        assert_true(lookup.count == 0 && !lookup.present);
        text_lookup_free(&lookup);
    }
    dictionary_unref(dictionary);
}

static void test_prepend(void **context)
{
    (void)context;
    int64_t codes[2];
    const struct text texts[2] = {text_of("b"), text_of("")};
    const struct text_argument arg = {text_of("a"), 0};
    struct diags diags = new_diags();
    struct text_lookup lookup = {0};
    struct dictionary *dictionary = dictionary_of(texts, 2, codes);
    assert_int_equal(text_function_apply(&text_prepend, dictionary, &arg, 1, NULL, (struct span){0}, &diags, &lookup),
                     STATUS_OK);
    assert_int_equal(lookup.type, TYPE_U8);
    assert_int_equal(
        text_compare(dictionary_text(lookup.logical.dictionary, integer_of(&lookup, codes[0])), text_of("ab")), 0);
    assert_int_equal(
        text_compare(dictionary_text(lookup.logical.dictionary, integer_of(&lookup, codes[1])), text_of("a")), 0);
    text_lookup_free(&lookup);
    dictionary_unref(dictionary);
    arena_free(diags.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),   cmocka_unit_test(test_threads),         cmocka_unit_test(test_case_mapping),
        cmocka_unit_test(test_dates),   cmocka_unit_test(test_wrong_arguments), cmocka_unit_test(test_slow_pattern),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_prepend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
