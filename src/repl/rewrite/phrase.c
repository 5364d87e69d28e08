#include "repl/rewrite/phrase.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "parser/words.h"

#include <string.h>

struct phrase phrase_operand(const char *text, enum phrase_type type)
{
    return (struct phrase){.text = text, .level = LEVEL_OPERAND, .type = type};
}

struct phrase phrase_missing(void)
{
    return (struct phrase){.text = "missing", .level = LEVEL_OPERAND, .type = PHRASE_MISSING, .optional = true};
}

const char *phrase_at(const struct phrase *phrase, enum phrase_level level, struct arena *arena)
{
    return phrase->level < level ? arena_printf(arena, "(%s)", phrase->text) : phrase->text;
}

bool phrase_inherit(struct phrase *result, const struct phrase *operand)
{
    result->optional = result->optional || operand->optional;
    result->aggregate = result->aggregate || operand->aggregate;
    result->other_rows = result->other_rows || operand->other_rows;
    result->original = result->original || operand->original;
    result->root = result->root ? result->root : operand->root;
    if (!operand->window)
        return true;
    const struct phrase_window *before = result->window;
    result->window = before && before->order ? before : operand->window;
    return !before || (same_word(before->partition, operand->window->partition) &&
                       (!before->order || !operand->window->order || same_word(before->order, operand->window->order)));
}

struct phrase phrase_binary(const struct phrase *a, const char *op, const struct phrase *b, enum phrase_level level,
                            enum phrase_type type, struct arena *arena)
{
    struct phrase result = {.level = level, .type = type};
    if (!a->text || !b->text || !phrase_inherit(&result, a) || !phrase_inherit(&result, b))
        return (struct phrase){0};
    result.text = arena_printf(arena, "%s%s%s", phrase_at(a, level, arena), op,
                               phrase_at(b, (enum phrase_level)(level + 1), arena));
    return result;
}

/* Within single quotes each character is itself. */
struct phrase phrase_text(const char *raw, struct arena *arena)
{
    struct phrase phrase = phrase_operand(NULL, PHRASE_TEXT);
    struct strbuf out = {0};
    const char quote = strchr(raw, '\'') ? '"' : '\'';
    strbuf_putc(&out, quote);
    for (const char *at = raw; *at; at++) {
        if (quote == '"' && (*at == '"' || *at == '\\'))
            strbuf_putc(&out, '\\');
        strbuf_putc(&out, *at);
    }
    strbuf_putc(&out, quote);
    phrase.text = arena_text(arena, out.text, out.length);
    phrase.raw = raw;
    strbuf_free(&out);
    return phrase;
}

const char *phrase_name(const char *name, struct arena *arena)
{
    return name_is_plain(name) ? name : arena_printf(arena, "`%s`", name);
}

/* Whether the text has the form, in which 0 stands for a digit. */
static bool has_form(const char *text, const char *form)
{
    for (; *form; text++, form++) {
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    }
    return true;
}

const char *phrase_time_literal(const char *raw, enum phrase_type type, struct arena *arena)
{
    static const char date[] = "0000-00-00";
    const size_t length = strlen(raw);
    if (length < sizeof date - 1 || !has_form(raw, date))
        return NULL;
    if (length == sizeof date - 1)
        return type == PHRASE_TIMESTAMP ? arena_printf(arena, "%sT00:00", raw) : raw;
    const char *time = raw + sizeof date;
    if (type != PHRASE_TIMESTAMP || !strchr(" T", time[-1]) || !has_form(time, "00:00") ||
        strspn(time, "0123456789:.") != strlen(time))
        return NULL;
    return arena_printf(arena, "%.10sT%s", raw, time);
}

struct phrase phrase_certain(struct phrase condition, struct arena *arena)
{
    if (!condition.text || !condition.optional)
        return condition;
    condition.text = arena_printf(arena, "%s ?? false", phrase_at(&condition, LEVEL_COALESCE, arena));
    condition.level = LEVEL_COALESCE;
    condition.optional = false;
    return condition;
}

/* Whether the letter at `at` is an argument of a call or the whole of brackets, between signs that enclose it. */
static bool is_enclosed(const char *form, const char *at)
{
    const char *before = at;
    while (before > form && before[-1] == ' ')
        before--;
    return before > form && strchr("(,", before[-1]) && (at[1] == ')' || at[1] == ',');
}

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

struct phrase phrase_fill(const char *form, enum phrase_level level, enum phrase_type type,
                          const struct phrase *operands, size_t count, struct arena *arena)
{
    struct phrase result = {.level = level, .type = type};
    struct strbuf out = {0};
    bool good = true;
    for (const char *at = form; *at && good; at++) {
        const size_t number = (size_t)(*at - 'A');
        if (*at < 'A' || *at > 'D' || number >= count || is_letter(at[1]) ||
            (at > form && (is_letter(at[-1]) || at[-1] == '%'))) {
            strbuf_putc(&out, *at);
            continue;
        }
        const struct phrase *operand = &operands[number];
        good = operand->text && phrase_inherit(&result, operand);
        if (good)
            strbuf_puts(&out, is_enclosed(form, at) ? operand->text : phrase_at(operand, LEVEL_OPERAND, arena));
    }
    result.text = good ? arena_text(arena, out.text ? out.text : "", out.length) : NULL;
    strbuf_free(&out);
    return result;
}
