/* What the fuzzers of file formats share. Every function is static inline because a fuzzer is one source file. */
#ifndef RQL_TESTS_FUZZED_FILE_H
#define RQL_TESTS_FUZZED_FILE_H

#include "base/diag.h"
#include "engine/storage/growing_buffer.h"
#include "engine/storage/mapped_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* The bytes as a file. */
static inline struct mapping *mapping_of(const uint8_t *data, size_t size)
{
    struct growing_buffer buffer = {.used = size, .size = size};
    if (size) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        require(memory != MAP_FAILED);
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

#endif
