/* Words of other shells and languages that people try here, with the word that does it. */
#ifndef RQL_PARSER_FOREIGN_H
#define RQL_PARSER_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

enum foreign_place {
    FOREIGN_STAGE,     /* where a stage is expected */
    FOREIGN_STATEMENT, /* at the beginning of a statement */
    FOREIGN_OPERATOR,  /* between operands; signs, too */
    FOREIGN_FUNCTION,  /* before the brackets of a call */
    FOREIGN_VALUE      /* as an operand */
};

/* Advice on a word, as a hint; NULL: none. Words are compared without regard to case. */
const char *foreign_advice(const char *text, size_t length, enum foreign_place place);

#endif
