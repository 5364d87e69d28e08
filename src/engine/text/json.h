/* Scanning JSON lines: one object per line. Format: RFC 8259. */
#ifndef RQL_ENGINE_TEXT_JSON_H
#define RQL_ENGINE_TEXT_JSON_H

#include "base/strbuf.h"
#include "engine/text/table.h"

/* cell_scan for the value of a key; ends at a comma or a brace. NULL: it is no JSON value that ends there. */
const char *json_scan(const char *at, const char *end, struct cell *cell);

/* The start of an object's first key or its closing brace; NULL: no object. */
const char *json_open(const char *at, const char *end);

/* Skips a key and its colon, to its value; `key` is the text between its quotes. NULL: none. */
const char *json_key(const char *at, const char *end, struct cell *key);

/* After an object's closing brace: the end of its line. NULL: something follows. */
const char *json_line_end(const char *at, const char *end);

/* Appends the text of a string with its escapes undone. Those that are no characters, \u0000 and half of a surrogate
 * pair, become what is no text either: a NUL, and three bytes that are not UTF-8. */
void json_decode(struct cell cell, struct strbuf *out);

/* The first such escape of a string, six characters; empty if there is none. */
struct text json_bad_escape(struct cell cell);

#endif
