/* Words of other shells and languages, with hints at the word to use here. */
#ifndef RQL_PARSER_FOREIGN_H
#define RQL_PARSER_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

enum foreign_place {
    FOREIGN_STAGE,     /* as a stage */
    FOREIGN_STATEMENT, /* at the start of a statement */
    FOREIGN_OPERATOR,  /* between operands; includes signs */
    FOREIGN_FUNCTION,  /* before the parentheses of a call */
    FOREIGN_VALUE,     /* as an operand */
    FOREIGN_PREFIX     /* before quoted text, with which it forms a literal */
};

/* The hint for a word at this place, in any case; NULL if none. */
const char *foreign_advice(const char *text, size_t length, enum foreign_place place);

#endif
