/* libFuzzer target for Arrow files and streams: any bytes are read as columns of valid values, or rejected with one
 * error. */
#include "fuzzed_file.h"

#include "engine/arrow/arrow.h"
#include "engine/values/dictionary.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct column *column, int64_t rows)
{
    require(column->rows == rows);
    const struct logical_type *logical = &column->logical;
    require((logical->kind == LOGICAL_TEXT) == (logical->dictionary != NULL));
    if (logical->kind == LOGICAL_LIST)
        look_at_lists(column, look_at);
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
            look_at(columns[k], columns[k]->rows);
            column_unref(columns[k]);
        }
        reader->ops->close(reader);
    }
    check_told(&diags, status);
    arena_free(arena);
    return 0;
}
