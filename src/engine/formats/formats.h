/* The table of file formats, by extension, with their readers and writers. A new format is a row in formats.c. */
#ifndef RQL_ENGINE_FORMATS_FORMATS_H
#define RQL_ENGINE_FORMATS_FORMATS_H

#include "engine/storage/atomic_writer.h"
#include "engine/storage/column.h"
#include "engine/storage/file_reader.h"
#include "engine/storage/mapped_file.h"

struct row_style; /* row_encode.h */
struct format {
    const char *extension;         /* ".i32" */
    enum type type;                /* of a raw file's elements; TYPE_COUNT: not a raw format */
    size_t columns;                /* the number of columns of every file; 0: any */
    bool shaped;                   /* needs rows with a shape */
    const struct row_style *style; /* for formats written row by row, else NULL */

    /* Reads the file's columns; the name "" stands for the file's name. NULL: cannot be loaded. Call format_read. */
    enum status (*read)(const struct format_job *job, struct mapping *mapping, struct relation **relation);

    /* Opens a file that is read column by column; then `read` is NULL. The reader holds a reference to the mapping. */
    enum status (*open)(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

    /* Writes all columns. NULL: cannot be saved. Call format_write. */
    enum status (*write)(const struct format_job *job, const struct relation *relation, struct writer *writer);

    const char *summary; /* for help */
};

extern const struct format format_table[];
extern const size_t format_count;

/* The format of the path's extension in any case, or NULL. */
const struct format *format_of_path(const char *path);

/* Whether files of the format are text, whose types and form can be stated. */
bool format_is_text(const struct format *format);

/* Whether reading files of the format asks for the bytes that it needs (mapping_need), its end first. */
bool format_reads_ranges(const struct format *format);

/* Whether files of the format can be loaded. */
bool format_loads(const struct format *format);

/* The word for a format in a query: its extension without the dot. */
const char *format_word(const struct format *format);

/* The format of such a word, or NULL. */
const struct format *format_by_word(const char *word);

/* A hint on how to load or convert a file whose format cannot be loaded, by its extension; NULL: unknown. */
const char *format_advice(const char *path, struct arena *arena);

/* The raw format for elements of this type (u8 for bool). */
const struct format *format_of_type(enum type type);

/* Writes all columns and finishes the file, which the caller publishes. An error if a file that the columns come from
 * has changed. */
enum status format_write(const struct format_job *job, const struct relation *relation, struct writer *writer);

/* Opens a file that is read column by column (`format->open`). If the file changed meanwhile, that is the only error,
 * here and below. */
enum status format_open(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* Reads the wanted columns of a reader of this mapping. */
enum status format_read_columns(const struct format_job *job, struct mapping *mapping, struct file_reader *reader,
                                const bool *wanted, struct column **columns);

/* Reads the columns into *relation, one reference. */
enum status format_read(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* What becomes of what is there. */
enum save_way {
    SAVE_WHOLE,   /* it is replaced; a table only by one of the same columns */
    SAVE_REPLACE, /* it is replaced */
    SAVE_APPEND   /* rows are added to it, a table */
};

enum format_use { FORMAT_READ, FORMAT_WRITE };

/* ".bin .i8 .i16 ...": the extensions of all formats for this use. */
const char *format_extensions(struct arena *arena, enum format_use use);

#endif
