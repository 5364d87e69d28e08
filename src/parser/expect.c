#include "parser/expect.h"

#include "parser/foreign.h"

#include "base/strbuf.h"
#include "parser/grammar.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* All that the advice may look at. */
struct situation {
    const struct automaton *automaton;
    const struct tree *tree;
    const struct trail *trail;
    struct lexeme found;
};

static bool expects(const struct situation *s, int token)
{
    return automaton_expects(s->automaton, token);
}

/* Where an expression, source or operator may stand, the tokens that it begins with are not worth naming. */
enum covered { BY_NOTHING = 0, BY_EXPRESSION = 1, BY_SOURCE = 2, BY_OPERATOR = 4 };

struct expectation {
    int token;
    unsigned covered;
    const char *shown;
};

/* In the order in which they are told. */
static const struct expectation expectations[] = {
    {TOKEN_LOAD, BY_NOTHING, "a source (load, range, a name, ...)"},
    {TOKEN_INT, BY_NOTHING, "an expression"},
    {TOKEN_PATH, BY_NOTHING, "a path"},
    {TOKEN_POSITION, BY_EXPRESSION, "a column"},
    {TOKEN_NAME, BY_EXPRESSION | BY_SOURCE, "a name"},
    {TOKEN_PLUS, BY_EXPRESSION, "an operator"},
    {TOKEN_ASSIGN, BY_NOTHING, "`=`"},
    {TOKEN_DOTDOT, BY_NOTHING, "`..`"},
    {TOKEN_COLON, BY_NOTHING, "`:`"},
    {TOKEN_RANGE, BY_SOURCE, "`range`"},
    {TOKEN_LP, BY_EXPRESSION | BY_SOURCE | BY_OPERATOR, "`(`"},
    {TOKEN_LB, BY_SOURCE | BY_OPERATOR, "`[`"},
    {TOKEN_KERNEL, BY_NOTHING, "`kernel`"},
    {TOKEN_RUN, BY_NOTHING, "`run`"},
    {TOKEN_AS, BY_NOTHING, "`as`"},
    {TOKEN_BY, BY_NOTHING, "`by`"},
    {TOKEN_DESC, BY_NOTHING, "`desc`"},
    {TOKEN_EXCLUSIVE, BY_NOTHING, "`exclusive`"},
    {TOKEN_FROM, BY_NOTHING, "`from`"},
    {TOKEN_ALONG, BY_NOTHING, "`along`"},
    {TOKEN_ELSE, BY_NOTHING, "`else`"},
    {TOKEN_INTO, BY_NOTHING, "`into`"},
    {TOKEN_COMMA, BY_NOTHING, "`,`"},
    {TOKEN_RP, BY_NOTHING, "`)`"},
    {TOKEN_RB, BY_NOTHING, "`]`"},
    {TOKEN_PIPE, BY_NOTHING, "`|`"},
    {TOKEN_LET, BY_NOTHING, "`let`"},
    {TOKEN_DEF, BY_NOTHING, "`def`"},
    {TOKEN_EXPLAIN, BY_NOTHING, "`explain`"},
    {TOKEN_RACE, BY_NOTHING, "`race`"},
    {0, BY_NOTHING, "the end of the statement"},
};

enum { EXPECTATION_COUNT = sizeof expectations / sizeof *expectations, MAX_EXPECTED = 8 };

static unsigned what_covers(const struct situation *s)
{
    return (expects(s, TOKEN_INT) ? BY_EXPRESSION : 0u) | (expects(s, TOKEN_LOAD) ? BY_SOURCE : 0u) |
           (expects(s, TOKEN_PLUS) && !expects(s, TOKEN_INT) ? BY_OPERATOR : 0u);
}

/* "a stage (select, take, ...)": one canonical word of each of the first shapes. NULL if no stage may stand here. */
static const char *stage_words(const struct situation *s)
{
    enum { MAX_WORDS = 4 };
    int shapes[MAX_WORDS];
    const char *shown[MAX_WORDS];
    size_t count = 0;

    for (size_t i = 0; i < word_count && count < MAX_WORDS; i++) {
        bool told = words[i].stage == STAGE_NONE || !expects(s, words[i].token);
        for (size_t j = 0; j < count; j++)
            told = told || shapes[j] == words[i].token;
        if (!told) {
            shapes[count] = words[i].token;
            shown[count++] = words[i].canonical;
        }
    }
    if (count < MAX_WORDS)
        return NULL;
    return arena_printf(s->tree->arena, "a stage (%s, %s, %s, %s, ...)", shown[0], shown[1], shown[2], shown[3]);
}

/* Where no sign may stand, an expression is less than one. */
static const char *shown(const struct situation *s, const struct expectation *expectation)
{
    bool signless = expectation->token == TOKEN_INT && !expects(s, TOKEN_MINUS);
    return signless ? "a number" : expectation->shown;
}

/* "a name, `,` or `)`" */
static const char *all_expected(const struct situation *s)
{
    const char *expected[MAX_EXPECTED];
    size_t count = 0;
    unsigned covers = what_covers(s);

    const char *stage = stage_words(s);
    if (stage)
        expected[count++] = stage;
    for (size_t i = 0; i < EXPECTATION_COUNT && count < MAX_EXPECTED; i++) {
        if (!(expectations[i].covered & covers) && expects(s, expectations[i].token))
            expected[count++] = shown(s, &expectations[i]);
    }
    const char *text = count ? expected[0] : "nothing more";
    for (size_t i = 1; i < count; i++)
        text = arena_printf(s->tree->arena, "%s%s%s", text, i + 1 < count ? ", " : " or ", expected[i]);
    return text;
}

/* The candidate nearest to the lexeme's text among the words that `wanted` picks, or NULL. */
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
           stage->token == TOKEN_STAGE_ASSIGNS || stage->token == TOKEN_STAGE_OUTPUT ||
           stage->token == TOKEN_STAGE_OPTIONAL || stage->token == TOKEN_STAGE_ARGUMENT ||
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

/* The hints: each returns its advice, or NULL if it has none. */

static const char *hint_leading_pipe(const struct situation *s)
{
    if (s->found.kind != TOKEN_PIPE || s->trail->count > 0)
        return NULL;
    return "nothing comes before this `|`; a query begins with a source, such as `load`";
}

static const char *hint_help(const struct situation *s)
{
    return s->found.kind == TOKEN_QUESTION && s->trail->count == 0 ? "`.help` tells what can be written" : NULL;
}

static const char *hint_pick(const struct situation *s)
{
    if (s->found.kind != TOKEN_COMMA || !s->trail->stage || s->trail->stage->token != TOKEN_STAGE_CONDITION)
        return NULL;
    if (s->trail->brackets > s->trail->outside)
        return expects(s, TOKEN_RP) ? "a list stands in square brackets: `E in [1, 2, 3]`" : NULL;
    return arena_printf(s->tree->arena, "`%s` works on rows and takes one condition; `pick` keeps columns",
                        s->trail->stage->text);
}

static const char *hint_equals(const struct situation *s)
{
    if (s->found.kind != TOKEN_ASSIGN || !expects(s, TOKEN_PLUS))
        return NULL;
    if (s->trail->stage && s->trail->stage->token == TOKEN_STAGE_OUTPUTS)
        return "`==` compares; a column is named by `E as NAME`, or in `derive` by `NAME = E`";
    if (!s->trail->stage && s->trail->count == 1)
        return "`==` compares; a name is given by `let NAME = ...`";
    return "`==` compares";
}

/* `derive a * 2 as b`, `let x 5`: where `=` and nothing else comes next. */
static const char *hint_naming(const struct situation *s)
{
    if (!expects(s, TOKEN_ASSIGN))
        return NULL;
    if (s->trail->stage && s->trail->stage->token == TOKEN_STAGE_ASSIGNS)
        return arena_printf(s->tree->arena, "the name comes first: `%s NAME = E`", s->trail->stage->text);
    return "as in `let NAME = 6 * 7` and `def NAME(a, b) = a * b`";
}

/* `pick a b` */
static const char *hint_names(const struct situation *s)
{
    if (s->found.kind != TOKEN_NAME || !s->trail->stage || s->trail->stage->token != TOKEN_STAGE_NAMES ||
        !expects(s, TOKEN_COMMA))
        return NULL;
    return "names stand between commas";
}

static const char *hint_stage(const struct situation *s)
{
    if (!expects(s, TOKEN_STAGE_BARE))
        return NULL;
    const char *foreign = foreign_advice(text_at(s, s->found), length_of(s->found), FOREIGN_STAGE);
    if (foreign)
        return foreign;
    /* A single letter is near to every stage that begins with it, and more often a name. */
    if (s->found.kind == TOKEN_NAME && length_of(s->found) > 1) {
        const char *nearest = nearest_word(s, s->found, is_stage);
        if (nearest)
            return arena_printf(s->tree->arena, "did you mean `%s`?", nearest);
    }
    if (s->found.word && begins_statement(s->found.word))
        return "a source stands at the beginning; `zip` adds columns from another one";
    if (s->trail->brackets > 0)
        return "within these parentheses `|` joins stages; bitor(a, b) is bitwise or";
    if (s->trail->stage && takes_expression(s->trail->stage))
        return "bitwise or is written inside parentheses: (a | b)";
    return s->found.kind == TOKEN_NAME ? "`pick NAME, ...` keeps columns; `.help stages` lists all stages" : NULL;
}

static bool stage_has(const struct situation *s, int token)
{
    return s->trail->stage && s->trail->stage->token == token;
}

/* `scan` or `reduce` without what it combines by. */
static const char *hint_combiner(const struct situation *s)
{
    if (!(stage_has(s, TOKEN_STAGE_SCAN) || stage_has(s, TOKEN_STAGE_REDUCE)) || !expects(s, TOKEN_STAR) ||
        expects(s, TOKEN_SLASH))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` combines by one of + * min max & ^ bitor, or by a function: |a, b| a + b",
                        s->trail->stage->text);
}

static const char *hint_aggregates(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_GROUP) || !expects(s, TOKEN_COLON))
        return NULL;
    if (s->trail->last.word && s->trail->last.word->token == TOKEN_BY)
        return "the keys follow without `by`: `group K: sum(E), count()`";
    return "what is computed of each group follows a colon: `group K: sum(E), count()`";
}

static const char *hint_stencil(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_STENCIL) || !(expects(s, TOKEN_ELSE) || expects(s, TOKEN_COLON)))
        return NULL;
    return "as in `stencil -1..1 else 0: at(-1) + at(1)`: `else` says what a row without all its neighbours gives";
}

static const char *hint_shape(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_SHAPE))
        return NULL;
    return "as in `shape 480 640`; what is computed stands in parentheses: `shape (n / 2) 2`";
}

static const char *hint_plot(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_PLOT))
        return NULL;
    return "columns are chosen before it: `pick NAME, NAME | plot`";
}

static const char *hint_order(const struct situation *s)
{
    if (!stage_has(s, TOKEN_STAGE_KEYS) || s->found.kind != TOKEN_NAME || !expects(s, TOKEN_DESC))
        return NULL;
    if (s->trail->last.word && s->trail->last.word->token == TOKEN_BY)
        return arena_printf(s->tree->arena, "`%s` takes its keys without `by`", s->trail->stage->text);
    return "`desc` after a key puts the largest first; keys stand between commas";
}

static const char *hint_top(const struct situation *s)
{
    return stage_has(s, TOKEN_STAGE_TOP) ? "as in `top 3 by amounts`, or `top 3 by amounts asc` for the smallest"
                                         : NULL;
}

static const char *hint_along(const struct situation *s)
{
    const struct word *word = s->found.word ? s->found.word : s->trail->last.word;
    if (!word || word->token != TOKEN_ALONG)
        return NULL;
    return "it is `along rows` or `along cols`";
}

/* `select | count`, or a head that is none. */
static const char *hint_head(const struct situation *s)
{
    if (s->found.kind != TOKEN_PIPE || !s->trail->stage || !expects(s, TOKEN_HEAD))
        return NULL;
    return arena_printf(s->tree->arena,
                        "`%s` needs an expression; names for the columns may stand before it: |a, b| a + b",
                        s->trail->stage->text);
}

/* A word between operands, or two signs that are one elsewhere. */
static const char *hint_operator(const struct situation *s)
{
    if (s->found.kind == TOKEN_NAME && expects(s, TOKEN_PLUS))
        return foreign_advice(text_at(s, s->found), length_of(s->found), FOREIGN_OPERATOR);
    if (s->trail->count == 0 || s->trail->last.end != s->found.begin)
        return NULL;
    return foreign_advice(text_at(s, s->trail->last), s->found.end - s->trail->last.begin, FOREIGN_OPERATOR);
}

/* `6 | 1` and `1..5`, which are no statements. */
static const char *hint_bare_sign(const struct situation *s)
{
    if (!expects(s, TOKEN_PLUS))
        return NULL;
    if (s->found.kind == TOKEN_DOTDOT)
        return "`range A..B` is a source, `E in A..B` a condition";
    return s->found.kind == TOKEN_PIPE ? "bitwise or is written inside parentheses: (a | b)" : NULL;
}

/* `> FILE`, as of other shells. */
static const char *hint_redirection(const struct situation *s)
{
    if (s->found.kind != TOKEN_GT || !expects(s, TOKEN_PIPE))
        return NULL;
    return "`| save PATH` writes a file";
}

/* `mean a, b` */
static const char *hint_one_value(const struct situation *s)
{
    if (s->found.kind != TOKEN_COMMA || !stage_has(s, TOKEN_STAGE_OPTIONAL))
        return NULL;
    return "one value a stage; `describe` tells about all columns";
}

/* Stages that are of all columns. */
static const char *hint_bare(const struct situation *s)
{
    if (s->found.kind != TOKEN_NAME || !stage_has(s, TOKEN_STAGE_BARE) || s->trail->last.word != s->trail->stage)
        return NULL;
    const char *word = s->trail->stage->text;
    return arena_printf(s->tree->arena, "`%s` stands alone; `pick NAME, ... | %s` is of some columns", word, word);
}

static const char *hint_string(const struct situation *s)
{
    if (s->found.kind != TOKEN_STRING || !expects(s, TOKEN_INT))
        return NULL;
    return "text in quotes is a path, after `load`, `zip` or `save`; a name is written between backquotes";
}

static const char *hint_reserved(const struct situation *s)
{
    if (!s->found.word || !s->found.word->reserved || !expects(s, TOKEN_NAME))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` is a word of the language; between backquotes it is a name",
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
            "`%s` is a stage: it follows a source and `|`; at the prompt `| %s ...` goes on from the last "
            "result",
            s->trail->first.word->text, s->trail->first.word->text);
    if (s->trail->first.word && begins_statement(s->trail->first.word))
        return NULL;
    const char *nearest = nearest_word(s, s->trail->first, begins_statement);
    return nearest ? arena_printf(s->tree->arena, "did you mean `%s`?", nearest) : NULL;
}

/* `sum()`, as a function is called. */
static const char *hint_empty(const struct situation *s)
{
    if (s->found.kind != TOKEN_RP || s->trail->last.kind != TOKEN_LP || !stage_has(s, TOKEN_STAGE_OPTIONAL))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` alone is of the one column, `%s E` of an expression",
                        s->trail->stage->text, s->trail->stage->text);
}

/* A stage word taken for a name, because no `|` came before it. */
static const char *hint_pipe(const struct situation *s)
{
    const struct word *found = s->found.word, *last = s->trail->last.word;
    const struct word *word = found && is_stage(found) ? found : last;
    if (s->trail->count < 2 || !word || !is_stage(word) || word == s->trail->stage || !expects(s, TOKEN_PIPE))
        return NULL;
    return arena_printf(s->tree->arena, "`%s` is a stage: put a `|` before it", word->text);
}

/* A query as SQL puts it. */
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
    hint_leading_pipe, hint_help,       hint_combiner, hint_head,      hint_pick,        hint_equals,    hint_naming,
    hint_names,        hint_stage,      hint_operator, hint_bare_sign, hint_redirection, hint_one_value, hint_bare,
    hint_string,       hint_reserved,   hint_along,    hint_stencil,   hint_aggregates,  hint_shape,     hint_order,
    hint_top,          hint_first_word, hint_pipe,     hint_empty,     hint_plot,        hint_sql,
};

/* The advice on the first of two words that stand side by side, or NULL. */
static const char *misspelt_statement(const struct situation *s)
{
    bool side_by_side = s->found.kind == TOKEN_NAME || s->found.kind == TOKEN_STRING || s->found.kind == TOKEN_INT ||
                        (s->found.word && !s->found.word->reserved && !is_stage(s->found.word));
    bool word = s->trail->first.kind == TOKEN_NAME || (s->trail->first.word && !is_stage(s->trail->first.word));
    return side_by_side && word ? hint_first_word(s) : NULL;
}

static const char *found_shown(const struct situation *s)
{
    switch (s->found.kind) {
    case LEX_EOF:
        return "the end";
    case LEX_SEMICOLON:
        return "`;`";
    default:
        return arena_printf(s->tree->arena, "`%s`", token_shown(s->tree->source, s->found, s->tree->arena));
    }
}

void report_unexpected(const struct automaton *automaton, const struct tree *tree, const struct trail *trail,
                       struct lexeme found)
{
    const struct situation s = {automaton, tree, trail, found};
    struct span span = {tree->source, found.begin, found.end};

    if (found.kind == TOKEN_INT_LIMIT && expects(&s, TOKEN_INT)) {
        diag_error(tree->diags, span, "%s does not fit in 64 bits", token_shown(tree->source, found, tree->arena));
        diag_hint(tree->diags, "integers go from -9223372036854775808 to 9223372036854775807");
        return;
    }
    /* Of two words that make no sense together the first one is at fault if it is near to one that begins a statement.
     */
    const char *foreign = misspelt_statement(&s);
    if (foreign) {
        span = (struct span){tree->source, trail->first.begin, trail->first.end};
        diag_error(tree->diags, span, "`%s` begins no statement", token_shown(tree->source, trail->first, tree->arena));
        diag_hint(tree->diags, "%s", foreign);
        return;
    }
    /* The end is where the text stops, not after the blank lines that follow. */
    if (found.kind == LEX_EOF && trail->count > 0)
        span.begin = span.end = trail->last.end;
    diag_error(tree->diags, span, "expected %s, found %s", all_expected(&s), found_shown(&s));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const char *advice = hints[i](&s);
        if (advice) {
            diag_hint(tree->diags, "%s", advice);
            return;
        }
    }
}
