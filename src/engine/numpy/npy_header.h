/* The header of a .npy file: a Python dictionary as text with the type and shape of the array. */
#ifndef RQL_ENGINE_NUMPY_NPY_HEADER_H
#define RQL_ENGINE_NUMPY_NPY_HEADER_H

#include "engine/formats/formats.h"

enum { NPY_MAGIC_BYTES = 6, NPY_ALIGNMENT = 64, NPY_MAX_DIMENSIONS = 32 };
extern const char npy_magic[NPY_MAGIC_BYTES + 1];

/* How the elements of a field are read. */
enum npy_reading {
    NPY_NOT_READ,
    NPY_AS_IS,  /* the elements of `as` */
    NPY_U64,    /* i64, if all values fit */
    NPY_TIME,   /* i64 times `multiply`, divided by `divide` and rounded down; the least i64 is a missing value */
    NPY_BYTES,  /* UTF-8, filled up with NUL */
    NPY_UNICODE /* code points of 4 bytes, filled up with NUL */
};

/* One value of each element; structured arrays have several with names. */
struct npy_field {
    const char *name; /* "" if the array is not structured */
    const char *type; /* its NumPy name */
    enum npy_reading reading;
    enum type as; /* of the column; text: TYPE_U32 */
    struct logical_type logical;
    int64_t multiply, divide; /* one of them is 1 */
    size_t offset, size;      /* bytes, in each element of the array */
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

/* Reads the header at the start of `data`, of which `length` bytes are there; `path` is the file's name in errors.
 * Names are in the diags' arena. An error for an invalid header, big-endian elements and Python objects. */
enum status npy_read_header(const struct format_job *job, const char *path, const void *data, size_t length,
                            struct npy_header *header);

#endif
