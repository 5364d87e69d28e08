/* File formats as a table: what an ending means, and who reads and writes it. A new format is a row here. */
#ifndef RQL_ENGINE_FORMATS_FORMATS_H
#define RQL_ENGINE_FORMATS_FORMATS_H

#include "base/parallel.h"
#include "engine/storage/atomic_writer.h"
#include "engine/storage/column.h"
#include "engine/storage/mapped_file.h"

struct row_style; /* row_encode.h */
struct format;

/* What reading or writing one file needs to know. */
struct format_job {
    const struct format *format;
    const struct workers *workers; /* who may work on it */
    struct span span;              /* the path in the query, for errors */
    struct diags *diags;
};

struct format {
    const char *ending;            /* ".i32" */
    enum type type;                /* of a raw file's elements; TYPE_COUNT for formats that are not raw */
    size_t columns;                /* holds exactly so many columns; 0: any number */
    bool shaped;                   /* holds rows that have a shape only */
    const struct row_style *style; /* of its rows, for formats that are written row by row */

    /* Gives the file's columns, with "" for the name of a column that is called after the file. NULL: cannot be loaded.
     */
    enum status (*read)(const struct format_job *job, struct mapping *mapping, struct relation **relation);

    /* Writes all columns; nothing else is needed before or after. NULL: cannot be saved. */
    enum status (*write)(const struct format_job *job, const struct relation *relation, struct writer *writer);

    const char *summary; /* for help */
};

extern const struct format format_table[];
extern const size_t format_count;

/* The format that the path's ending says, in whichever case, or NULL. */
const struct format *format_of_path(const char *path);

/* The word that states a format in a query: its ending without the dot. */
const char *format_word(const struct format *format);

/* The format that such a word states, or NULL. */
const struct format *format_by_word(const char *word);

/* How to bring a file of this ending, of a format that cannot be loaded, here; NULL: nothing is known of it. */
const char *format_advice(const char *ending);

/* The raw format of this type's elements (of u8 for bool). */
const struct format *format_of_type(enum type type);

/* Writes all columns and makes the file durable, to be published by the caller. An error if a file that the columns
 * come from has changed meanwhile. */
enum status format_write(const struct format_job *job, const struct relation *relation, struct writer *writer);

enum format_use { FORMAT_READ, FORMAT_WRITE };

/* ".bin .i8 .i16 ...": the endings of all formats of this use. */
const char *format_endings(struct arena *arena, enum format_use use);

#endif
