/* File formats as a table: what an ending means, and who reads and writes it. A new format is a row here. */
#ifndef RQL_ENGINE_FORMATS_H
#define RQL_ENGINE_FORMATS_H

#include "column.h"
#include "mapfile.h"
#include "writer.h"

struct row_style; /* encode.h */

struct format {
    const char *ending;            /* ".i32" */
    enum type type;                /* of a raw file's elements; TYPE_COUNT for formats that are not raw */
    size_t columns;                /* holds exactly so many columns; 0: any number */
    bool shaped;                   /* holds rows that have a shape only */
    const struct row_style *style; /* of its lines, for text formats that can be saved */

    /* Gives the file's columns, with "" for the name of a column that is called after the file. NULL: cannot be loaded.
     */
    enum status (*read)(const struct format *format, struct mapping *mapping, struct span span,
                        struct relation **relation, struct diags *diags);

    /* Writes all columns; nothing else is needed before or after. NULL: cannot be saved. */
    enum status (*write)(const struct format *format, const struct relation *relation, struct writer *writer,
                         struct span span, struct diags *diags);
};

/* The format that the path's ending says, or NULL. */
const struct format *format_of_path(const char *path);

/* The raw format of this type's elements (of u8 for bool). */
const struct format *format_of_type(enum type type);

/* Writes all columns and makes the file durable, to be published by the caller. An error if a file that the columns
 * come from has changed meanwhile. */
enum status format_write(const struct format *format, const struct relation *relation, struct writer *writer,
                         struct span span, struct diags *diags);

enum format_use { FORMAT_READ, FORMAT_WRITE };

/* ".bin .i8 .i16 ...": the endings of all formats of this use. */
const char *format_endings(struct arena *arena, enum format_use use);

#endif
