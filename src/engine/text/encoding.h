/* Text files that are not UTF-8. */
#ifndef RQL_ENGINE_TEXT_ENCODING_H
#define RQL_ENGINE_TEXT_ENCODING_H

#include "engine/storage/file_reader.h"

/* UTF-16 by a byte order mark, "utf16"; else NULL. */
const char *encoding_of_mark(const char *text, size_t length);

/* An encoding of one byte a character that text with these bytes may have. */
const char *encoding_guess(const char *text, size_t length);

/* Replaces a mapping, and its reference, by one of the text in UTF-8. Halves of surrogate pairs become bytes that are
 * not UTF-8, so that what reads them tells where they are. */
enum status encoding_convert(const struct format_job *job, const char *encoding, struct mapping **mapping);

#endif
