/* Lines of KQL: a source, then stages. */
#include "repl/rewrite/chain.h"

/* Whether stages or operators are those of KQL alone. */
bool is_kql(const struct translator *t, size_t at)
{
    if (token_at(t, at)->kind != REWRITE_WORD || !token_is(t, at + 1, "|"))
        return false;
    for (size_t i = at + 1; i < t->end; i = find_word(t, i, "|")) {
        i++;
        struct translator stage = *t;
        stage.end = find_word(t, i, "|");
        const size_t end = stage.end;
        if (token_is(t, i, "summarize") ||
            (token_is(t, i, "project") && (token_is(t, i + 1, "-") || find_word(t, i, "=") < end)) ||
            (token_is(t, i, "join") && token_is(t, i + 1, "kind")))
            return true;
        const size_t word = find_word(
            &stage, i, "contains contains_cs startswith endswith has datetime ago iff strcat isnotnull isnull");
        if ((token_is(t, i, "where") || token_is(t, i, "extend")) && word < end && !token_is(t, word - 1, "."))
            return true;
        const size_t range = find_word(&stage, i, "between");
        if ((range < end && token_is(t, range + 1, "(")) ||
            (token_is(t, i, "extend") && find_word(&stage, i, "/") < end))
            return true;
    }
    return false;
}

const char *translate_kql(struct translator *t)
{
    t->dialect = DIALECT_KQL;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    const size_t end = t->end;
    while (t->at < end && accept(t, "|")) {
        const char *word = token_text(t, t->at++);
        t->end = find_word(t, t->at, "|");
        if (!chain_verb(t, &chain, VERB_KQL, word, t->end, NULL))
            return NULL;
        t->end = end;
    }
    return chain.text;
}
