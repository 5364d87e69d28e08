#include "engine/storage/text_options.h"

#include "base/strbuf.h"

#include <string.h>

static const char *copied(const char *text, struct arena *arena)
{
    return text ? arena_text(arena, text, strlen(text)) : NULL;
}

struct text_options text_options_copy(const struct text_options *options, struct arena *arena)
{
    if (!options)
        return (struct text_options){0};
    struct text_options copy = *options;
    struct stated_type *columns = arena_array(arena, copy.count + 1, sizeof *columns);
    const char **missing = arena_array(arena, copy.missing_count + 1, sizeof *missing);
    for (size_t i = 0; i < copy.count; i++) {
        columns[i] = options->columns[i];
        columns[i].name = copied(columns[i].name, arena);
    }
    for (size_t i = 0; i < copy.missing_count; i++)
        missing[i] = copied(options->missing[i], arena);
    copy.columns = columns;
    copy.missing = options->missing ? missing : NULL;
    copy.comment = copied(copy.comment, arena);
    copy.encoding = copied(copy.encoding, arena);
    return copy;
}

static void add_name(struct strbuf *out, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits[] = "0123456789";
    const size_t begin = strspn(name, letters);
    const bool plain = begin > 0 && name[begin + strspn(name + begin, digits)] == '\0';
    strbuf_printf(out, plain ? "%s" : "`%s`", name);
}

static void add_text(struct strbuf *out, const char *clause, const char *text)
{
    if (!text)
        return;
    strbuf_printf(out, "%s", clause);
    strbuf_add_literal(out, text);
}

/* Words that are known, and in quotes what iconv knows. */
static void add_encoding(struct strbuf *out, const char *encoding)
{
    static const char *const words[] = {"latin1", "windows1252", "utf16", "utf16le", "utf16be", "utf8"};
    for (size_t i = 0; encoding && i < sizeof words / sizeof *words; i++) {
        if (strcmp(encoding, words[i]) == 0) {
            strbuf_printf(out, " encoding %s", encoding);
            return;
        }
    }
    add_text(out, " encoding ", encoding);
}

static void add_sign(struct strbuf *out, const char *clause, char sign)
{
    const char text[] = {sign, '\0'};
    add_text(out, clause, sign ? text : NULL);
}

const char *text_options_written(const struct text_options *options, struct arena *arena)
{
    static const char *const dates[] = {"", " dates dmy", " dates mdy", " dates ymd"};
    static const char *const errors[] = {"", " errors missing", " errors skip"};
    struct strbuf out = {0};
    for (size_t i = 0; options && i < options->count; i++) {
        const struct stated_type *column = &options->columns[i];
        strbuf_puts(&out, i > 0 ? ", " : " ");
        add_name(&out, column->name);
        strbuf_printf(&out, " %s", logical_type_name(column->logical, column->type));
    }
    for (size_t i = 0; options && options->missing && i < options->missing_count; i++)
        add_text(&out, i > 0 ? ", " : " missing ", options->missing[i]);
    if (options && options->skips)
        strbuf_printf(&out, " skip %lld", (long long)options->skip);
    if (options) {
        add_text(&out, " comment ", options->comment);
        add_sign(&out, " separator ", options->separator);
        add_sign(&out, " quote ", options->quote);
        add_encoding(&out, options->encoding);
        add_sign(&out, " decimal ", options->decimal);
        add_sign(&out, " thousands ", options->thousands);
        strbuf_printf(&out, "%s%s%s", dates[options->dates], options->ragged ? " ragged" : "", errors[options->errors]);
    }
    return strbuf_take(&out, arena);
}
