/* The elements of a NumPy array as columns. */
#ifndef RQL_ENGINE_NUMPY_NPY_ARRAY_H
#define RQL_ENGINE_NUMPY_NPY_ARRAY_H

#include "engine/numpy/npy_header.h"

struct npy_array {
    const struct format_job *job;
    const char *path;          /* for errors */
    struct mapping *mapping;   /* that holds the elements; borrowed */
    struct mapping *reordered; /* that mapping, where the file's has another order; owned; or NULL */
    const char *data;          /* the elements, in the mapping, the last index running fastest */
    struct npy_header header;
    int64_t rows;
};

/* Reads the header of an array of `length` bytes, of which the first `there` are at `data`, and checks that the rest
 * has its elements. An error also if it has more than MOST_AXES dimensions. */
enum status npy_array_describe(struct npy_array *array, const void *data, size_t there, size_t length);

/* Reads an array that fills the mapping from byte `offset` on for `length` bytes. Close it, also after an error. */
enum status npy_array_open(struct npy_array *array, struct mapping *mapping, size_t offset, size_t length);
void npy_array_close(struct npy_array *array);

/* A column of the values of a field that can be read: one reference. Numbers stay in place if they can. */
enum status npy_array_column(const struct npy_array *array, const struct npy_field *field, struct column **column);

/* For npy_array_column, a field of text. Defined in npy_text.c. */
enum status npy_text_column(const struct npy_array *array, const struct npy_field *field, struct column **column);

#endif
