/* Functions of SQL that take texts apart or write them. */
#include "repl/rewrite/chain.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct phrase sql_regex(const char *name, const struct phrase *operands, size_t count, struct arena *arena, bool *found)
{
    if (count == 4 && strcmp(name, "regexp_replace") == 0 && operands[3].raw && strcmp(operands[3].raw, "g") == 0 &&
        operands[2].raw && !strchr(operands[2].raw, '\\'))
        return phrase_fill("replace_regex(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT, operands, 3, arena);
    if (strcmp(name, "regexp_extract") == 0 && (count == 2 || count == 3) && !operands[0].optional)
        return phrase_fill(count == 2 ? "extract(A, B, 0) ?? \"\"" : "extract(A, B, C) ?? \"\"", LEVEL_COALESCE,
                           PHRASE_TEXT, operands, count, arena);
    *found = false;
    return (struct phrase){0};
}

struct phrase sql_to_char(const struct phrase *operands, struct arena *arena)
{
    static const struct {
        const char *code, *written;
        bool any_case;
    } codes[] = {{"YYYY", "%Y", true}, {"YY", "%y", true},     {"MM", "%m", true},       {"DDD", "%j", true},
                 {"DD", "%d", true},   {"HH24", "%H", true},   {"HH12", "%I", true},     {"HH", "%I", true},
                 {"MI", "%M", true},   {"SS", "%S", true},     {"US", "%f", true},       {"AM", "%p", false},
                 {"PM", "%p", false},  {"FMDay", "%A", false}, {"FMMonth", "%B", false}, {"Mon", "%b", false},
                 {"Dy", "%a", false}};
    enum { CODES = sizeof codes / sizeof *codes };
    const bool timed = operands[0].type == PHRASE_DATE || operands[0].type == PHRASE_TIMESTAMP;
    const char *format = "";
    for (const char *at = timed ? operands[1].raw : NULL; at && *at;) {
        size_t i = 0;
        while (i < CODES && (codes[i].any_case ? strncasecmp : strncmp)(at, codes[i].code, strlen(codes[i].code)) != 0)
            i++;
        if (i == CODES && !strchr(" -/.,:", *at))
            return (struct phrase){0};
        format = i < CODES ? arena_printf(arena, "%s%s", format, codes[i].written)
                           : arena_printf(arena, "%s%c", format, *at);
        at += i < CODES ? strlen(codes[i].code) : 1;
    }
    const struct phrase both[] = {operands[0], phrase_text(format, arena)};
    return *format ? phrase_fill("text(A, B)", LEVEL_OPERAND, PHRASE_TEXT, both, 2, arena) : (struct phrase){0};
}

struct phrase sql_trim(struct translator *t, const struct phrase *x, const struct phrase *characters, bool before,
                       bool behind)
{
    const char *set = "";
    for (const char *at = characters->raw ? characters->raw : "\x80"; *at; at++) {
        if (*at & 0x80)
            return translate_fail(t, "`replace_regex(s, '^x+|x+$', '')` drops each x at both ends");
        set = arena_printf(t->arena, strchr("\\[]^-", *at) ? "%s\\%c" : "%s%c", set, *at);
    }
    if (!*set)
        return *x;
    const bool plain =
        !characters->raw[1] && (isalnum((unsigned char)*characters->raw) || strchr(" -_/,", *characters->raw));
    set = arena_printf(t->arena, plain ? "%s+" : "[%s]+", plain ? characters->raw : set);
    const char *first = before ? arena_printf(t->arena, "^%s", set) : "";
    const char *last = behind ? arena_printf(t->arena, "%s%s\\z", before ? "|" : "", set) : "";
    const struct phrase both[] = {*x, phrase_text(arena_printf(t->arena, "%s%s", first, last), t->arena)};
    return phrase_fill("replace_regex(A, B, '')", LEVEL_OPERAND, PHRASE_TEXT, both, 2, t->arena);
}

struct phrase sql_trim_from(struct translator *t, size_t close)
{
    const bool leading = accept(t, "leading"), trailing = !leading && accept(t, "trailing");
    if (!leading && !trailing)
        (void)accept(t, "both");
    const struct phrase set = next_is(t, "from") ? phrase_text(" ", t->arena) : translate_expression(t);
    if (!expect(t, "from"))
        return (struct phrase){0};
    const struct phrase x = translate_expression(t);
    if (!x.text || !set.text || t->at != close)
        return translate_fail(t, "`trim(s)` drops blanks at the ends");
    t->at++;
    return sql_trim(t, &x, &set, !trailing, !leading);
}
