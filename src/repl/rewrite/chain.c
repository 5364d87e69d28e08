/* Chains of stages, and the words of verbs.def. */
#include "repl/rewrite/chain.h"

#include "base/strbuf.h"

#include <stdarg.h>
#include <string.h>

struct verb {
    enum verb_kind kind;
    const char *words, *arguments, *stage;
};

static const struct verb verbs[] = {
#define VERB(kind, words, arguments, stage) {VERB_##kind, words, arguments, stage},
#include "repl/rewrite/verbs.def"
#undef VERB
};

void chain_columns(struct translator *t, const struct chain *chain)
{
    t->scope = (struct known_columns){0};
    (void)known_add_source(t, &t->scope, chain->text, NULL);
}

/* What a stage leaves of the rows of pandas' frame. */
static enum rows_of_frame rows_after(const char *stage, enum rows_of_frame before)
{
    const char *inner = strncmp(stage, "per ", 4) == 0 ? strstr(stage, ": ") : NULL;
    stage = inner ? inner + 2 : stage;
    char word[16] = "";
    const size_t length = strcspn(stage, " ");
    if (before == ROWS_OTHER || length >= sizeof word)
        return ROWS_OTHER;
    memcpy(word, stage, length);
    return is_one_of(word, "pick drop")                                        ? before
           : is_one_of(word, "select reject sort take skip tail top distinct") ? ROWS_SOME
                                                                               : ROWS_OTHER;
}

bool chain_add(struct translator *t, struct chain *chain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *stage = arena_vprintf(t->arena, format, args);
    va_end(args);
    if (t->dialect == DIALECT_R && chain->keys)
        stage = arena_printf(t->arena, strstr(stage, " | ") ? "per %s: (%s)" : "per %s: %s", chain->keys, stage);
    chain->text = arena_printf(t->arena, "%s | %s", chain->text, stage);
    t->rows = rows_after(stage, t->rows);
    chain_columns(t, chain);
    return true;
}

bool chain_end(struct translator *t, struct chain *chain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    chain->text = arena_printf(t->arena, "%s | %s", chain->text, arena_vprintf(t->arena, format, args));
    va_end(args);
    return chain->done = true;
}

bool chain_derive(struct translator *t, struct chain *chain, const char *name, const struct phrase *value)
{
    const char *keys = value->window ? value->window->partition : NULL;
    const enum rows_of_frame rows = t->rows;
    name = *name == '`' ? name : phrase_name(name, t->arena);
    if (!is_of_one_kind(t, value))
        return false;
    (void)chain_add(t, chain, keys ? "per %s: derive %s = %s" : "%sderive %s = %s", keys ? keys : "", name,
                    value->text);
    t->rows = rows;
    list_add(t, &t->changed, "%s", name);
    return true;
}

bool is_of_one_kind(struct translator *t, const struct phrase *value)
{
    if (value->window && value->window->partition && (value->aggregate || value->other_rows))
        return tell(t, "a value of a group beside one of all rows: `derive m = mean(x)` has that of all rows, `per K: "
                       "derive g = mean(x)` that of the group, a `select` behind them compares");
    if (value->original && (value->aggregate || value->other_rows || value->window))
        return tell(t, "in a chain the frame's name is the frame as it was, with all its rows in their order: compute "
                       "what reads other rows first, `derive NAME = E`");
    return true;
}

/* Keys with `desc` after or before them, as each dialect writes it. */
static const char *sort_list(struct translator *t, size_t end)
{
    const char *keys = NULL;
    while (t->at < end) {
        const bool kql = t->dialect == DIALECT_KQL, minus = !kql && accept(t, "-");
        const bool call = !kql && !minus && accept_two(t, "desc", "(");
        const struct phrase key = translate_expression(t);
        if (!key.text || (call && !expect(t, ")")))
            return NULL;
        const bool up = kql && accept(t, "asc");
        (void)accept(t, "desc");
        if (next_is(t, "nulls") || (up && key.optional))
            return translate_fail(t, "missing values come last in order").text;
        list_add(t, &keys, "%s%s", key.text, minus || call || (kql && !up) ? " desc" : "");
        if (!accept(t, ","))
            break;
    }
    return keys;
}

/* What a letter of the arguments stands for; NULL: it does not stand there. */
static const char *argument(struct translator *t, char letter, const struct chain *chain, size_t close,
                            const char **found)
{
    size_t aggregates, count, end;
    struct phrase value;
    const char *text = t->at < close ? token_text(t, t->at) : "";
    switch (letter) {
    case 'I':
        if (next_kind(t) != REWRITE_NUMBER || t->at++ >= close)
            return NULL;
        return arena_text(t->arena, text, strlen(text) - (text[strlen(text) - 1] == 'L'));
    case 'T':
        return next_kind(t) == REWRITE_QUOTED && t->at++ < close ? text : NULL;
    case 'Q':
        return next_kind(t) == REWRITE_QUOTED && t->at < close ? condition_of_text(t, token_raw(t, t->at++)) : NULL;
    case 'S':
    case 'U':
        return t->at++ < close ? text : NULL;
    case 'E':
        end = find_word(t, t->at, t->dialect == DIALECT_KQL ? ", asc desc" : ",");
        end = end < close ? end : close;
        value = translate_range(t, t->at, end);
        found['F' - 'A'] = value.optional ? value.text : NULL;
        t->at = end;
        if (value.window && value.text)
            return translate_fail(t, "`per K: derive m = max(x)` computes within groups, `select x == m` compares then")
                .text;
        return value.text;
    case 'P':
    case 'Y':
        return next_kind(t) == REWRITE_QUOTED && t->at < close ? phrase_name(token_raw(t, t->at++), t->arena) : NULL;
    case 'N':
        return bare_names(t);
    case 'L':
        return parse_names(t);
    case 'K':
        return t->dialect == DIALECT_PYTHON ? frame_keys(t, chain->last, close) : sort_list(t, close);
    case 'R':
        return renamed_columns(t);
    case 'C':
        return selected_columns(t, close);
    default:
        end = t->dialect == DIALECT_KQL ? find_word(t, t->at, "by") : close;
        text = translate_list(t, end < close ? end : close, letter == 'D', &aggregates, &count);
        return letter == 'A' && aggregates < count ? NULL : text;
    }
}

/* Reads the arguments. */
static bool parse_arguments(struct translator *t, const struct chain *chain, const char *form, size_t close,
                            const char **found)
{
    while (*form) {
        const size_t length = strcspn(form, " "), at = t->at;
        if (*form == '[') {
            const char *end = strchr(form, ']');
            if (!parse_arguments(t, chain, arena_text(t->arena, form + 1, (size_t)(end - form) - 1), close, found))
                t->at = at;
            form = end + 1;
        } else if (*form == '*') {
            t->at = close;
            form++;
        } else if (length == 1 && *form >= 'A' && *form <= 'Z') {
            found[*form - 'A'] = argument(t, *form, chain, close, found);
            if (!found[*form - 'A'])
                return false;
            form++;
        } else {
            const char *word = arena_text(t->arena, form + (*form == '\''), length - (*form == '\'' ? 2 : 0));
            const bool same = *form == '\'' ? strcmp(token_raw(t, at), word) == 0 : next_is(t, word);
            if (at >= close || !same)
                return false;
            t->at++;
            form += length;
        }
        form += strspn(form, " ");
    }
    return true;
}

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* The stage with what its letters stand for; NULL: one of them is nothing. */
static const char *filled(struct translator *t, const char *stage, const char *const *found, const char *word)
{
    struct strbuf out = {0};
    bool good = true;
    for (const char *at = stage; *at && good; at++) {
        const bool letter =
            *at >= 'A' && *at <= 'Z' && !is_letter(at[1]) && (at == stage || (!is_letter(at[-1]) && at[-1] != '%'));
        if (*at == '[') {
            const char *end = strchr(at, ']');
            const char *part = filled(t, arena_text(t->arena, at + 1, (size_t)(end - at) - 1), found, word);
            strbuf_puts(&out, part ? part : "");
            at = end;
        } else if (letter) {
            good = found[*at - 'A'];
            strbuf_puts(&out, good ? found[*at - 'A'] : "");
        } else if (*at == '@') {
            strbuf_puts(&out, word);
        } else {
            strbuf_putc(&out, *at);
        }
    }
    const char *result = good ? arena_text(t->arena, out.text ? out.text : "", out.length) : NULL;
    strbuf_free(&out);
    return result;
}

bool chain_verb(struct translator *t, struct chain *chain, enum verb_kind kind, const char *name, size_t close,
                bool *found)
{
    const size_t begin = t->at;
    bool known = false, ignored;
    found = found ? found : &ignored;
    *found = true;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const struct verb *verb = &verbs[i];
        const char *letters[26] = {0};
        if (verb->kind != kind || !is_one_of(name, verb->words))
            continue;
        known = true;
        letters['G' - 'A'] = chain->keys;
        letters['V' - 'A'] = chain->last;
        letters['X' - 'A'] = chain->column.text;
        letters['O' - 'A'] = chain->column.optional ? phrase_at(&chain->column, LEVEL_RANGE, t->arena) : NULL;
        t->at = begin;
        if (!parse_arguments(t, chain, verb->arguments, close, letters) || t->at != close)
            continue;
        if (*verb->stage == '!')
            return tell(t, verb->stage + 1);
        const char *stage = filled(t, verb->stage + (*verb->stage == '='), letters, name);
        if (stage && *verb->stage == '=')
            return chain_end(t, chain, "%s", stage);
        if (stage)
            return !*stage || chain_add(t, chain, "%s", stage);
    }
    t->at = begin;
    *found = false;
    if (found == &ignored)
        (void)translate_fail(t,
                             known ? "`%s` has other arguments here; `.help stages` lists the stages"
                                   : "there is no `%s` here; `.help stages` lists what there is",
                             name);
    return false;
}

const char *missing_columns(struct translator *t, const char *only, bool all)
{
    const char *condition = NULL;
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (only && !list_has(t, only, column->text))
            continue;
        if (all && !column->optional)
            return NULL;
        if (column->optional)
            condition = condition
                            ? arena_printf(t->arena, "%s %s missing(%s)", condition, all ? "&&" : "||", column->text)
                            : arena_printf(t->arena, "missing(%s)", column->text);
    }
    return condition;
}

bool chain_join(struct translator *t, struct chain *chain, const char *kind, const char *other,
                const struct join_names *names)
{
    struct known_columns others = {0};
    const bool known = known_add_source(t, &others, other, NULL);
    const char *on = NULL, *as = "";
    for (size_t i = 0; i < names->count; i++) {
        const char *left = names->left[i], *right = names->right[i];
        const struct known_column *a = known_find(&t->scope, NULL, left), *b = known_find(&others, NULL, right);
        if (a && b && a->optional && b->optional && !t->polars)
            return tell(t, "missing keys match nothing in a join, and each other there");
        if (names->sign && i + 1 == names->count)
            list_add(t, &on, "%s %s %s", left, names->sign, right);
        else
            list_add(t, &on, strcmp(left, right) == 0 ? "%s" : "%s = %s", left, right);
    }
    for (size_t i = 0; known && i < others.count; i++) {
        bool key = false;
        for (size_t k = 0; k < names->count; k++)
            key = key || strcmp(others.columns[i].name, names->right[k]) == 0;
        if (!key && known_find(&t->scope, NULL, others.columns[i].name) && *kind != 's' &&
            strncmp(kind, "anti", 4) != 0)
            as = arena_printf(t->arena, " as %s", *other == '(' ? "other" : other);
    }
    return chain_add(t, chain, "%sjoin %s%s%s%s", kind, other, as, on ? " on " : "", on ? on : "");
}
