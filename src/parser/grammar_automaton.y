/* The automaton of the grammar, for other files of the parser (automaton.h): the last part of grammar.y. It is part of
 * the generated file, because the tables and functions that it reads are static there. */

%code {
struct automaton {
    yyParser parser;
};

struct automaton *automaton_new(struct tree *tree)
{
    struct automaton *automaton = heap_resize(NULL, 1, sizeof *automaton);
    statementInit(&automaton->parser, tree);
    return automaton;
}

void automaton_free(struct automaton *automaton)
{
    statementFinalize(&automaton->parser);
    free(automaton);
}

void automaton_reset(struct automaton *automaton)
{
    statementFinalize(&automaton->parser);
    statementInit(&automaton->parser, automaton->parser.tree);
}

void automaton_feed(struct automaton *automaton, int kind, struct token token)
{
    statement(&automaton->parser, kind, token);
}

/* The state's action on the token: yy_find_shift_action without the fallback of words to names. */
static YYACTIONTYPE plain_action(YYCODETYPE kind, YYACTIONTYPE state)
{
    if (state > YY_MAX_SHIFT)
        return state;
    int at = yy_shift_ofst[state] + kind;
    return yy_lookahead[at] == kind ? yy_action[at] : yy_default[state];
}

/* Replays on the side what feeding the token would do, as in Bison's "lookahead correction": reductions by default
 * may come before an error shows, so the table's entry for the topmost state does not answer the question. States
 * that the replay pushes lie above what is left of the real stack. A reduction that pops less than it pushes is one
 * of an empty rule; the grammar has at most three of them in a row, so a few places suffice. */
static bool can_shift(const yyParser *parser, YYCODETYPE kind, bool as_name)
{
    enum { MAX_PUSHED = 16 };
    YYACTIONTYPE pushed[MAX_PUSHED];
    size_t count = 0;
    const yyStackEntry *below = parser->yytos;

    for (;;) {
        YYACTIONTYPE state = count ? pushed[count - 1] : below->stateno;
        YYACTIONTYPE action = as_name ? yy_find_shift_action(kind, state) : plain_action(kind, state);
        if (action <= YY_MAX_SHIFTREDUCE || action == YY_ACCEPT_ACTION)
            return true;
        if (action < YY_MIN_REDUCE)
            return false;

        unsigned rule = (unsigned)action - YY_MIN_REDUCE;
        size_t size = (size_t)-yyRuleInfoNRhs[rule];
        size_t popped = size < count ? size : count;
        count -= popped;
        below -= size - popped;
        if (count == MAX_PUSHED)
            return false;
        state = count ? pushed[count - 1] : below->stateno;
        pushed[count++] = yy_find_reduce_action(state, yyRuleInfoLhs[rule]);
    }
}

bool automaton_accepts(const struct automaton *automaton, int kind)
{
    return can_shift(&automaton->parser, (YYCODETYPE)kind, true);
}

bool automaton_expects(const struct automaton *automaton, int kind)
{
    return can_shift(&automaton->parser, (YYCODETYPE)kind, statementFallback(kind) == 0);
}
}
