/* Methods of texts of pandas and Polars: `x.str.upper()`, `x.str[0:3]`. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>

/* The options of a method of texts. */
struct text_options {
    bool plain, regex; /* the pattern is stated to be plain text, or a regular expression */
    bool any_case;
    const char *between; /* `sep`, or NULL */
    const char *missing; /* what a test of a missing text gives, `na`; or NULL */
};

static bool has_regex(const struct phrase *x)
{
    return !x->raw || strpbrk(x->raw, ".^$*+?()[]{}|\\");
}

static struct phrase replaced(struct translator *t, const char *method, struct phrase *operands, size_t count,
                              const struct text_options *options)
{
    if (t->polars && strcmp(method, "replace") == 0)
        return translate_fail(t, "`replace(s, a, b)` replaces each a, Polars' `replace` the first");
    const bool regex = (t->polars ? !options->plain : options->regex) && has_regex(&operands[1]);
    if (count != 3 || (regex && (!operands[1].raw || (t->polars && has_regex(&operands[2])))))
        return translate_fail(t, "`replace_regex(s, regex, to)` replaces each match of a regular expression");
    return phrase_fill(regex ? "replace_regex(A, B, C)" : "replace(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT, operands, 3,
                       t->arena);
}

/* The characters from one place up to another, which are numbers; NULL: to the end. */
static struct phrase part_of_text(struct translator *t, struct phrase x, const char *from, const char *to)
{
    static const char digits[] = "0123456789";
    const bool numbers = from[strspn(from, digits)] == '\0' && (!to || to[strspn(to, digits)] == '\0');
    const long length = to ? strtol(to, NULL, 10) - strtol(from, NULL, 10) : 1;
    if (!numbers || length < 1)
        return translate_fail(t, "`substr(s, from, n)` is a part of a text");
    const char *form =
        to ? arena_printf(t->arena, "substr(A, %s, %ld)", from, length) : arena_printf(t->arena, "substr(A, %s)", from);
    return phrase_fill(form, LEVEL_OPERAND, PHRASE_TEXT, &x, 1, t->arena);
}

/* A method of texts whose operands are read. */
static struct phrase text_method(struct translator *t, const char *method, struct phrase *operands, size_t count,
                                 const struct text_options *options)
{
    if (is_one_of(method, t->polars ? "replace replace_all" : "replace"))
        return replaced(t, method, operands, count, options);
    if (t->polars && strcmp(method, "slice") == 0 && count > 1 && operands[1].text[0] != '-')
        return phrase_fill(count == 2 ? "substr(A, B)" : "substr(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT, operands, count,
                           t->arena);
    if (is_one_of(method, "count count_matches"))
        return translate_fail(t, "`len(split(s, 'a')) - 1` is how often 'a' is in s");
    if (strcmp(method, "slice") == 0 && count > 1)
        return part_of_text(t, operands[0], operands[1].text, count > 2 ? operands[2].text : NULL);
    if (strcmp(method, "cat") == 0 && count == 2) {
        const struct phrase sign = phrase_text(options->between ? options->between : "", t->arena);
        return join_text(t, options->between ? join_text(t, operands[0], sign) : operands[0], operands[1]);
    }
    if (strcmp(method, "contains") == 0 && count == 2) {
        const bool regex = !options->plain && operands[1].raw && has_regex(&operands[1]);
        if (options->any_case && (!operands[1].raw || regex))
            return translate_fail(t, "`s ~ '(?i)REGEX'` ignores case");
        for (size_t i = 0; options->any_case && i < 2; i++)
            operands[i] = in_lower_case(t, operands[i]);
        return phrase_fill(regex ? "A ~ B" : "contains(A, B)", regex ? LEVEL_EQUALITY : LEVEL_OPERAND, PHRASE_BOOL,
                           operands, 2, t->arena);
    }
    return translate_function(t, method, operands, count);
}

struct phrase text_methods(struct translator *t, struct phrase x)
{
    const char *method = token_raw(t, t->at++);
    struct phrase operands[3] = {x};
    size_t count = 1;
    if (accept(t, "[")) { /* .str[0:3] */
        const char *from = next_is(t, ":") ? "0" : token_text(t, t->at++);
        const bool both = accept(t, ":");
        const char *to = next_is(t, "]") ? NULL : token_text(t, t->at++);
        return both && accept(t, "]") ? part_of_text(t, x, from, to)
                                      : translate_fail(t, "`substr(s, from, n)` is a part of a text");
    }
    if (!expect(t, "("))
        return (struct phrase){0};
    const size_t close = after_brackets(t, t->at - 1) - 1;
    struct text_options options = {0};
    while (t->at < close && count < 3) {
        if (accept_keyword(t, "regex"))
            options.regex = !(options.plain = !next_is(t, "True"));
        else if (accept_keyword(t, "literal"))
            options.plain = next_is(t, "True");
        else if (accept_keyword(t, "sep"))
            options.between = token_raw(t, t->at);
        else if (accept_keyword(t, "case"))
            options.any_case = next_is(t, "False");
        else if (next_kind(t) == REWRITE_WORD && token_is(t, t->at + 1, "=") && !next_is(t, "na"))
            break;
        else if (accept_keyword(t, "na"))
            options.missing = next_is(t, "True") ? "true" : next_is(t, "False") ? "false" : NULL;
        else {
            operands[count] = translate_expression(t);
            if (!operands[count++].text)
                return (struct phrase){0};
            if (!accept(t, ","))
                break;
            continue;
        }
        t->at++;
        (void)accept(t, ",");
    }
    if (accept_keyword(t, "regex")) { /* behind all operands */
        options.regex = !(options.plain = !next_is(t, "True"));
        t->at++;
    } else if (accept_keyword(t, "literal")) {
        options.plain = next_is(t, "True");
        t->at++;
    }
    if (t->at != close)
        return strcmp(method, "split") == 0 ? translate_function(t, method, operands, count)
               : strcmp(method, "pad") == 0 ? pad_text(t, operands, count, close)
                                            : translate_fail(t, "there is no `%s` with these operands here", method);
    t->at = close + 1;
    struct phrase result = text_method(t, method, operands, count, &options);
    if (result.text && result.optional && options.missing) {
        result = phrase_fill(arena_printf(t->arena, "A ?? %s", options.missing), LEVEL_COALESCE, PHRASE_BOOL, &result,
                             1, t->arena);
        result.optional = false;
    }
    return result;
}
