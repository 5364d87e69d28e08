/* Facts of the engines that the texts are made for: ClickHouse's LIKE and its regular expressions (RE2) take bytes as
 * they are, but `.`, `_` and `%` match only what is UTF-8; its upper() and lower() change ASCII letters alone.
 * DuckDB's strings are UTF-8, and its tables of upper and lower case of another version of Unicode. */
#include "sql/lower/dialect.h"
#include "sql/lower/dialect_regex.h"

#include <string.h>

enum { CH = 1, DUCK = 2, ANY = CH | DUCK };

/* $a: the text; $b: another one, or the first constant; $c: the second one; $l: the constant as the beginning of a
 * pattern of LIKE. */
struct row {
    const char *name;
    unsigned dialects;
    int count; /* of constants */
    const char *value, *fails;
    const char *unless; /* what fails, for explain */
};

/* What is not only ASCII; what is not UTF-8; and what has code points whose other case some server does not have as
 * rql: 18.16 has old tables, and newer ones make two letters of some, and look at those beside a sigma. Newer servers
 * take a match() of `^.*` for true, and repeat one of their optimisations without end where a condition has length()
 * twice. */
#define DUCK_LONG "(strlen($a) <> length($a))"
#define CH_UPPER                                                                                                       \
    "(NOT match($a, "                                                                                                  \
    "'^[\\\\x{0}-\\\\x{b4}\\\\x{b6}-\\\\x{de}\\\\x{e0}-\\\\x{130}\\\\x{132}-\\\\x{148}\\\\x{14a}-\\\\x{17e}"           \
    "\\\\x{3f6}-\\\\x{586}\\\\x{588}-\\\\x{10cf}\\\\x{1100}-\\\\x{13f7}\\\\x{1ea0}-\\\\x{1eff}\\\\x{1ffd}-\\\\x{214d}" \
    "\\\\x{2185}-\\\\x{24cf}"                                                                                          \
    "\\\\x{24ea}-\\\\x{2c2f}\\\\x{2d2e}-\\\\x{a793}\\\\x{abc0}-\\\\x{faff}\\\\x{fb18}-\\\\x{104d7}\\\\x{16ed4}-\\\\x{" \
    "1e921}"                                                                                                           \
    "\\\\x{1e944}-\\\\x{10ffff}]*$$'))"
#define CH_LOWER                                                                                                       \
    "(NOT match($a, "                                                                                                  \
    "'^[\\\\x{0}-\\\\x{12f}\\\\x{131}-\\\\x{1c4}\\\\x{23f}-\\\\x{3a2}\\\\x{3a4}-\\\\x{139f}\\\\x{13f6}-\\\\x{1c88}"    \
    "\\\\x{1cc0}-\\\\x{1e9d}\\\\x{1e9f}-\\\\x{1f87}\\\\x{1ffd}-\\\\x{2125}\\\\x{2184}-\\\\x{24b5}\\\\x{24d0}-\\\\x{"   \
    "2bff}"                                                                                                            \
    "\\\\x{2cf3}-\\\\x{a78c}\\\\x{a7f6}-\\\\x{104af}\\\\x{16eb9}-\\\\x{1e8ff}\\\\x{1e922}-\\\\x{10ffff}]*$$'))"
/* Of what all versions of Unicode agree whether it is a letter, a digit or a space. */
#define CH_CLASSES                                                                                                     \
    "(NOT match($a, "                                                                                                  \
    "'^[\\\\x{0}-\\\\x{2ff}\\\\x{370}-\\\\x{377}\\\\x{384}-\\\\x{482}\\\\x{48a}-\\\\x{527}\\\\x{2010}-\\\\x{203e}"     \
    "\\\\x{20a0}-\\\\x{20bf}\\\\x{3001}-\\\\x{3029}\\\\x{3041}-\\\\x{3096}\\\\x{30a1}-\\\\x{30fa}\\\\x{4e00}-\\\\x{"   \
    "9fcc}\\\\x{ac00}-\\\\x{d7a3}\\\\x{1f300}-\\\\x{1f5ff}]*$$'))"
#define CH_LONG "(NOT match($a, '^[\\\\x00-\\\\x7f]*$$'))"
/* Unicode's white space. */
#define CH_SPACES                                                                                                      \
    "[ "                                                                                                               \
    "\\\\x09-\\\\x0d\\\\x{85}\\\\x{a0}\\\\x{1680}\\\\x{2000}-\\\\x{200a}\\\\x{2028}\\\\x{2029}\\\\x{202f}\\\\x{205f}"  \
    "\\\\x{3000}]*"
#define CH_WRONG "(NOT match($a, '^[\\\\x{0}-\\\\x{10ffff}]*$$'))"

static const char not_ascii[] = "a text is not ASCII", not_utf8[] = "a text is not UTF-8",
                  odd_case[] = "a text has letters whose case servers change otherwise",
                  odd_class[] = "a text has characters that servers may not know";

static const struct row rows[] = {
    {"len", CH, 0, "toInt64(lengthUTF8($a))", NULL, NULL},
    {"len", DUCK, 0, "length($a)", NULL, NULL},
    {"bytes", CH, 0, "toInt64(length($a))", NULL, NULL},
    {"bytes", DUCK, 0, "strlen($a)", NULL, NULL},
    {"upper", CH, 0, "upperUTF8($a)", CH_UPPER, odd_case},
    {"upper", DUCK, 0, "upper($a)", DUCK_LONG, not_ascii},
    {"lower", CH, 0, "lowerUTF8($a)", CH_LOWER, odd_case},
    {"lower", DUCK, 0, "lower($a)", DUCK_LONG, not_ascii},
    {"trim", CH, 0, "extract($a, '^" CH_SPACES "(\\\\C*?)" CH_SPACES "$$')", CH_WRONG, not_utf8},
    {"trim", DUCK, 0, "trim($a, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13))", DUCK_LONG, not_ascii},
    /* $b and $c are the place of the first character, from 0 or 1, and how many there are at most. Old servers have a
     * substringUTF8() that counts the bytes of long characters wrongly. */
    {"substr", CH, 2, "extract($a, '(?s)^.{$b}(.{0,$c})')", CH_WRONG, not_utf8},
    {"substr", CH, 1, "extract($a, '(?s)^.{$b}(.*)')", CH_WRONG, not_utf8},
    {"substr", DUCK, 2, "substring($a, $b, $c)", NULL, NULL},
    {"substr", DUCK, 1, "substring($a, $b)", NULL, NULL},
    /* $c: the number of the part, from 1, or from -1 at the end; and how many parts there have to be. */
    {"split", CH, 2, "splitByString($b, $a)[$c]", NULL, NULL},
    {"split", DUCK, 2, "string_split($a, $b)[$c]", NULL, NULL},
    {"has part", CH, 2, "(length(splitByString($b, $a)) >= $c)", NULL, NULL},
    {"has part", DUCK, 2, "(length(string_split($a, $b)) >= $c)", NULL, NULL},
    {"replace", CH, 2, "replaceAll($a, $b, $c)", NULL, NULL},
    {"replace", DUCK, 2, "replace($a, $b, $c)", NULL, NULL},
    {"+", CH, 0, "concat($a, $b)", NULL, NULL},
    {"+", DUCK, 0, "($a || $b)", NULL, NULL},
    {"+", CH, 1, "concat($a, $b)", NULL, NULL},
    {"+", DUCK, 1, "($a || $b)", NULL, NULL},
    {"prepend", CH, 1, "concat($b, $a)", NULL, NULL},
    {"prepend", DUCK, 1, "($b || $a)", NULL, NULL},
    {"=", ANY, 1, "($a = $b)", NULL, NULL},
    {"starts", CH, 1, "($a LIKE $l)", NULL, NULL}, /* can use an index */
    {"starts", DUCK, 1, "starts_with($a, $b)", NULL, NULL},
    {"ends", CH, 1, "endsWith($a, $b)", NULL, NULL},
    {"ends", DUCK, 1, "ends_with($a, $b)", NULL, NULL},
    {"contains", CH, 1, "(position($a, $b) > 0)", NULL, NULL},
    {"contains", DUCK, 1, "contains($a, $b)", NULL, NULL},
    {"~", CH, 1, "match($a, $b)", NULL, NULL}, /* with the conditions of of_regex */
    {"extract", CH, 1, "extract($a, $b)", NULL, NULL},
    {"replace_regex", CH, 2, "replaceRegexpAll($a, $b, $c)", NULL, NULL},
    {"like", CH, 1, "($a LIKE $b)", CH_WRONG, not_utf8},
    {"like", DUCK, 1, "($a LIKE $b ESCAPE '\\')", NULL, NULL},
};

/* What a regular expression does otherwise in some texts. */
static const struct {
    const char *fails, *unless;
} of_regex[] = {[REGEX_OF_UTF8] = {CH_WRONG, not_utf8},
                [REGEX_OF_CLASSES] = {CH_CLASSES, odd_class},
                [REGEX_OF_ASCII] = {CH_LONG, not_ascii}};

static const struct row *find_row(const char *name, int constants, unsigned bit)
{
    const struct row *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !found; i++) {
        const struct row *row = &rows[i];
        found = strcmp(row->name, name) == 0 && row->count == constants && row->dialects & bit ? row : NULL;
    }
    return found;
}

/* A function as it is said: the name of its row, and its constants. */
struct saying {
    const char *name;
    int count;
    struct text texts[TEXT_ARGUMENTS];
    const char *numbers[TEXT_ARGUMENTS]; /* in place of the text; or NULL */
    const char *fails, *unless;          /* in place of the row's; or NULL */
};

/* A pattern of `like`, which is the constant alone, at the beginning, at the end, or somewhere; or else in the form
 * that all dialects read alike, in which nothing is escaped but `%`, `_` and the backslash. Returns the function. */
static const char *simplify(struct text pattern, struct text *constant, struct arena *arena)
{
    char *plain = arena_alloc(arena, pattern.length + 1), *all = arena_alloc(arena, 2 * pattern.length + 1);
    size_t plain_length = 0, all_length = 0, first = 0, end = pattern.length;
    bool simple = true;
    while (first < end && pattern.at[first] == '%')
        first++;
    size_t escapes = 0;
    while (end > first && pattern.at[end - 1] == '%') {
        for (escapes = 0; escapes < end - 1 - first && pattern.at[end - 2 - escapes] == '\\'; escapes++)
            continue;
        if (escapes % 2 == 1)
            break;
        end--;
    }
    for (size_t k = 0; k < pattern.length; k++) {
        const bool wild = pattern.at[k] == '%' || pattern.at[k] == '_';
        k += pattern.at[k] == '\\';
        simple = simple && (!wild || k < first || k >= end);
        if (!wild && strchr("%_\\", pattern.at[k]))
            all[all_length++] = '\\';
        all[all_length++] = pattern.at[k];
        if (!wild)
            plain[plain_length++] = pattern.at[k];
    }
    *constant = simple ? (struct text){plain, plain_length} : (struct text){all, all_length};
    const bool open = first > 0, opens = end < pattern.length;
    return !simple ? "like" : open && (opens || end == first) ? "contains" : open ? "ends" : opens ? "starts" : "=";
}

static const char *quoted(const struct sql_dialect *dialect, struct text text, struct arena *arena)
{
    struct strbuf out = {0};
    const bool good = sql_add_string(&out, dialect, text);
    const char *made = good ? arena_text(arena, out.text, out.length) : NULL;
    strbuf_free(&out);
    return made;
}

/* Of the texts that begin with the constant. */
static const char *prefix_pattern(const struct sql_dialect *dialect, struct text text, struct arena *arena)
{
    char *pattern = arena_alloc(arena, 2 * text.length + 2);
    size_t length = 0;
    for (size_t k = 0; k < text.length; k++) {
        if (strchr("%_\\", text.at[k]))
            pattern[length++] = '\\';
        pattern[length++] = text.at[k];
    }
    pattern[length++] = '%';
    return quoted(dialect, (struct text){pattern, length}, arena);
}

/* The form with what stands for each letter in place; two dollars are one. */
static const char *fill(const char *form, const char *a, const char *const others[3], struct arena *arena)
{
    struct strbuf out = {0};
    for (; form && *form; form++) {
        if (*form != '$' || *++form == '$')
            strbuf_putc(&out, *form);
        else
            strbuf_puts(&out, *form == 'a' ? a : others[*form == 'l' ? 2 : *form - 'b']);
    }
    const char *text = form ? arena_text(arena, out.text, out.length) : NULL;
    strbuf_free(&out);
    return text;
}

/* False: the numbers are too large for some engine. Regular expressions have repetitions up to 1000. */
static bool say_substr(const struct sql_dialect *dialect, const struct text_application *application,
                       struct saying *saying, struct arena *arena)
{
    const bool pattern = dialect->bit == CH;
    const int64_t most = pattern ? 1000 : 1 << 30, from = application->args[0].integer;
    const int64_t count = application->count > 1 ? application->args[1].integer : 0;
    saying->numbers[0] = arena_printf(arena, "%lld", (long long)from + !pattern);
    saying->numbers[1] = arena_printf(arena, "%lld", (long long)count);
    return from >= 0 && from <= most && count <= most - from;
}

static bool say_split(const struct text_application *application, struct saying *saying, struct arena *arena)
{
    const int64_t most = 1 << 30, k = application->args[1].integer, parts = k < 0 ? -k : k + 1;
    if (application->found)
        saying->name = "has part";
    saying->numbers[1] = arena_printf(arena, "%lld", (long long)(k < 0 && !application->found ? k : parts));
    return k >= -most && k < most;
}

/* Whether each backslash begins the number of a group. Newer servers keep the others as they are where the pattern is a
 * plain text, and elsewhere take them away. */
static bool names_groups_only(struct text to)
{
    bool only = true;
    for (size_t k = 0; k < to.length && only; k++) {
        if (to.at[k] == '\\')
            only = ++k < to.length && to.at[k] >= '0' && to.at[k] <= '9';
    }
    return only;
}

/* Puts the pattern in the words of servers; false: there are none. extract() has the first group there, or all. Whether
 * it finds something is whether there is a match, if the group is in each. What follows a match that is replaced is
 * searched with a beginning of its own. */
static bool say_regex(const struct text_application *application, struct saying *saying, struct arena *arena)
{
    struct regex_translation translation;
    const bool extracts = strcmp(saying->name, "extract") == 0, replaces = strcmp(saying->name, "replace_regex") == 0;
    const int64_t kept = !extracts ? REGEX_ALL_GROUPS : application->count > 1 ? application->args[1].integer : 1;
    if (!regex_translate(saying->texts[0], kept, arena, &translation) ||
        (extracts && (translation.optional || translation.longer)) ||
        (replaces && (translation.empty || translation.anchored || !names_groups_only(saying->texts[1]))))
        return false;
    saying->texts[0] = translation.pattern;
    saying->fails = of_regex[translation.texts].fails;
    saying->unless = of_regex[translation.texts].unless;
    if (extracts)
        saying->count = 1;
    if (application->found)
        saying->name = "~";
    return true;
}

static bool say(const struct sql_dialect *dialect, const struct text_application *application, struct saying *saying,
                struct arena *arena)
{
    const struct text_function *function = application->function;
    *saying =
        (struct saying){.name = function == &text_prepend ? "prepend" : function->name, .count = application->count};
    for (int i = 0; i < application->count; i++)
        saying->texts[i] = application->args[i].text;
    if (text_takes_regex(function))
        return say_regex(application, saying, arena);
    if (strcmp(saying->name, "like") == 0)
        saying->name = simplify(saying->texts[0], &saying->texts[0], arena);
    if (strcmp(saying->name, "substr") == 0)
        return say_substr(dialect, application, saying, arena);
    return strcmp(saying->name, "split") != 0 || say_split(application, saying, arena);
}

const char *sql_text(const struct sql_dialect *dialect, const struct text_application *application, const char *a,
                     const char *b, const char **fails, const char **unless, struct arena *arena)
{
    const char *others[3] = {b, NULL, NULL};
    struct saying saying;
    *fails = *unless = NULL;
    if (!application->function)
        return quoted(dialect, application->args[0].text, arena);
    if (!say(dialect, application, &saying, arena))
        return NULL;
    const struct row *row = find_row(saying.name, saying.count, dialect->bit);
    for (int i = 0; i < saying.count && row; i++) {
        const struct text text = saying.texts[i];
        others[i] = saying.numbers[i];
        if (others[i])
            continue;
        if (text.length > 0 && memchr(text.at, '\0', text.length))
            return NULL; /* engines search for strings that end there */
        others[i] = quoted(dialect, text, arena);
        if (!others[i])
            return NULL;
    }
    if (!row)
        return NULL;
    if (saying.count > 0 && !saying.numbers[0])
        others[2] = prefix_pattern(dialect, saying.texts[0], arena);
    *fails = fill(saying.fails ? saying.fails : row->fails, a, others, arena);
    *unless = saying.unless ? saying.unless : row->unless;
    return fill(row->value, a, others, arena);
}
