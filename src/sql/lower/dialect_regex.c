/* What both have is said in the words of RE2, where these differ: `.` is everything but a line end, `$` also the place
 * before a last line end, and \d, \w and \s are Unicode's. */
#include "sql/lower/dialect_regex.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#include <string.h>

#define DIGITS  "0-9"
#define LETTERS "\\p{L}\\p{N}_"
#define SPACES  " \\x09-\\x0d\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"

enum { MOST_REPEATS = 255, MOST_GROUPS = 16 };

/* What precedes a quantifier. */
enum atom {
    ATOM_NONE,
    ATOM_ONE,     /* a character or class, */
    ATOM_GROUP,   /* a group without quantifiers, */
    ATOM_REPEATED /* or a group that has one: repeated, it may take very long here */
};

struct open_group {
    bool repeats; /* it has a quantifier, */
    bool empty;   /* an alternative that may be empty, */
    bool some;    /* and the one that is being read has something that is not; */
    bool choices; /* it has several alternatives, */
    bool kept;    /* it is the group that is kept, */
    bool holds;   /* and that is within it */
};

struct translator {
    struct text rest;
    struct strbuf out;
    struct regex_translation *result;
    struct open_group open[MOST_GROUPS]; /* the first is the pattern */
    size_t depth;
    enum atom atom;
    bool atom_empty, atom_keeps;
    int64_t kept, groups; /* the number of the group that is kept, and how many capture so far */
};

static bool at(const struct translator *translator, size_t place, char c)
{
    return translator->rest.length > place && translator->rest.at[place] == c;
}

static void skip(struct translator *translator, size_t count)
{
    translator->rest = (struct text){translator->rest.at + count, translator->rest.length - count};
}

static void of_texts(struct translator *translator, enum regex_texts texts)
{
    if (texts > translator->result->texts)
        translator->result->texts = texts;
}

/* Within a class. */
static void add_code(struct translator *translator, uint32_t code)
{
    if (code >= 0x80)
        strbuf_printf(&translator->out, "\\x{%x}", (unsigned)code);
    else if ((code | 32) - 'a' < 26 || code - '0' < 10)
        strbuf_putc(&translator->out, (char)code);
    else
        strbuf_printf(&translator->out, "\\x%02x", (unsigned)code);
}

/* As a character by itself. Where servers look for what all matches have in common, they do not know all escapes, and
 * take a quantifier for one of the byte before it: what is no plain byte is a class. */
static void add_literal(struct translator *translator, uint32_t code)
{
    if (code < 0x80 && !strchr("\\^$.[]|()?*+{}", (int)code)) {
        strbuf_putc(&translator->out, (char)code);
        return;
    }
    strbuf_putc(&translator->out, '[');
    add_code(translator, code);
    strbuf_putc(&translator->out, ']');
}

/* A character, maybe escaped; false: it is none. */
static bool take_character(struct translator *translator, uint32_t *code)
{
    static const char letters[] = "tnrf", codes[] = "\t\n\r\f";
    const bool escaped = at(translator, 0, '\\');
    skip(translator, escaped);
    const size_t size = utf8_decode(translator->rest.at, translator->rest.length, code);
    if (size == 0)
        return false;
    skip(translator, size);
    if (!escaped)
        return true;
    const char *letter = *code > 0 && *code < 0x80 ? strchr(letters, (int)*code) : NULL;
    const bool is_word = (*code | 32) - 'a' < 26 || *code - '0' < 10 || *code >= 0x80 || *code < ' ';
    if (letter)
        *code = (unsigned char)codes[letter - letters];
    return letter || !is_word;
}

/* \d, \w, \s as the inner of a class, and whether it is negated; NULL: none of these. */
static const char *take_class(struct translator *translator, bool *negated)
{
    if (!at(translator, 0, '\\') || translator->rest.length < 2)
        return NULL;
    const char c = translator->rest.at[1], small = (char)(c | 32);
    const char *inner = small == 'd' ? DIGITS : small == 'w' ? LETTERS : small == 's' ? SPACES : NULL;
    *negated = c != small;
    if (!inner)
        return NULL;
    skip(translator, 2);
    of_texts(translator, REGEX_OF_CLASSES);
    return inner;
}

/* A member of a class: a character, a range, or \d and the like. */
static bool take_member(struct translator *translator)
{
    bool negated = false;
    uint32_t first, last;
    const char *inner = take_class(translator, &negated);
    if (inner) {
        strbuf_puts(&translator->out, inner);
        return !negated && !at(translator, 0, '-');
    }
    if (at(translator, 0, '[') || !take_character(translator, &first))
        return false;
    add_code(translator, first);
    if (!at(translator, 0, '-') || at(translator, 1, ']'))
        return true;
    skip(translator, 1);
    if (at(translator, 0, '[') || !take_character(translator, &last) || last < first)
        return false;
    strbuf_putc(&translator->out, '-');
    add_code(translator, last);
    return true;
}

static bool take_set(struct translator *translator)
{
    skip(translator, 1);
    strbuf_putc(&translator->out, '[');
    if (at(translator, 0, '^')) {
        skip(translator, 1);
        strbuf_putc(&translator->out, '^');
    }
    bool good = !at(translator, 0, ']'), some = false;
    while (good && translator->rest.length > 0 && !at(translator, 0, ']')) {
        good = take_member(translator);
        some = true;
    }
    good = good && some && at(translator, 0, ']');
    if (good)
        skip(translator, 1);
    strbuf_putc(&translator->out, ']');
    return good;
}

/* A number of repetitions; false: there is none, or it is large. */
static bool take_number(struct translator *translator, int *number)
{
    bool some = false;
    for (*number = 0; translator->rest.length > 0 && *number <= MOST_REPEATS; skip(translator, 1), some = true) {
        const char c = translator->rest.at[0];
        if (c < '0' || c > '9')
            break;
        *number = 10 * *number + (c - '0');
    }
    return some && *number <= MOST_REPEATS;
}

/* {m}, {m,} or {m,n}; *least is m. */
static bool take_counts(struct translator *translator, int *least)
{
    int most;
    skip(translator, 1);
    if (!take_number(translator, least))
        return false;
    strbuf_printf(&translator->out, "{%d", *least);
    if (at(translator, 0, ',')) {
        skip(translator, 1);
        strbuf_putc(&translator->out, ',');
        if (!at(translator, 0, '}')) {
            if (!take_number(translator, &most) || most < *least)
                return false;
            strbuf_printf(&translator->out, "%d", most);
        }
    }
    if (!at(translator, 0, '}'))
        return false;
    skip(translator, 1);
    strbuf_putc(&translator->out, '}');
    return true;
}

/* A quantifier of what precedes it, greedy or not. */
static bool take_quantifier(struct translator *translator)
{
    int least = at(translator, 0, '+');
    const bool counts = at(translator, 0, '{');
    if (translator->atom != ATOM_ONE && (translator->atom != ATOM_GROUP || translator->atom_empty))
        return false;
    translator->result->optional = translator->result->optional || translator->atom_keeps;
    if (counts && !take_counts(translator, &least))
        return false;
    if (!counts) {
        strbuf_putc(&translator->out, translator->rest.at[0]);
        skip(translator, 1);
    }
    if (at(translator, 0, '?')) {
        skip(translator, 1);
        strbuf_putc(&translator->out, '?');
    }
    translator->atom = ATOM_NONE;
    translator->atom_empty = translator->atom_empty || least == 0;
    translator->open[translator->depth].repeats = true;
    return true;
}

static bool is_quantifier(const struct translator *translator)
{
    return translator->rest.length > 0 && strchr("*+?{", translator->rest.at[0]) && translator->rest.at[0];
}

/* Takes a group's beginning. */
static bool open_group(struct translator *translator)
{
    const bool plain = at(translator, 1, '?') && at(translator, 2, ':');
    if (translator->depth + 1 == MOST_GROUPS || (!plain && at(translator, 1, '?')) || at(translator, 1, '*'))
        return false;
    skip(translator, plain ? 3 : 1);
    translator->groups += !plain;
    const bool keeps = !plain && translator->groups == translator->kept;
    strbuf_puts(&translator->out, keeps || (!plain && translator->kept == REGEX_ALL_GROUPS) ? "(" : "(?:");
    for (size_t i = 0; i <= translator->depth && keeps; i++)
        translator->open[i].holds = true;
    translator->open[++translator->depth] = (struct open_group){.kept = keeps};
    return true;
}

static void end_alternative(struct translator *translator)
{
    struct open_group *group = &translator->open[translator->depth];
    group->empty = group->empty || !group->some;
    group->some = false;
}

static void end_group(struct translator *translator)
{
    const struct open_group *group = &translator->open[translator->depth];
    end_alternative(translator);
    translator->result->optional = translator->result->optional || (group->holds && group->choices);
}

static bool close_group(struct translator *translator)
{
    if (translator->depth == 0)
        return false;
    end_group(translator);
    const struct open_group *group = &translator->open[translator->depth--];
    translator->atom = group->repeats ? ATOM_REPEATED : ATOM_GROUP;
    translator->atom_empty = group->empty;
    translator->atom_keeps = group->kept || group->holds;
    translator->open[translator->depth].repeats = translator->open[translator->depth].repeats || group->repeats;
    skip(translator, 1);
    strbuf_putc(&translator->out, ')');
    return true;
}

/* `$` where the pattern, or an alternative of it, ends. */
static bool take_end(struct translator *translator)
{
    skip(translator, 1);
    translator->result->longer = true;
    strbuf_puts(&translator->out, "\\n?\\z");
    return translator->depth == 0 && (translator->rest.length == 0 || at(translator, 0, '|'));
}

/* Something that matches a character. */
static bool take_one(struct translator *translator)
{
    bool negated = false, good = true;
    uint32_t code;
    const char *inner = take_class(translator, &negated);
    translator->atom = ATOM_ONE;
    translator->atom_empty = translator->atom_keeps = false;
    if (inner) {
        strbuf_printf(&translator->out, negated ? "[^%s]" : "[%s]", inner);
    } else if (at(translator, 0, '[')) {
        good = take_set(translator);
    } else if (at(translator, 0, '.')) {
        skip(translator, 1);
        strbuf_puts(&translator->out, "[^\\n]");
    } else {
        good = take_character(translator, &code);
        add_literal(translator, good ? code : ' ');
    }
    return good;
}

/* Takes what comes next; false: it is not known. *whole: it is complete, and may be quantified. */
static bool take(struct translator *translator, bool *whole)
{
    *whole = false;
    switch (translator->rest.at[0]) {
    case '^':
    case '$':
        translator->result->anchored = true;
        if (at(translator, 0, '$'))
            return take_end(translator);
        skip(translator, 1);
        strbuf_putc(&translator->out, '^');
        return !is_quantifier(translator);
    case '|':
        end_alternative(translator);
        translator->open[translator->depth].choices = true;
        skip(translator, 1);
        strbuf_putc(&translator->out, '|');
        return true;
    case '(':
        return open_group(translator);
    case ')':
        *whole = true;
        return close_group(translator);
    default:
        *whole = true;
        return !is_quantifier(translator) && take_one(translator);
    }
}

bool regex_translate(struct text pattern, int64_t kept, struct arena *arena, struct regex_translation *translation)
{
    static const char ignore_case[] = "(?i)";
    const size_t length = strlen(ignore_case);
    struct translator translator = {.rest = pattern, .result = translation, .kept = kept};
    *translation = (struct regex_translation){.texts = REGEX_OF_UTF8};
    if (pattern.length >= length && memcmp(pattern.at, ignore_case, length) == 0) {
        skip(&translator, length);
        strbuf_puts(&translator.out, ignore_case);
        of_texts(&translator, REGEX_OF_ASCII);
    }
    bool good = true, whole;
    while (good && translator.rest.length > 0) {
        good = take(&translator, &whole);
        if (good && whole && is_quantifier(&translator))
            good = take_quantifier(&translator);
        if (good && whole && is_quantifier(&translator))
            good = false;
        if (good && whole && !translator.atom_empty)
            translator.open[translator.depth].some = true;
    }
    end_group(&translator);
    translation->empty = translator.open[0].empty;
    translation->longer = translation->longer && (kept <= 0 || kept > translator.groups);
    if (good)
        translation->pattern =
            (struct text){arena_text(arena, translator.out.text ? translator.out.text : "", translator.out.length),
                          translator.out.length};
    strbuf_free(&translator.out);
    return good && translator.depth == 0;
}
