/* Patterns: literal text and fields. */
#include "engine/text_functions/text_format.h"

#include "base/heap.h"
#include "base/time/time_format.h"

#include <stdlib.h>
#include <string.h>

enum { LITERAL_SLACK = 16 };

struct field {
    struct text before; /* written before it */
    size_t argument;
    struct format_spec spec;
};

struct text_format {
    struct field *fields;
    size_t count, capacity;
    struct text after;
};

static const struct format_spec plain_spec = {.plain = true, .width = -1, .precision = -1};

static void add_field(struct text_format *format, struct text before, size_t argument, struct format_spec spec,
                      struct arena *arena)
{
    *ARENA_PUSH(arena, format->fields, format->count, format->capacity) = (struct field){before, argument, spec};
}

/* A pattern while it is read. */
struct pattern {
    const char *at, *end;
    size_t next; /* the argument of the next {} */
    bool numbered, counted;
    struct arena *arena;
    const char **wrong;
};

/* The text before the next field or the end, with one brace for two. */
static bool read_literal(struct pattern *pattern, struct text *literal)
{
    char *text = arena_alloc(pattern->arena, (size_t)(pattern->end - pattern->at) + LITERAL_SLACK);
    size_t length = 0;
    for (; pattern->at < pattern->end; pattern->at++) {
        const char c = *pattern->at;
        const bool twice = pattern->end - pattern->at > 1 && pattern->at[1] == c;
        if ((c == '{' || c == '}') && twice)
            pattern->at++;
        else if (c == '{')
            break;
        else if (c == '}') {
            *pattern->wrong = "a `}` without `{`; `}}` is the character";
            return false;
        }
        text[length++] = c;
    }
    *literal = (struct text){text, length};
    return true;
}

static bool read_argument(struct pattern *pattern, size_t count, size_t *argument)
{
    enum { MOST = 1000 };
    const char *digits = pattern->at;
    size_t number = 0;
    for (; pattern->at < pattern->end && *pattern->at >= '0' && *pattern->at <= '9' && number < MOST; pattern->at++)
        number = number * 10 + (size_t)(*pattern->at - '0');
    const bool given = pattern->at > digits;
    pattern->numbered = pattern->numbered || given;
    pattern->counted = pattern->counted || !given;
    *argument = given ? number : pattern->next++;
    if (pattern->numbered && pattern->counted)
        *pattern->wrong = "number all fields, as in {0}, or none";
    else if (*argument >= count)
        *pattern->wrong = arena_printf(pattern->arena, "there is no argument for field {%zu}%s", *argument,
                                       count == 0 ? "" : ": they are counted from {0}");
    return !*pattern->wrong;
}

/* A field, behind its `{`. */
static bool read_field(struct pattern *pattern, const struct format_argument *arguments, size_t count, size_t *argument,
                       struct format_spec *spec)
{
    *spec = plain_spec;
    if (!read_argument(pattern, count, argument))
        return false;
    struct text written = {pattern->at, 0};
    if (pattern->at < pattern->end && *pattern->at == ':') {
        written.at = ++pattern->at;
        /* A brace may be the fill. */
        const bool fills = pattern->end - pattern->at > 1 && strchr("<>^=", pattern->at[1]) && pattern->at[1] != '\0';
        pattern->at += fills ? 2 : 0;
        while (pattern->at < pattern->end && *pattern->at != '}')
            pattern->at++;
        written.length = (size_t)(pattern->at - written.at);
    }
    if (pattern->at == pattern->end || *pattern->at != '}') {
        *pattern->wrong = pattern->at == pattern->end ? "a `{` without `}`; `{{` is the character"
                                                      : "a field is {}, {0} or {:SPEC}, as in {:>8} or {:.2f}";
        return false;
    }
    pattern->at++;
    return written.length == 0 ||
           format_spec_read(written, &arguments[*argument], spec, pattern->arena, pattern->wrong);
}

const struct text_format *text_format_new(struct text text, const struct format_argument *arguments, size_t count,
                                          struct arena *arena, const char **wrong)
{
    struct text_format *format = arena_alloc(arena, sizeof *format);
    struct pattern pattern = {.at = text.at, .end = text.at + text.length, .arena = arena, .wrong = wrong};
    bool *used = arena_array(arena, count + 1, sizeof *used);
    *wrong = NULL;
    while (read_literal(&pattern, &format->after)) {
        if (pattern.at == pattern.end) {
            for (size_t k = 0; k < count && !*wrong; k++) {
                if (!used[k])
                    *wrong = arena_printf(arena, "no field writes argument {%zu}", k);
            }
            return *wrong ? NULL : format;
        }
        size_t argument;
        struct format_spec spec;
        pattern.at++;
        if (!read_field(&pattern, arguments, count, &argument, &spec))
            return NULL;
        used[argument] = true;
        add_field(format, format->after, argument, spec, arena);
    }
    return NULL;
}

const struct text_format *text_format_of_value(struct text time_format, const struct format_argument *argument,
                                               struct arena *arena, const char **wrong)
{
    struct text_format *format = arena_alloc(arena, sizeof *format);
    struct format_spec spec = plain_spec;
    const enum time_format_use use = argument->logical.kind == LOGICAL_DATE       ? FORMAT_OF_DATE
                                     : argument->logical.kind == LOGICAL_DURATION ? FORMAT_OF_CLOCK
                                                                                  : FORMAT_OF_TIMESTAMP;
    *wrong = time_format_check_written(time_format, use);
    if (*wrong)
        return NULL;
    spec.plain = time_format.length == 0;
    spec.time = time_format;
    add_field(format, (struct text){"", 0}, 0, spec, arena);
    return format;
}

const struct text_format *text_format_concat(size_t count, struct arena *arena)
{
    struct text_format *format = arena_alloc(arena, sizeof *format);
    for (size_t k = 0; k < count; k++)
        add_field(format, (struct text){"", 0}, k, plain_spec, arena);
    return format;
}

struct text_maker text_maker_new(const struct text_format *format)
{
    struct text_maker maker = {.format = format};
    (void)strbuf_reserve(&maker.text, 0); /* never NULL */
    if (!format)
        return maker;
    maker.times = heap_array(format->count, sizeof(struct time_writer *));
    for (size_t k = 0; k < format->count; k++) {
        if (format->fields[k].spec.time.length > 0)
            maker.times[k] = time_writer_new(format->fields[k].spec.time);
    }
    return maker;
}

void text_maker_free(struct text_maker *maker)
{
    for (size_t k = 0; maker->format && k < maker->format->count; k++)
        time_writer_free(maker->times[k]);
    free((void *)maker->times);
    strbuf_free(&maker->text);
}

static void write_plain(const struct scalar *value, struct strbuf *out)
{
    if (value->logical.kind == LOGICAL_TEXT)
        strbuf_add(out, value->text.at, value->text.length);
    else if (value->kind == KIND_BOOL)
        strbuf_puts(out, value->integer != 0 ? "true" : "false");
    else if (value->kind == KIND_INT && value->logical.kind == LOGICAL_NUMBER && scalar_fits(value)) {
        char *at = strbuf_reserve(out, NUMBER_TEXT);
        strbuf_commit(out, (size_t)(int_text(at, (int64_t)value->integer) - at));
    } else
        scalar_print(out, value);
}

/* Text of the pattern, behind which LITERAL_SLACK bytes may be read. */
static inline void write_literal(struct text literal, struct strbuf *out)
{
    char *at = strbuf_reserve(out, literal.length + LITERAL_SLACK);
    if (literal.length <= LITERAL_SLACK)
        memcpy(at, literal.at, LITERAL_SLACK);
    else
        memcpy(at, literal.at, literal.length);
    strbuf_commit(out, literal.length);
}

void text_maker_add(struct text_maker *maker, const struct scalar *values)
{
    const struct text_format *format = maker->format;
    struct strbuf *out = &maker->text;
    for (size_t k = 0; k < format->count; k++) {
        const struct field *field = &format->fields[k];
        if (field->before.length > 0)
            write_literal(field->before, out);
        if (field->spec.plain)
            write_plain(&values[field->argument], out);
        else
            format_spec_write(&field->spec, &values[field->argument], maker->times[k], out);
    }
    if (format->after.length > 0)
        write_literal(format->after, out);
}
