/* The header of a .npy file: a Python dictionary as text with the type and shape of the array. */
#ifndef RQL_ENGINE_FORMATS_NPY_HEADER_H
#define RQL_ENGINE_FORMATS_NPY_HEADER_H

#include "engine/formats/formats.h"

enum { NPY_MAGIC_BYTES = 6, NPY_ALIGNMENT = 64, NPY_MAX_DIMENSIONS = 32 };
extern const char npy_magic[NPY_MAGIC_BYTES + 1];

/* The NumPy name of each element type: "<i4". */
extern const char *const npy_names[TYPE_COUNT];

/* One number of each element; structured arrays have several with names. */
struct npy_field {
    const char *name; /* "" if the array is not structured */
    const char *type; /* its NumPy name */
    bool readable;    /* as elements of `as` at `offset` bytes in each array element */
    bool is_u64;      /* uint64: i64 only if all values fit */
    enum type as;
    size_t offset, size;
};

struct npy_header {
    struct npy_field *fields;
    size_t count;
    bool structured;
    size_t size; /* bytes per element */
    bool fortran;
    int64_t dimensions[NPY_MAX_DIMENSIONS];
    size_t dimension_count;
    size_t data; /* offset of the elements in the file */
};

/* Reads the header at the start of a file. Names are in the diags' arena. An error for an invalid header, big-endian
 * elements and Python objects. */
enum status npy_read_header(const struct format_job *job, const struct mapping *mapping, struct npy_header *header);

#endif
