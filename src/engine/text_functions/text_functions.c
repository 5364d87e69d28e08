/* The table of functions of text. */
#include "engine/text_functions/text_functions.h"

#include "base/text.h"
#include "engine/text_functions/text_call.h"

const struct text_function text_functions[] = {
#define TEXT_OTHER(name, least, most, first, second, result, partial, number, real, edit, check)                       \
    {name, least, most, {first, second}, result, partial, number, real, edit, check},
#define TEXT_FUNCTION(name, least, most, first, second, result, partial, number, real, edit, check, usage, summary,    \
                      example, value)                                                                                  \
    TEXT_OTHER(name, least, most, first, second, result, partial, number, real, edit, check)
#include "engine/text_functions/text_functions.def"
#undef TEXT_FUNCTION
#undef TEXT_OTHER
};

const size_t text_function_count = sizeof text_functions / sizeof *text_functions;

const struct text_function text_prepend = {
    .name = "+", .least = 1, .most = 1, .kinds = {ARGUMENT_TEXT}, .result = TEXT_TO_TEXT, .edit = text_prepended};

const struct text_function text_comparisons[] = {
    [TEXT_EQUAL] = {"==", 1, 1, {ARGUMENT_TEXT}, TEXT_TO_BOOL, .number = text_equals},
    [TEXT_LESS] = {"<", 1, 1, {ARGUMENT_TEXT}, TEXT_TO_BOOL, .number = text_is_less},
    [TEXT_AT_MOST] = {"<=", 1, 1, {ARGUMENT_TEXT}, TEXT_TO_BOOL, .number = text_is_at_most}};

const struct text_function *text_function_find(const char *name)
{
    return TABLE_ROW(text_functions, name);
}

bool text_argument_is_constant(const struct text_function *function, size_t k)
{
    const bool formatted =
        function->number == text_date || function->number == text_timestamp || function->number == text_time;
    return k == 0 && (text_takes_regex(function) || formatted);
}
