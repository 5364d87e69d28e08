/* Reading the literals of dates, times, durations and text, and of floats as decimals. */
#ifndef RQL_PARSER_LITERAL_H
#define RQL_PARSER_LITERAL_H

#include "parser/token.h"

/* The state of reading a token. */
struct token_reader {
    const struct source *source;
    struct arena *arena;
    struct diags *diags;
    struct lexeme *lexeme;
    const char *text; /* of the lexeme */
    size_t length;
};

/* Each reads a lexeme of its kind into *token. Returns false with an error recorded if it has no value, as 2024-02-30.
 */
bool literal_date(const struct token_reader *r, struct token *token);
bool literal_timestamp(const struct token_reader *r, struct token *token);
bool literal_duration(const struct token_reader *r, struct token *token); /* also of months */
bool literal_text(const struct token_reader *r, struct token *token);

/* Records the error of a LEX_BAD_TIME. */
void literal_bad_time(const struct token_reader *r);

/* Advice on a LEX_BAD_NUMBER that may be meant as a duration, or NULL. */
const char *literal_unit_advice(const char *text, size_t length);

/* Whether a float's text is a decimal: without an exponent, at most 18 digits and so many after the point. Sets the
 * digits as an integer, and how many follow the point: 0.05 is 5 of scale 2. */
bool literal_decimal(const char *text, size_t length, int64_t *digits, uint8_t *scale);

/* Helpers of token.c: the lexeme's span and its text for messages; whether all its bytes are text, else adds an error.
 */
struct span token_reader_span(const struct token_reader *r);
const char *token_reader_shown(const struct token_reader *r);
bool token_reader_is_text(const struct token_reader *r);

#endif
