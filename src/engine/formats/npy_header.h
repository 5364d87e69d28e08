/* The header of a .npy file: a Python dictionary as text, which says what the array's elements are and how many.
 * Private to npy.c and npy_*.c. */
#ifndef RQL_ENGINE_FORMATS_NPY_HEADER_H
#define RQL_ENGINE_FORMATS_NPY_HEADER_H

#include "engine/formats/formats.h"

enum { NPY_MAGIC_BYTES = 6, NPY_ALIGNMENT = 64, NPY_MAX_DIMENSIONS = 32 };
extern const char npy_magic[NPY_MAGIC_BYTES + 1];

/* NumPy's name for each type of elements: "<i4". */
extern const char *const npy_names[TYPE_COUNT];

/* What there is of each element: one number, or in a structured array several under names. */
struct npy_field {
    const char *name; /* "" if the array is not structured */
    const char *type; /* as NumPy names it */
    bool readable;    /* as elements of `as`, which start `offset` bytes into each element of the array */
    bool is_u64;      /* unsigned, and so i64 only if all values fit */
    enum type as;
    size_t offset, size;
};

struct npy_header {
    struct npy_field *fields;
    size_t count;
    bool structured;
    size_t size; /* of an element */
    bool fortran;
    int64_t dimensions[NPY_MAX_DIMENSIONS];
    size_t dimension_count;
    size_t data; /* where the elements begin */
};

/* Reads it from the start of a file. Names are in the diags' arena. An error for what is no such file, for big-endian
 * elements and for objects of Python. */
enum status npy_read_header(const struct format_job *job, const struct mapping *mapping, struct npy_header *header);

#endif
