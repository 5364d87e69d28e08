/* Functions of text that look for a regular expression. */
#include "engine/text_functions/text_call.h"

#include <string.h>

bool text_takes_regex(const struct text_function *function)
{
    return function->number == text_matches || function->edit == text_extract || function->edit == text_replace_regex;
}

/* The group that extract takes. */
static int64_t group_of(const struct text_call *call, int groups)
{
    return call->count > 1 ? call->args[1].integer : groups > 0;
}

/* A group that a replacement names by \\0 to \\9 at `at`; -1: none. */
static int group_at(struct text to, size_t at)
{
    const bool names = to.at[at] == '\\' && at + 1 < to.length && to.at[at + 1] >= '0' && to.at[at + 1] <= '9';
    return names ? to.at[at + 1] - '0' : -1;
}

const char *check_groups(const struct text_function *function, const struct regex *regex,
                         const struct text_argument *args, int count)
{
    const int groups = regex_groups(regex);
    if (function->edit == text_extract && count > 1 && (args[1].integer < 0 || args[1].integer > groups))
        return "the regular expression has no such group; 0 is all that matches";
    for (size_t k = 0; function->edit == text_replace_regex && k < args[1].text.length; k++) {
        if (group_at(args[1].text, k) > groups)
            return "the regular expression has no such group; \\0 is all that matches";
        k += args[1].text.at[k] == '\\';
    }
    return NULL;
}

bool text_matches(struct text_call *call, struct text text, int64_t *truth)
{
    const enum regex_result result = regex_match(call->matcher, text);
    call->too_long = call->too_long || result == REGEX_TOO_LONG;
    *truth = result == REGEX_YES;
    return true;
}

bool text_extract(struct text_call *call, struct text text, struct text *result)
{
    size_t begin, end;
    const enum regex_result found = regex_find(call->matcher, text, 0, false);
    const int groups = regex_matcher_groups(call->matcher);
    const int64_t group = group_of(call, groups);
    call->too_long = call->too_long || found == REGEX_TOO_LONG;
    if (found != REGEX_YES || group < 0 || group > groups || !regex_group(call->matcher, (int)group, &begin, &end))
        return false;
    *result = (struct text){text.at + begin, end - begin};
    return true;
}

/* The result of a replacement while it is made. */
struct edited {
    struct text_call *call;
    size_t used;
};

static void add(struct edited *edited, const char *at, size_t length)
{
    char *buffer = text_call_buffer(edited->call, edited->used + length + 1);
    if (length > 0)
        memcpy(buffer + edited->used, at, length);
    edited->used += length;
}

/* Adds the replacement of the match that was found. */
static void add_replacement(struct edited *edited, struct text text, struct text to)
{
    size_t begin, end, plain = 0;
    for (size_t k = 0; k < to.length; k++) {
        const int group = group_at(to, k);
        const bool twice = to.at[k] == '\\' && k + 1 < to.length && to.at[k + 1] == '\\';
        if (group < 0 && !twice)
            continue;
        add(edited, to.at + plain, k - plain + twice); /* one backslash of two */
        if (group >= 0 && regex_group(edited->call->matcher, group, &begin, &end))
            add(edited, text.at + begin, end - begin);
        plain = ++k + 1;
    }
    if (plain < to.length)
        add(edited, to.at + plain, to.length - plain);
}

/* All matches from left to right. After an empty one, one that is not empty is looked for at the same place, and else
 * the next character is kept as it is. */
bool text_replace_regex(struct text_call *call, struct text text, struct text *result)
{
    struct edited edited = {call, 0};
    size_t at = 0, begin, end;
    bool solid = false;
    enum regex_result found = REGEX_NO;
    *result = text;
    while (at <= text.length && (found = regex_find(call->matcher, text, at, solid)) != REGEX_TOO_LONG) {
        if (found == REGEX_NO && !solid)
            break;
        if (found == REGEX_NO || !regex_group(call->matcher, 0, &begin, &end) || begin < at) {
            if (at == text.length)
                break;
            const size_t size = first_code_point((struct text){text.at + at, text.length - at});
            add(&edited, text.at + at, size);
            at += size;
            solid = false;
            continue;
        }
        add(&edited, text.at + at, begin - at);
        add_replacement(&edited, text, call->args[1].text);
        solid = begin == end;
        at = end;
    }
    call->too_long = call->too_long || found == REGEX_TOO_LONG;
    if (at == 0 && edited.used == 0 && text.length > 0)
        return true; /* nothing matches */
    if (at < text.length)
        add(&edited, text.at + at, text.length - at);
    *result = (struct text){edited.used > 0 ? call->buffer : "", edited.used};
    return true;
}
