#include "parser/hints.h"

#include "parser/foreign.h"
#include "parser/grammar.h"
#include "parser/parse.h"

#include <string.h>
#include <strings.h>

/* The word most similar to the lexeme among those that `wanted` selects, or NULL. */
static const char *nearest_word(const struct situation *s, struct lexeme lexeme, bool (*wanted)(const struct word *))
{
    const char **candidates = arena_array(s->tree->arena, word_count, sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; i < word_count; i++) {
        if (wanted(&words[i]))
            candidates[count++] = words[i].text;
    }
    const char *name = arena_text(s->tree->arena, s->tree->source->text + lexeme.begin, lexeme.end - lexeme.begin);
    const char *nearest;
    return nearest_names(name, candidates, count, &nearest, 1) ? nearest : NULL;
}

static bool takes_expression(const struct word *stage)
{
    return stage->token == TOKEN_STAGE_CONDITION || stage->token == TOKEN_STAGE_OUTPUTS ||
           stage->token == TOKEN_STAGE_ASSIGNS || stage->token == TOKEN_STAGE_WITH ||
           stage->token == TOKEN_STAGE_OUTPUT || stage->token == TOKEN_STAGE_OPTIONAL ||
           stage->token == TOKEN_STAGE_HIST || stage->token == TOKEN_STAGE_ARGUMENT ||
           stage->token == TOKEN_STAGE_KEYS || stage->token == TOKEN_STAGE_ASSERT ||
           stage->token == TOKEN_STAGE_GROUP || stage->token == TOKEN_STAGE_STENCIL;
}

static bool is_stage(const struct word *word)
{
    return word->stage != STAGE_NONE;
}

static bool begins_statement(const struct word *word)
{
    return word->token == TOKEN_LOAD || word->token == TOKEN_RANGE || word->token == TOKEN_LET ||
           word->token == TOKEN_DEF || word->token == TOKEN_EXPLAIN || word->token == TOKEN_RACE;
}

static const char *text_at(const struct situation *s, struct lexeme lexeme)
{
    return s->tree->source->text + lexeme.begin;
}

static size_t length_of(struct lexeme lexeme)
{
    return lexeme.end - lexeme.begin;
}

/* The hints: each returns its text, or NULL if it does not apply. */

static const char *hint_leading_pipe(const struct situation *s)
{
    if (s->found.kind != TOKEN_PIPE || s->trail->count > 0)
        return NULL;
    return "nothing precedes this `|`; a query begins with a source such as `load`";
}

static const char *hint_help(const struct situation *s)
{
    return s->found.kind == TOKEN_QUESTION && s->trail->count == 0 ? "`.help` shows what can be entered" : NULL;
}

static const char *hint_pick(const struct situation *s)
{
    if (s->found.kind != TOKEN_COMMA || !s->trail->stage || s->trail->stage->token != TOKEN_STAGE_CONDITION)
        return NULL;
    if (s->trail->brackets > s->trail->outer)
        return expects(s, TOKEN_RP) ? "a list takes square brackets: `E in [1, 2, 3]`" : NULL;
    return arena_printf(s->tree->arena, "`%s` takes one condition on rows; `pick` selects columns",
                        s->trail->stage->text);
}

static const char *hint_equals(const struct situation *s)
{
    if (s->found.kind != TOKEN_ASSIGN || !expects(s, TOKEN_PLUS))
        return NULL;
    if (s->trail->stage && s->trail->stage->token == TOKEN_STAGE_OUTPUTS)
        return "`==` compares; name a column with `E as NAME` or `derive NAME = E`";
    if (!s->trail->stage && s->trail->count == 1)
        return "`==` compares; `let NAME = ...` defines a name";
    return "`==` compares";
}

/* `derive a * 2 as b`, `let x 5`: only `=` can follow. */
static const char *hint_naming(const struct situation *s)
{
    if (!expects(s, TOKEN_ASSIGN))
        return NULL;
    if (s->trail->stage &&
        (s->trail->stage->token == TOKEN_STAGE_ASSIGNS || s->trail->stage->token == TOKEN_STAGE_WITH))
        return arena_printf(s->tree->arena, "the name comes first: `%s NAME = E`", s->trail->stage->text);
    if (s->trail->stage)
        return "the names of a key on the left and on the right: `on id = number`; one name if they are the same";
    return "for example `let NAME = 6 * 7` or `def NAME(a, b) = a * b`";
}

/* `pick a b` */
static const char *hint_names(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_NAMES) && !stage_has(s, TOKEN_STAGE_COLUMNS) && !stage_has(s, TOKEN_STAGE_RENAMES))
        return NULL;
    if (stage_has(s, TOKEN_STAGE_RENAMES) && s->found.kind == TOKEN_ASSIGN)
        return "the old name comes first: `rename OLD as NEW`";
    if (stage_has(s, TOKEN_STAGE_RENAMES) && !expects(s, TOKEN_COMMA) && expects(s, TOKEN_AS))
        return "as in `rename OLD as NEW, OLD as NEW`";
    if (s->found.kind != TOKEN_NAME || !expects(s, TOKEN_COMMA))
        return NULL;
    return "separate names with commas";
}

static const char *hint_stage(const struct situation *s)
{
    if (!expects(s, TOKEN_STAGE_BARE))
        return NULL;
    const char *foreign = foreign_advice(text_at(s, s->found), length_of(s->found), FOREIGN_STAGE);
    if (foreign)
        return foreign;
    /* A single letter is similar to every stage that begins with it, but is more often a name. */
    if (s->found.kind == TOKEN_NAME && length_of(s->found) > 1) {
        const char *nearest = nearest_word(s, s->found, is_stage);
        if (nearest)
            return arena_printf(s->tree->arena, "did you mean `%s`?", nearest);
    }
    if (s->found.word && begins_statement(s->found.word))
        return "a source comes first; `zip` adds columns from another one";
    if (s->trail->brackets > 0)
        return "within these parentheses `|` separates stages; `bitor(a, b)` is bitwise or";
    if (s->trail->stage && takes_expression(s->trail->stage))
        return "bitwise or needs parentheses: `(a | b)`";
    return s->found.kind == TOKEN_NAME ? "`pick NAME, ...` selects columns; `.help stages` lists all stages" : NULL;
}

/* `scan` or `reduce` without an operator or function. */
static const char *hint_combiner(const struct situation *s)
{
    if (!(stage_has(s, TOKEN_STAGE_SCAN) || stage_has(s, TOKEN_STAGE_REDUCE)) || !expects(s, TOKEN_STAR) ||
        expects(s, TOKEN_SLASH))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` takes one of + * min max & ^ bitor, or a function such as |a, b| a + b",
                        s->trail->stage->text);
}

static const char *hint_aggregates(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_GROUP) || !expects(s, TOKEN_COLON))
        return NULL;
    if (s->trail->last.word && s->trail->last.word->token == TOKEN_BY)
        return "omit `by`: `group K: sum(E), count()`";
    return "aggregates follow a colon: `group K: sum(E), count()`";
}

static const char *hint_stencil(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_STENCIL) || !(expects(s, TOKEN_ELSE) || expects(s, TOKEN_COLON)))
        return NULL;
    return "for example `stencil -1..1 else 0: at(-1) + at(1)`; rows without all neighbours get the value after "
           "`else`, "
           "or find others by `wrap`, `edge` or `mirror` in its place";
}

static const char *hint_shape(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_SHAPE) ? "for example `shape 480 640` or `shape i 9, j 9, k 4`; computed sizes "
                                             "need parentheses: `shape (n / 2) 2`"
                                           : NULL;
}

static const char *hint_plot(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_PLOT) ? "select the columns first: `pick NAME, NAME | plot`" : NULL;
}

static const char *hint_order(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_KEYS) || s->found.kind != TOKEN_NAME || !expects(s, TOKEN_DESC))
        return NULL;
    if (s->trail->last.word && s->trail->last.word->token == TOKEN_BY)
        return arena_printf(s->tree->arena, "omit `by` after `%s`", s->trail->stage->text);
    return "`desc` after a key sorts from the largest down; separate keys with commas";
}

static const char *hint_top(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_TOP) ? "for example `top 3 by amounts`, or `top 3 by amounts asc` for the smallest"
                                         : NULL;
}

static const char *hint_per(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_PER)
               ? "for example `per id: take 1`; several stages have parentheses: `per id: (STAGE | STAGE)`"
               : NULL;
}

static const char *hint_repeat(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_REPEAT) ? "for example `repeat 10: derive n = n * 2`; several stages have "
                                              "parentheses: `repeat 10: (STAGE | STAGE)`"
                                            : NULL;
}

static const char *hint_along(const struct situation *s)
{
    const struct word *word = s->found.word ? s->found.word : s->trail->last.word;
    if (!word || word->token != TOKEN_ALONG)
        return NULL;
    if (stage_has(s, TOKEN_STAGE_OPTIONAL) || stage_has(s, TOKEN_STAGE_ARGUMENTS) || stage_has(s, TOKEN_STAGE_REDUCE) ||
        stage_has(s, TOKEN_STAGE_SCAN))
        return "use `along rows` or `along cols`, or the name of an axis as in `along i`";
    return "only aggregates, `reduce` and `scan` have `along`";
}

/* `select | count`, or a malformed head. */
static const char *hint_head(const struct situation *s)
{
    if (s->found.kind != TOKEN_PIPE || !s->trail->stage || !expects(s, TOKEN_HEAD))
        return NULL;
    return arena_printf(s->tree->arena,
                        "`%s` needs an expression, optionally after names for the columns: |a, b| a + b",
                        s->trail->stage->text);
}

/* A word between operands, or two signs that form an operator elsewhere. */
static const char *hint_operator(const struct situation *s)
{
    if (s->found.kind == TOKEN_NAME && expects(s, TOKEN_PLUS))
        return foreign_advice(text_at(s, s->found), length_of(s->found), FOREIGN_OPERATOR);
    if (s->trail->count == 0 || s->trail->last.end != s->found.begin)
        return NULL;
    return foreign_advice(text_at(s, s->trail->last), s->found.end - s->trail->last.begin, FOREIGN_OPERATOR);
}

/* `6 | 1` and `1..5`, which are not statements. */
static const char *hint_bare_sign(const struct situation *s)
{
    if (!expects(s, TOKEN_PLUS))
        return NULL;
    if (s->found.kind == TOKEN_DOTDOT)
        return "`range A..B` is a source, `E in A..B` is a condition";
    return s->found.kind == TOKEN_PIPE ? "bitwise or needs parentheses: `(a | b)`" : NULL;
}

/* `select (x > 3 | count`: the brackets seem to hold a pipeline, because a stage follows. */
static const char *hint_unclosed(const struct situation *s)
{
    char open[2];
    parse_open_delimiters(s->tree->source, open, sizeof open);
    if (open[0] != '(' || s->trail->brackets == 0 || !expects(s, TOKEN_PIPE) || expects(s, TOKEN_PLUS))
        return NULL;
    return "a `)` is missing: the brackets are open, so they hold the stages that follow, too";
}

/* `> FILE`, as in other shells. */
static const char *hint_redirection(const struct situation *s)
{
    const struct word *previous = s->trail->previous.word;
    if (s->found.kind != TOKEN_GT || !expects(s, TOKEN_PIPE) || (previous && is_stage(previous)))
        return NULL;
    return "`| save PATH` writes a file";
}

/* `mean a, b` */
static const char *hint_one_value(const struct situation *s)
{
    if (s->found.kind != TOKEN_COMMA || !stage_has(s, TOKEN_STAGE_OPTIONAL))
        return NULL;
    return "a stage computes one value; `describe` summarises all columns";
}

/* Stages that work on all columns. */
static const char *hint_bare(const struct situation *s)
{
    if (s->found.kind != TOKEN_NAME || !stage_has(s, TOKEN_STAGE_BARE) || s->trail->last.word != s->trail->stage)
        return NULL;
    const char *word = s->trail->stage->text;
    return arena_printf(s->tree->arena, "`%s` takes no arguments; use `pick NAME, ... | %s` for some columns", word,
                        word);
}

static const char *hint_string(const struct situation *s)
{
    if (s->found.kind != TOKEN_STRING || !expects(s, TOKEN_NAME))
        return NULL;
    return "text and paths have quotes; put names in backquotes";
}

/* `date '2024-01-31'` and `2024-01-31 09:30`. */
static const char *hint_time(const struct situation *s)
{
    if (s->found.kind == TOKEN_INT && s->trail->last.kind == TOKEN_DATE)
        return "a date and a time of day are joined by `T`: 2024-01-31T09:30";
    if (s->found.kind != TOKEN_STRING || s->trail->last.kind != TOKEN_NAME || !expects(s, TOKEN_PLUS))
        return NULL;
    return foreign_advice(text_at(s, s->trail->last), length_of(s->trail->last), FOREIGN_PREFIX);
}

static const char *hint_reserved(const struct situation *s)
{
    if (!s->found.word || !s->found.word->reserved || !expects(s, TOKEN_NAME))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` is a reserved word; put it in backquotes to use it as a name",
                        s->found.word->text);
}

static const char *hint_first_word(const struct situation *s)
{
    if (s->trail->count != 1 || (s->trail->first.kind != TOKEN_NAME && !s->trail->first.word))
        return NULL;
    const char *foreign = foreign_advice(text_at(s, s->trail->first), length_of(s->trail->first), FOREIGN_STATEMENT);
    if (foreign)
        return foreign;
    if (s->trail->first.word && is_stage(s->trail->first.word))
        return arena_printf(
            s->tree->arena,
            "`%s` is a stage: it follows a source and `|`; at the prompt `| %s ...` continues from the last "
            "result",
            s->trail->first.word->text, s->trail->first.word->text);
    if (s->trail->first.word && begins_statement(s->trail->first.word))
        return NULL;
    const char *nearest = nearest_word(s, s->trail->first, begins_statement);
    return nearest ? arena_printf(s->tree->arena, "did you mean `%s`?", nearest) : NULL;
}

/* `sum()`, like a function call. */
static const char *hint_empty(const struct situation *s)
{
    if (s->found.kind != TOKEN_RP || s->trail->last.kind != TOKEN_LP || !stage_has(s, TOKEN_STAGE_OPTIONAL))
        return NULL;
    return arena_printf(s->tree->arena, "use `%s` for the only column, `%s E` for an expression", s->trail->stage->text,
                        s->trail->stage->text);
}

/* A stage word read as a name, because no `|` precedes it. */
static const char *hint_pipe(const struct situation *s)
{
    const struct word *found = s->found.word, *last = s->trail->last.word, *previous = s->trail->previous.word;
    const struct word *word = found && is_stage(found) ? found : last && is_stage(last) ? last : previous;
    if (s->trail->count < 2 || !word || !is_stage(word) || word == s->trail->stage || !expects(s, TOKEN_PIPE))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` is a stage: put a `|` before it", word->text);
}

/* `load t.csv price: text` */
static const char *hint_stated(const struct situation *s)
{
    const bool loads = s->trail->count > 0 && s->trail->first.word && s->trail->first.word->token == TOKEN_LOAD;
    if (!loads || s->trail->stage || s->trail->count < 2 || s->trail->last.kind == TOKEN_PIPE ||
        s->trail->last.kind == TOKEN_AS)
        return NULL;
    return "for example `load t.csv price decimal(2), id text missing \"-\", \"?\"`";
}

/* A query in SQL syntax. */
static const char *hint_sql(const struct situation *s)
{
    static const char select[] = "select";
    const struct lexeme first = s->trail->first;
    if (s->trail->count == 0 || length_of(first) != strlen(select) ||
        strncasecmp(text_at(s, first), select, strlen(select)) != 0)
        return NULL;
    return "a query begins with its source: `load FILE | select CONDITION | pick NAME, ...`";
}

static const char *(*const hints[])(const struct situation *) = {
    hint_leading_pipe, hint_help,   hint_combiner, hint_head,      hint_pick,     hint_equals,      hint_naming,
    hint_names,        hint_stage,  hint_operator, hint_bare_sign, hint_unclosed, hint_redirection, hint_one_value,
    hint_bare,         hint_string, hint_time,     hint_reserved,  hint_along,    hint_stencil,     hint_aggregates,
    hint_shape,        hint_order,  hint_top,      hint_per,       hint_repeat,   hint_first_word,  hint_pipe,
    hint_empty,        hint_plot,   hint_sql,      hint_stated,
};

const char *hint_for(const struct situation *s)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const char *advice = hints[i](s);
        if (advice)
            return advice;
    }
    return NULL;
}

const char *hint_on_first_word(const struct situation *s)
{
    const bool side_by_side = s->found.kind == TOKEN_NAME || s->found.kind == TOKEN_STRING ||
                              s->found.kind == TOKEN_INT ||
                              (s->found.word && !s->found.word->reserved && !is_stage(s->found.word));
    const bool word = s->trail->first.kind == TOKEN_NAME || (s->trail->first.word && !is_stage(s->trail->first.word));
    return side_by_side && word ? hint_first_word(s) : NULL;
}
