#include "cl/codegen/template.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t letters(const char *text)
{
    size_t count = 0;
    while (is_letter(text[count]))
        count++;
    return count;
}

static const char *hole_text(const struct hole *holes, const char *name, size_t length)
{
    for (; holes->text; holes++) {
        if (*holes->name == *name && strncmp(holes->name, name, length) == 0 && holes->name[length] == '\0')
            return holes->text;
    }
    return NULL;
}

/* State of $if, $else and $end: lines are left out while `off`, the depth of the $if responsible, is not 0. */
struct conditions {
    int depth, off;
};

/* Whether the line, after its indentation, is a condition or a comment. */
static bool is_directive(struct conditions *conditions, const char *line, const struct hole *holes)
{
    if (*line == '/')
        return word_begins(line, "///");
    if (*line != '$')
        return false;
    if (word_begins(line, "$if ")) {
        const char *name = line + strlen("$if "), *text = hole_text(holes, name, letters(name));
        conditions->depth++;
        if (!conditions->off && (!text || !*text))
            conditions->off = conditions->depth;
        return true;
    }
    if (word_begins(line, "$else\n")) {
        if (!conditions->off)
            conditions->off = conditions->depth;
        else if (conditions->off == conditions->depth)
            conditions->off = 0;
        return true;
    }
    if (word_begins(line, "$end\n")) {
        if (conditions->off == conditions->depth)
            conditions->off = 0;
        conditions->depth--;
        return true;
    }
    return false;
}

/* Appends text up to `end` with its names replaced. */
static void expand_names(struct strbuf *out, const char *at, const char *end, const struct hole *holes)
{
    const char *dollar;
    while ((dollar = memchr(at, '$', (size_t)(end - at)))) {
        const size_t length = letters(dollar + 1);
        const char *text = hole_text(holes, dollar + 1, length);
        strbuf_add(out, at, (size_t)(dollar - at));
        at = dollar + 1 + length;
        if (text)
            template_expand(out, text, holes);
        else
            strbuf_add(out, dollar, 1 + length);
    }
    strbuf_add(out, at, (size_t)(end - at));
}

void template_expand(struct strbuf *out, const char *template, const struct hole *holes)
{
    struct conditions conditions = {0};
    while (*template) {
        const char *line = template;
        while (*line == ' ') /* strspn takes most of the time of a long template */
            line++;
        const char *newline = strchr(line, '\n');
        const char *end = newline ? newline + 1 : line + strlen(line);
        const bool directive = is_directive(&conditions, line, holes);
        const char *part = *line == '$' ? hole_text(holes, line + 1, letters(line + 1)) : NULL;
        if (directive || conditions.off) {
            /* left out */
        } else if (part && line + 1 + letters(line + 1) == newline) {
            template_expand(out, part, holes);
            if (*part && part[strlen(part) - 1] != '\n')
                strbuf_putc(out, '\n');
        } else {
            expand_names(out, template, end, holes);
        }
        template = end;
    }
}

const char *text_in_arena(struct arena *arena, struct strbuf *text)
{
    return strbuf_take(text, arena);
}

extern const char kernel_work_group_sums[];

void template_work_group_sums(struct strbuf *out, size_t group, const char *sum, struct arena *arena)
{
    const struct hole holes[] = {{"group", arena_printf(arena, "%zu", group)}, {"sum", sum}, {0}};
    template_expand(out, kernel_work_group_sums, holes);
}
