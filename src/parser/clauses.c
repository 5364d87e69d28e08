#include "parser/clauses.h"

#include <string.h>

const struct clause_info clause_table[] = {
#define CLAUSE(kind, word, form, values, usage, summary, example) {word, form, values, usage, summary, example},
#include "parser/clauses.def"
};

const size_t clause_count = CLAUSE_KINDS;

static bool is_word(const char *word, size_t word_length, const char *text, size_t length)
{
    return word_length == length && memcmp(word, text, length) == 0;
}

enum clause_kind clause_find(const char *text, size_t length)
{
    size_t i = 0;
    while (i < CLAUSE_KINDS && !is_word(clause_table[i].word, strlen(clause_table[i].word), text, length))
        i++;
    return (enum clause_kind)i;
}

int clause_value(enum clause_kind kind, const char *text, size_t length)
{
    const char *at = clause_table[kind].values;
    for (int number = 0; *at; number++) {
        const size_t word = strcspn(at, " ");
        if (is_word(at, word, text, length))
            return number;
        at += word + (at[word] == ' ');
    }
    return -1;
}
