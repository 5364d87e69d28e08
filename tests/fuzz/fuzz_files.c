/* libFuzzer target for the formats: any bytes are read as columns, or rejected with one error. The first byte selects
 * the format; every element is read back. */
#include "engine/formats/formats.h"
#include "engine/storage/compression.h"
#include "engine/storage/growing_buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct mapping *mapping_of(const uint8_t *data, size_t size)
{
    struct growing_buffer buffer = {.used = size, .size = size};
    if (size) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        require(memory != MAP_FAILED);
        buffer.data = memcpy(memory, data, size);
    }
    return mapping_from_buffer("fuzz", (struct file_stamp){.size = (int64_t)size}, &buffer);
}

static void look_at(const struct relation *relation)
{
    require(relation->count > 0);
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        require(column->rows == relation->rows);
        for (int64_t row = 0; row < column->rows; row++) {
            int64_t integer = type_table[column->type].kind == KIND_FLOAT ? 0 : column_get_int(column, row);
            require(!column->range_known || (column->lo <= integer && integer <= column->hi));
            if (type_table[column->type].kind == KIND_FLOAT)
                (void)column_get_float(column, row);
        }
    }
}

static void check_told(const struct diags *diags, enum status status)
{
    size_t errors = 0;
    for (size_t i = 0; i < diags->count; i++)
        errors += diags->at[i].severity == SEVERITY_ERROR;
    require(errors == (status == STATUS_OK ? 0 : 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct compression *const compressions[] = {NULL, NULL, &compression_gzip, &compression_zstd};
    const struct format *formats[64];
    size_t count = 0;
    for (size_t i = 0; i < format_count && count < 64; i++) {
        if (format_loads(&format_table[i]))
            formats[count++] = &format_table[i];
    }
    if (size < 2)
        return 0;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct workers workers = {.threads = 1};
    const struct format_job job = {formats[data[0] % count], &workers, {0}, &diags, NULL};
    const struct compression *compression = compressions[data[1] % 4];
    struct mapping *mapping = mapping_of(data + 2, size - 2);
    struct relation *relation = NULL;
    enum status status =
        compression ? compression_open(compression, &mapping, &workers, (struct span){0}, &diags) : STATUS_OK;
    if (status == STATUS_OK)
        status = format_read(&job, mapping, &relation);
    check_told(&diags, status);
    require((relation != NULL) == (status == STATUS_OK));
    if (relation)
        look_at(relation);
    relation_unref(relation);
    mapping_unref(mapping);
    arena_free(arena);
    return 0;
}
