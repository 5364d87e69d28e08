#include "engine/text_functions/regex.h"

#include "base/heap.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<pcre2.h>)

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    STEPS = 1000000,    /* of one match: some milliseconds */
    HEAP_KIB = 20480,   /* of a match that is not compiled to machine code */
    JIT_STACK = 1 << 20 /* bytes */
};

struct regex {
    pcre2_code *code;
    bool compiled; /* to machine code */
};

struct regex_matcher {
    const struct regex *regex;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* may be NULL */
    int groups;
};

struct regex *regex_new(struct text pattern, char message[REGEX_MESSAGE], size_t *offset)
{
    int error;
    PCRE2_SIZE place;
    /* Strings are valid UTF-8; should one not be, MATCH_INVALID_UTF keeps the match within it. */
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.at, pattern.length, options, &error, &place, NULL);
    if (!code) {
        *offset = place;
        if (pcre2_get_error_message(error, (PCRE2_UCHAR *)message, REGEX_MESSAGE) < 0)
            (void)snprintf(message, REGEX_MESSAGE, "error %d", error);
        return NULL;
    }
    struct regex *regex = heap_array(1, sizeof *regex);
    regex->code = code;
    regex->compiled = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0; /* else matches are interpreted */
    return regex;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

struct regex_matcher *regex_matcher_new(const struct regex *regex)
{
    struct regex_matcher *matcher = heap_array(1, sizeof *matcher);
    matcher->regex = regex;
    matcher->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    matcher->context = pcre2_match_context_create(NULL);
    if (!matcher->data || !matcher->context)
        heap_exhausted();
    matcher->groups = regex_groups(regex);
    pcre2_set_match_limit(matcher->context, STEPS);
    pcre2_set_heap_limit(matcher->context, HEAP_KIB);
    matcher->stack = pcre2_jit_stack_create(JIT_STACK / 32, JIT_STACK, NULL);
    if (matcher->stack)
        pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
    return matcher;
}

void regex_matcher_free(struct regex_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_jit_stack_free(matcher->stack);
    pcre2_match_context_free(matcher->context);
    pcre2_match_data_free(matcher->data);
    free(matcher);
}

/* Machine code looks at invalid UTF-8 itself, and takes no options. */
static enum regex_result search(struct regex_matcher *matcher, struct text text, size_t from, uint32_t options)
{
    const struct regex *regex = matcher->regex;
    const PCRE2_SPTR at = (PCRE2_SPTR)(text.at ? text.at : "");
    const int result = regex->compiled && options == 0
                           ? pcre2_jit_match(regex->code, at, text.length, from, 0, matcher->data, matcher->context)
                           : pcre2_match(regex->code, at, text.length, from, options, matcher->data, matcher->context);
    if (result >= 0)
        return REGEX_YES;
    return result == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_TOO_LONG;
}

enum regex_result regex_match(struct regex_matcher *matcher, struct text text)
{
    return search(matcher, text, 0, 0);
}

int regex_groups(const struct regex *regex)
{
    uint32_t count = 0;
    (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
    return (int)count;
}

int regex_matcher_groups(const struct regex_matcher *matcher)
{
    return matcher->groups;
}

enum regex_result regex_find(struct regex_matcher *matcher, struct text text, size_t from, bool solid)
{
    const uint32_t options = solid ? PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED : 0;
    return search(matcher, text, from, options);
}

bool regex_group(const struct regex_matcher *matcher, int group, size_t *begin, size_t *end)
{
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(matcher->data);
    if ((uint32_t)group >= pcre2_get_ovector_count(matcher->data) || places[2 * group] == PCRE2_UNSET)
        return false;
    *begin = places[2 * group];
    *end = places[2 * group + 1];
    return *begin <= *end; /* \K in a lookahead can end a match before it begins */
}

#else

struct regex *regex_new(struct text pattern, char message[REGEX_MESSAGE], size_t *offset)
{
    (void)pattern;
    *offset = 0;
    (void)snprintf(message, REGEX_MESSAGE, "this rql was built without PCRE2, which regular expressions need");
    return NULL;
}

void regex_free(struct regex *regex)
{
    (void)regex;
}

struct regex_matcher *regex_matcher_new(const struct regex *regex)
{
    (void)regex;
    return NULL;
}

void regex_matcher_free(struct regex_matcher *matcher)
{
    (void)matcher;
}

enum regex_result regex_match(struct regex_matcher *matcher, struct text text)
{
    (void)matcher;
    (void)text;
    return REGEX_NO;
}

int regex_groups(const struct regex *regex)
{
    (void)regex;
    return 0;
}

int regex_matcher_groups(const struct regex_matcher *matcher)
{
    (void)matcher;
    return 0;
}

enum regex_result regex_find(struct regex_matcher *matcher, struct text text, size_t from, bool solid)
{
    (void)from;
    (void)solid;
    return regex_match(matcher, text);
}

bool regex_group(const struct regex_matcher *matcher, int group, size_t *begin, size_t *end)
{
    (void)matcher;
    (void)group;
    *begin = *end = 0;
    return false;
}

#endif
