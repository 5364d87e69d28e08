/* Values as text: text, format, concat. */
#include "engine/builtin/builtin.h"

#include "engine/expression/row_text.h"

/* False, with an error, if an argument is no value. */
static bool are_values(const struct builtin *call)
{
    bool fit = true;
    for (size_t k = 0; k < call->count; k++) {
        if (class_of(call->scope->code, call->arguments[k]) != CLASS_MONTHS)
            continue;
        builtin_refuse(call, k, "a value", "only dates and timestamps can be moved by months: `d + 1mo`");
        fit = false;
    }
    return fit;
}

/* The call for the arguments from `first` on. */
static struct term make(const struct builtin *call, const struct text_format *format, size_t first, size_t count)
{
    const struct row_text_use use = {.scope = call->scope,
                                     .name = call->function->name,
                                     .format = format,
                                     .arguments = call->arguments + first,
                                     .count = count,
                                     .span = call->expr->span};
    return bind_row_text(&use);
}

/* Argument k, a constant text; NULL after an error, or if it is unknown. */
static const struct text *constant_text(const struct builtin *call, size_t k, const char *what)
{
    const struct term *term = &call->arguments[k];
    if (term->logical.kind != LOGICAL_TEXT)
        builtin_refuse(call, k, "text here",
                       arena_printf(call->scope->binder->arena, "usage: %s", call->function->usage));
    else if (!term->text)
        builtin_not_constant(call, k, what);
    return term->logical.kind == LOGICAL_TEXT ? term->text : NULL;
}

static struct term refuse_format(const struct builtin *call, size_t k, const char *wrong)
{
    struct binder *binder = call->scope->binder;
    bind_error(binder, call->expr->args[k]->span, NULL, "`%s`: %s", call->function->name, wrong);
    return unknown_term;
}

struct term bind_to_text(const struct builtin *call)
{
    struct binder *binder = call->scope->binder;
    struct text time_format = {"", 0};
    const char *wrong;
    if (!are_values(call))
        return unknown_term;
    const struct format_argument argument = format_argument_of(call->scope, &call->arguments[0]);
    if (call->count == 2) {
        const struct text *given = constant_text(call, 1, "the format");
        if (!given)
            return unknown_term;
        if (!logical_is_time(argument.logical))
            return builtin_refuse(call, 0, "a date or time with a format",
                                  "`format(\"{:>8.2f}\", x)` formats numbers and text");
        if (given->length > 0 && !memchr(given->at, '%', given->length)) {
            bind_error(binder, call->expr->args[1]->span, "codes begin with `%`: `\"%Y-%m-%d\"`, `\"%H:%M:%S\"`",
                       "`text`: the format has no codes, it would give the same text in all rows");
            return unknown_term;
        }
        time_format = *given;
    } else if (call->arguments[0].logical.kind == LOGICAL_TEXT) {
        return call->arguments[0];
    }
    const struct text_format *format = text_format_of_value(time_format, &argument, binder->arena, &wrong);
    return format ? make(call, format, 0, 1) : refuse_format(call, 1, wrong);
}

struct term bind_format(const struct builtin *call)
{
    struct binder *binder = call->scope->binder;
    const char *wrong;
    const struct text *pattern = constant_text(call, 0, "the pattern");
    if (!are_values(call) || !pattern)
        return unknown_term;
    struct format_argument *arguments = arena_array(binder->arena, call->count, sizeof *arguments);
    for (size_t k = 1; k < call->count; k++)
        arguments[k - 1] = format_argument_of(call->scope, &call->arguments[k]);
    const struct text_format *format = text_format_new(*pattern, arguments, call->count - 1, binder->arena, &wrong);
    return format ? make(call, format, 1, call->count - 1) : refuse_format(call, 0, wrong);
}

struct term bind_concat(const struct builtin *call)
{
    struct binder *binder = call->scope->binder;
    return are_values(call) ? make(call, text_format_concat(call->count, binder->arena), 0, call->count) : unknown_term;
}
