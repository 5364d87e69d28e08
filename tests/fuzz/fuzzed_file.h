/* What the fuzzers of file formats share. Every function is static inline because a fuzzer is one source file. */
#ifndef RQL_TESTS_FUZZED_FILE_H
#define RQL_TESTS_FUZZED_FILE_H

#include "base/buffer_pool.h"
#include "base/diag.h"
#include "engine/storage/growing_buffer.h"
#include "engine/storage/list_store.h"
#include "engine/storage/mapped_file.h"

#include <stdlib.h>
#include <string.h>

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* The bytes as a file. */
static inline struct mapping *mapping_of(const uint8_t *data, size_t size)
{
    enum { PAGE = 4096 };
    struct growing_buffer buffer = {.used = size};
    if (size) {
        void *memory = buffer_pool_alloc(NULL, (size + PAGE - 1) / PAGE * PAGE, &buffer.size);
        require(memory != NULL);
        buffer.data = memcpy(memory, data, size);
    }
    return mapping_from_buffer("fuzz", (struct file_stamp){.size = (int64_t)size}, &buffer);
}

/* What fails records one error since there were `before` records, what succeeds none. */
static inline void check_told_since(const struct diags *diags, size_t before, enum status status)
{
    size_t errors = 0;
    for (size_t i = before; i < diags->count; i++)
        errors += diags->at[i].severity == SEVERITY_ERROR;
    require(errors == (status == STATUS_OK ? 0 : 1));
}

static inline void check_told(const struct diags *diags, enum status status)
{
    check_told_since(diags, 0, status);
}

/* Each list is within the elements, at whose columns `look_at` looks. */
static inline void look_at_lists(const struct column *column,
                                 void (*look_at)(const struct column *column, int64_t rows))
{
    const struct list_store *store = column->logical.lists;
    require(store != NULL && store->count >= 1 && store->starts->rows == store->count);
    const struct relation *elements = store->elements;
    for (int64_t row = 0; row < column->rows; row++) {
        const int64_t list = column_get_int(column, row);
        require(list >= 0 && list < store->count);
        const int64_t start = column_get_int(store->starts, list), length = column_get_int(store->lengths, list);
        require(start >= 0 && length >= 0 && start + length <= elements->rows);
    }
    for (size_t k = 0; k < elements->count; k++)
        look_at(elements->columns[k], elements->rows);
}

#endif
