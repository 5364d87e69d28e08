/* Words of other shells and languages that people try here, with the word that does it. */
#ifndef RQL_PARSER_FOREIGN_H
#define RQL_PARSER_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Advice on a word, as a hint, where a stage is expected or, with `begins`, at the beginning of a statement. NULL:
 * none. Words are compared without regard to case. */
const char *foreign_advice(const char *text, size_t length, bool begins);

#endif
