/* Text of messages and stage marks; recording errors. */
#include "engine/expression/expression.h"

#include "base/utf8.h"

#include <string.h>

enum { COLUMNS_SPELLED = 12 };

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The length to keep so that a cut before `next` does not split a code point. */
static size_t whole_code_points(const char *text, size_t length, char next)
{
    if (!is_continuation(next))
        return length;
    while (length > 0 && is_continuation(text[length - 1]))
        length--;
    return length > 0 ? length - 1 : 0;
}

const char *text_of_span(struct arena *arena, struct span span, size_t limit)
{
    static const char ellipsis[] = "...";
    char *text = arena_alloc(arena, limit + sizeof ellipsis);
    size_t length = 0;
    char quote = '\0';
    bool gap = false;
    if (!span.source)
        return text;
    if (span.begin == span.end) /* the source of a line that continues from the last relation */
        return ENV_LAST;
    const char *end = span.source->text + span.end;
    for (const char *at = span.source->text + span.begin; at < end; at++) {
        if (quote == '\0' && *at == '#') {
            while (at + 1 < end && at[1] != '\n')
                at++;
            continue;
        }
        if (quote == '\0' && is_space(*at)) {
            gap = length > 0;
            continue;
        }
        if (*at == quote)
            quote = '\0';
        else if (quote == '\0' && (*at == '"' || *at == '\'' || *at == '`'))
            quote = *at;
        if (length + gap >= limit) {
            memcpy(text + whole_code_points(text, length, *at), ellipsis, sizeof ellipsis);
            return text;
        }
        if (gap)
            text[length++] = ' ';
        gap = false;
        text[length++] = *at != '\0' ? *at : ' ';
    }
    return text;
}

const char *text_of_word(struct arena *arena, const struct stage *stage)
{
    return text_of_span(arena, stage->word_span, LIMIT_IDENTIFIER);
}

const char *text_of_columns(struct arena *arena, const struct flow *flow)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < flow->count && i < COLUMNS_SPELLED; i++) {
        const struct slot *slot = &flow->columns[i];
        strbuf_printf(&text, "%s`%s`", i == 0 ? "" : ", ", slot->name);
        if (slot->known)
            strbuf_printf(&text, " (%s)", logical_type_name(slot->logical, slot->type));
    }
    if (flow->count > COLUMNS_SPELLED)
        strbuf_printf(&text, " and %zu more", flow->count - COLUMNS_SPELLED);
    return strbuf_take(&text, arena);
}

const char *text_of_count(struct arena *arena, int64_t count, const char *noun)
{
    return arena_printf(arena, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}

void bind_failed(struct binder *binder)
{
    binder->errors++;
}

bool bind_succeeded(struct binder *binder, enum status status)
{
    if (status == STATUS_CANCELLED)
        binder->cancelled = true;
    else if (status != STATUS_OK)
        bind_failed(binder);
    return status == STATUS_OK;
}

bool bind_gave_up(const struct binder *binder)
{
    return binder->cancelled || binder->errors >= LIMIT_ERRORS;
}

static void record(struct binder *binder, struct span span, struct span second, const char *label, const char *hint,
                   const char *message)
{
    const struct name *column = &binder->of_set;
    const struct diag *last = binder->diags->count > 0 ? &binder->diags->at[binder->diags->count - 1] : NULL;
    if (bind_gave_up(binder))
        return;
    bind_failed(binder);
    if (column->text && column->span.begin >= span.begin && column->span.end <= span.end &&
        !strstr(message, arena_printf(binder->arena, "`%s`", column->text)))
        message = arena_printf(binder->arena, "%s; of `%s`", message, column->text);
    if (last && last->span.begin == span.begin && last->span.end == span.end && strcmp(last->message, message) == 0)
        return; /* of another column of a set */
    diag_error(binder->diags, span, "%s", message);
    if (second.source)
        diag_second(binder->diags, second, label);
    if (hint)
        diag_hint(binder->diags, "%s", hint);
}

/* Records an error, and where the inlined function was called. */
static void record_call(struct binder *binder, struct span span, const char *hint, const char *format, va_list args)
{
    struct span called = {0};
    for (const struct call *call = binder->call; call; call = call->caller)
        called = call->span;
    record(binder, span, called, "called here", hint, arena_vprintf(binder->arena, format, args));
}

bool bind_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record_call(binder, span, hint, format, args);
    va_end(args);
    return false;
}

struct term term_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record_call(binder, span, hint, format, args);
    va_end(args);
    return unknown_term;
}

bool bind_error_second(struct binder *binder, struct span span, struct span second, const char *label, const char *hint,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(binder, span, second, label, hint, arena_vprintf(binder->arena, format, args));
    va_end(args);
    return false;
}
