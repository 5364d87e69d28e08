/* Text files of values: .csv, .tsv, .jsonl and .txt, read column by column. The functions are `open` of formats.h.
 *
 * A column's type is found from all of its values: i64 if all are integers, f64 if they are numbers, bool if they are
 * true or false, date, timestamp, else text. Opening counts the rows, names the columns and guesses types from the
 * first rows; reading parses only the wanted columns, and again those whose type was guessed wrong.
 *
 * Missing is a cell that is blank or, except in text columns, `NA`, `NULL`, `N/A`, `#N/A`, `None`, `-`, `?` or `\N`,
 * in any case of letters. `nan` is a float. A column in which a zero leads another digit (00501) or an integer exceeds
 * 64 bits is text. The first line names the columns unless its cells fit the types of the columns below it. A byte
 * order mark, \r before newlines, white space around values other than text, and blank lines (unless there is one
 * column) are ignored. What was missing, and what made a column text that began otherwise, is noted.
 *
 * What else is unusual, such as a title above the names, is found (beginning.c), noted, or stated by clauses
 * (storage/text_options.h).
 *
 * Errors, with line and column: lines with more or fewer cells than the first, unbalanced quotes, text that is not
 * UTF-8, values that are not of a stated type. */
#ifndef RQL_ENGINE_TEXT_TEXT_FILES_H
#define RQL_ENGINE_TEXT_TEXT_FILES_H

#include "engine/storage/file_reader.h"

/* Cells separated by commas, semicolons, tabs or bars, whichever the first line has most of; optionally quoted, as in
 * RFC 4180. */
enum status open_csv(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* Cells separated by tabs, with the escapes \t, \n, \r and \\ in names and text. A cell in quotes is quoted. */
enum status open_tsv(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* JSON objects: one per line, in one array, or one after another, each of several lines. Columns are the paths of all
 * keys; null and absent keys are missing, arrays are lists (json_keys.h). */
enum status open_jsonl(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* What gives a text piece by piece: as many bytes as there is room for, unless the text ends. */
struct text_pieces {
    bool (*next)(void *context, char *to, size_t room, size_t *written, bool *ends); /* false: it fails */
    void *context;
};

struct growing_buffer; /* engine/storage/growing_buffer.h */

/* Writes JSON lines as they are, but leaves out of records those values that none of the mentioned paths is a path of,
 * or to, or from. A record that has something which none before it has stays whole, so that what is written has the
 * columns that all of it has. False: a line is no object, it fails, is cancelled, or there is no memory. */
bool text_keep_mentioned(const struct text_pieces *pieces, const struct mentioned *mentioned,
                         const struct workers *workers, struct growing_buffer *buffer);

/* One value per line, without a name. An empty file is a column without rows. */
enum status open_text(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

#endif
