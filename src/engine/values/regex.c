#include "engine/values/regex.h"

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
};

struct regex_matcher {
    const struct regex *regex;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* may be NULL */
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
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* where there is no JIT, matches are interpreted */
    struct regex *regex = heap_array(1, sizeof *regex);
    regex->code = code;
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
    matcher->data = pcre2_match_data_create(1, NULL);
    matcher->context = pcre2_match_context_create(NULL);
    if (!matcher->data || !matcher->context)
        heap_exhausted();
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

enum regex_result regex_match(struct regex_matcher *matcher, struct text text)
{
    int result =
        pcre2_match(matcher->regex->code, (PCRE2_SPTR)text.at, text.length, 0, 0, matcher->data, matcher->context);
    if (result >= 0)
        return REGEX_YES;
    return result == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_TOO_LONG;
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

#endif
