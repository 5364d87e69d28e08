#include "parser/expect.h"

#include "base/strbuf.h"
#include "parser/grammar.h"
#include "parser/hints.h"

#include <stdint.h>

static void track_stage(struct trail *trail, const struct word *stage)
{
    trail->stage = stage;
    trail->outer = trail->brackets;
    trail->questions = 0;
    trail->second_part = false;
    trail->ranged = false;
}

static void track_colon(struct trail *trail)
{
    if (trail->questions > 0)
        trail->questions--;
    else
        trail->second_part = true;
}

void trail_add(struct trail *trail, const struct automaton *automaton, struct lexeme lexeme)
{
    if (trail->count++ == 0)
        trail->first = lexeme;
    trail->previous = trail->last;
    trail->last = lexeme;
    if (lexeme.word && lexeme.word->stage != STAGE_NONE && automaton_expects(automaton, lexeme.kind))
        track_stage(trail, lexeme.word);
    else if (lexeme.kind == TOKEN_QUESTION)
        trail->questions++;
    else if (lexeme.kind == TOKEN_COLON)
        track_colon(trail);
    else if (lexeme.kind == TOKEN_DOTDOT)
        trail->ranged = true;
}

bool expects(const struct situation *s, int token)
{
    return automaton_expects(s->automaton, token);
}

bool stage_has(const struct situation *s, int token)
{
    return s->trail->stage && s->trail->stage->token == token;
}

/* If an expression, source, operator or column is expected, the tokens that begin it are not listed. */
enum covered { NOT_COVERED = 0, IN_EXPRESSION = 1, IN_SOURCE = 2, IN_OPERATOR = 4, IN_COLUMN = 8 };

struct expectation {
    int token;
    unsigned covered;
    const char *shown;
};

/* In the order in which messages list them. */
static const struct expectation expectations[] = {
    {TOKEN_LOAD, NOT_COVERED, "a source (load, range, a name, ...)"},
    {TOKEN_INT, NOT_COVERED, "an expression"},
    {TOKEN_PATH, IN_SOURCE, "a path"},
    {TOKEN_POSITION, IN_EXPRESSION, "a column"},
    {TOKEN_NAME, IN_EXPRESSION | IN_SOURCE, "a name"},
    {TOKEN_SET, IN_EXPRESSION, "names with a `*`"},
    {TOKEN_PLUS, IN_EXPRESSION, "an operator"},
    {TOKEN_ASSIGN, NOT_COVERED, "`=`"},
    {TOKEN_DOTDOT, NOT_COVERED, "`..`"},
    {TOKEN_MEMBER, IN_OPERATOR, "a field"},
    {TOKEN_COLON, NOT_COVERED, "`:`"},
    {TOKEN_RANGE, IN_SOURCE, "`range`"},
    {TOKEN_LP, IN_EXPRESSION | IN_SOURCE | IN_OPERATOR, "`(`"},
    {TOKEN_LB, IN_SOURCE | IN_OPERATOR, "`[`"},
    {TOKEN_KERNEL, NOT_COVERED, "`kernel`"},
    {TOKEN_PASSES, NOT_COVERED, "`passes`"},
    {TOKEN_RUN, NOT_COVERED, "`run`"},
    {TOKEN_SQL, NOT_COVERED, "`sql`"},
    {TOKEN_DIALECT, NOT_COVERED, "`--dialect NAME`"},
    {TOKEN_AS, NOT_COVERED, "`as`"},
    {TOKEN_TEXT, IN_EXPRESSION, "quoted text"},
    {TOKEN_MISSING, IN_EXPRESSION | IN_COLUMN, "`missing`"},
    {TOKEN_BY, NOT_COVERED, "`by`"},
    {TOKEN_DESC, NOT_COVERED, "`desc`"},
    {TOKEN_EXCLUSIVE, NOT_COVERED, "`exclusive`"},
    {TOKEN_FROM, NOT_COVERED, "`from`"},
    {TOKEN_ALONG, NOT_COVERED, "`along`"},
    {TOKEN_ELSE, NOT_COVERED, "`else`"},
    {TOKEN_INTO, NOT_COVERED, "`into`"},
    {TOKEN_ON, NOT_COVERED, "`on`"},
    {TOKEN_SEED, NOT_COVERED, "`seed`"},
    {TOKEN_COMMA, NOT_COVERED, "`,`"},
    {TOKEN_RP, NOT_COVERED, "`)`"},
    {TOKEN_RB, NOT_COVERED, "`]`"},
    {TOKEN_PIPE, NOT_COVERED, "`|`"},
    {TOKEN_LET, NOT_COVERED, "`let`"},
    {TOKEN_DEF, NOT_COVERED, "`def`"},
    {TOKEN_EXPLAIN, NOT_COVERED, "`explain`"},
    {TOKEN_RACE, NOT_COVERED, "`race`"},
    {0, NOT_COVERED, "the end of the statement"},
};

enum { EXPECTATION_COUNT = sizeof expectations / sizeof *expectations, MAX_EXPECTED = 8 };

static unsigned expected_groups(const struct situation *s)
{
    return (expects(s, TOKEN_INT) ? IN_EXPRESSION : 0u) | (expects(s, TOKEN_LOAD) ? IN_SOURCE : 0u) |
           (expects(s, TOKEN_PLUS) && !expects(s, TOKEN_INT) ? IN_OPERATOR : 0u) |
           (expects(s, TOKEN_POSITION) ? IN_COLUMN : 0u);
}

/* "a stage (select, take, ...)": one word of each of the first syntaxes. NULL if no stage is expected. */
static const char *stage_words(const struct situation *s)
{
    enum { MAX_WORDS = 4 };
    int shapes[MAX_WORDS];
    const char *shown[MAX_WORDS];
    size_t count = 0;
    for (size_t i = 0; i < word_count && count < MAX_WORDS; i++) {
        bool skip = words[i].stage == STAGE_NONE || !expects(s, words[i].token);
        for (size_t j = 0; j < count; j++)
            skip = skip || shapes[j] == words[i].token;
        if (!skip) {
            shapes[count] = words[i].token;
            shown[count++] = words[i].canonical;
        }
    }
    if (count < MAX_WORDS)
        return NULL;
    return arena_printf(s->tree->arena, "a stage (%s, %s, %s, %s, ...)", shown[0], shown[1], shown[2], shown[3]);
}

/* Where no sign is accepted, only a number is. */
static const char *shown(const struct situation *s, const struct expectation *expectation)
{
    const bool signless = expectation->token == TOKEN_INT && !expects(s, TOKEN_MINUS);
    return signless ? "a number" : expectation->shown;
}

/* Whether a column was just read where several may be named, as `a..b` too. */
static bool ends_column(const struct situation *s)
{
    const struct trail *trail = s->trail;
    const int last = trail->last.kind;
    const bool column = last == TOKEN_NAME || last == TOKEN_POSITION || last == TOKEN_ALONG;
    return column && trail->previous.kind != TOKEN_IN && trail->previous.kind != TOKEN_NOT_IN &&
           trail->previous.kind != TOKEN_RANGE && !stage_has(s, TOKEN_STAGE_STENCIL);
}

/* Whether the token begins what only some expressions take: `let` within one, the `:` after arguments, which are ranges
 * then, the `..` between columns, and
 * their patterns beside their names. */
static bool is_rare(const struct situation *s, int token)
{
    return (token == TOKEN_LET && !expects(s, TOKEN_DEF)) ||
           (token == TOKEN_COLON && s->trail->brackets > s->trail->outer && expects(s, TOKEN_RP) &&
            !s->trail->ranged) ||
           (token == TOKEN_DOTDOT && ends_column(s)) || (token == TOKEN_SET && expects(s, TOKEN_NAME));
}

/* "a name, `,` or `)`" */
static const char *all_expected(const struct situation *s)
{
    const char *expected[MAX_EXPECTED];
    size_t count = 0;
    const unsigned groups = expected_groups(s);
    const char *stage = stage_words(s);
    if (stage)
        expected[count++] = stage;
    for (size_t i = 0; i < EXPECTATION_COUNT && count < MAX_EXPECTED; i++) {
        const int token = expectations[i].token;
        if (!(expectations[i].covered & groups) && !is_rare(s, token) && expects(s, token))
            expected[count++] = shown(s, &expectations[i]);
    }
    const char *text = count ? expected[0] : "nothing more";
    for (size_t i = 1; i < count; i++)
        text = arena_printf(s->tree->arena, "%s%s%s", text, i + 1 < count ? ", " : " or ", expected[i]);
    return text;
}

static const char *found_shown(const struct situation *s)
{
    switch (s->found.kind) {
    case LEX_EOF:
        return "the end of input";
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
        diag_hint(tree->diags, "integers range from -9223372036854775808 to 9223372036854775807");
        return;
    }
    /* Of two adjacent words the first is wrong if it is similar to one that begins a statement. */
    const char *foreign = hint_on_first_word(&s);
    if (foreign) {
        span = (struct span){tree->source, trail->first.begin, trail->first.end};
        diag_error(tree->diags, span, "unknown command `%s`", token_shown(tree->source, trail->first, tree->arena));
        diag_hint(tree->diags, "%s", foreign);
        return;
    }
    /* Point at the end of the text, not after the blank lines that follow. */
    if (found.kind == LEX_EOF && trail->count > 0)
        span.begin = span.end = trail->last.end;
    diag_error(tree->diags, span, "expected %s, found %s", all_expected(&s), found_shown(&s));
    const char *advice = hint_for(&s);
    if (advice)
        diag_hint(tree->diags, "%s", advice);
}
