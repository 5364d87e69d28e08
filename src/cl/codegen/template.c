#include "cl/codegen/template.h"

#include <stdbool.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *part_text(const struct part *parts, const char *name, size_t length)
{
    for (; parts->text; parts++)
        if (strlen(parts->name) == length && memcmp(parts->name, name, length) == 0)
            return parts->text;
    return NULL;
}

/* Takes back the indentation written since the last line's end; false if there is more than that on the line. */
static bool drop_indentation(struct strbuf *out)
{
    size_t length = out->length;

    while (length > 0 && out->text[length - 1] == ' ')
        length--;
    if (length > 0 && out->text[length - 1] != '\n')
        return false;
    out->length = length;
    if (out->text)
        out->text[length] = '\0';
    return true;
}

void template_expand(struct strbuf *out, const char *template, const struct part *parts)
{
    const char *at = template;

    while (*at) {
        const char *dollar = strchr(at, '$');
        if (!dollar) {
            strbuf_puts(out, at);
            return;
        }
        strbuf_add(out, at, (size_t)(dollar - at));
        const char *end = dollar + 1;
        while (is_letter(*end))
            end++;
        const char *text = part_text(parts, dollar + 1, (size_t)(end - dollar - 1));
        at = end;
        if (!text) {
            strbuf_add(out, dollar, (size_t)(end - dollar));
            continue;
        }
        if (*end == '\n' && drop_indentation(out)) {
            strbuf_puts(out, text);
            if (*text == '\0' || out->text[out->length - 1] == '\n')
                at++;
        } else {
            strbuf_puts(out, text);
        }
    }
}
