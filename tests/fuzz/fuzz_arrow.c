/* libFuzzer target for Arrow files and streams: any bytes are read as columns of valid values, or rejected with one
 * error. */
#include "engine/arrow/arrow.h"
#include "engine/storage/growing_buffer.h"
#include "engine/values/dictionary.h"

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

static void look_at(const struct column *column)
{
    const struct logical_type *logical = &column->logical;
    require((logical->kind == LOGICAL_TEXT) == (logical->dictionary != NULL));
    bool any = false;
    for (int64_t row = 0; row < column->rows; row++) {
        bool is_float = type_table[column->type].kind == KIND_FLOAT, missing = column_is_missing(column, row);
        double number = is_float ? column_get_float(column, row) : 0;
        int64_t integer = is_float ? 0 : column_get_int(column, row);
        any = any || missing;
        if (missing)
            require(number == 0 && integer == 0);
        else if (logical->kind == LOGICAL_TEXT)
            require(integer < logical->dictionary->count);
        if (column->type == TYPE_BOOL)
            require(integer == 0 || integer == 1);
    }
    require(any == (column->validity != NULL));
    for (int64_t code = 1; logical->dictionary && code < logical->dictionary->count; code++)
        require(text_compare(dictionary_text(logical->dictionary, code - 1),
                             dictionary_text(logical->dictionary, code)) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct workers workers = {.threads = 1};
    const struct format_job job = {.workers = &workers, .diags = &diags};
    struct mapping *mapping = mapping_of(data, size);
    struct file_reader *reader = NULL;
    enum status status = open_arrow(&job, mapping, &reader);
    mapping_unref(mapping);
    if (status == STATUS_OK) {
        struct column **columns = arena_array(arena, reader->count, sizeof *columns);
        bool *wanted = arena_array(arena, reader->count, sizeof *wanted);
        memset(wanted, 1, reader->count);
        status = reader->ops->read(reader, &job, wanted, columns);
        for (size_t k = 0; k < reader->count; k++) {
            require((columns[k] != NULL) == (status == STATUS_OK));
            if (!columns[k])
                continue;
            require(columns[k]->rows == reader->rows);
            look_at(columns[k]);
            column_unref(columns[k]);
        }
        reader->ops->close(reader);
    }
    size_t errors = 0;
    for (size_t i = 0; i < diags.count; i++)
        errors += diags.at[i].severity == SEVERITY_ERROR;
    require(errors == (status == STATUS_OK ? 0 : 1));
    arena_free(arena);
    return 0;
}
