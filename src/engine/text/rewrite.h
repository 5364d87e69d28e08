/* Text files that are rewritten as CSV before they are read. */
#ifndef RQL_ENGINE_TEXT_REWRITE_H
#define RQL_ENGINE_TEXT_REWRITE_H

#include "engine/storage/file_reader.h"

/* Whether the text begins with a table as clients of databases draw it for people: names and values between `|` or
 * lines of Unicode, below and above rules such as `+----+----+`. */
bool text_is_drawn(const char *text, size_t length);

/* Replaces a drawn table by CSV, without its rules. *gaps: it has rows of points, which stand for others. */
enum status rewrite_drawn(const struct format_job *job, struct mapping **mapping, bool *gaps);

/* Replaces a text whose values are within other quotes than `"`. `separator` 0: it is not known. */
enum status rewrite_quotes(const struct format_job *job, char quote, char separator, struct mapping **mapping);

#endif
