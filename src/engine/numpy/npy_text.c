/* Fields of text: strings of one width, filled up with NUL, in UTF-8 or as code points. */
#include "engine/numpy/npy_array.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/zeroed.h"
#include "engine/values/dictionary.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 16, POINT_BYTES = 4 };

struct text_copy {
    const struct npy_array *array;
    const struct npy_field *field;
    struct interner **interners; /* of each thread */
    uint32_t **maps;
    uint32_t *numbers; /* of each row's string, in its thread's interner */
    int *members;      /* the thread of each part */
    struct column *column;
    _Atomic int64_t bad; /* the first row that is not UTF-8, or the number of rows */
};

/* The string at `from`, in *buffer if it is not UTF-8 already; false if it is no valid text. */
static bool read_text(const struct npy_field *field, const char *from, struct strbuf *buffer, struct text *text)
{
    size_t length = field->size;
    if (field->reading == NPY_BYTES) {
        while (length > 0 && from[length - 1] == '\0')
            length--;
        *text = (struct text){from, length};
        return utf8_is_valid(from, length);
    }
    static const char zero[POINT_BYTES];
    while (length > 0 && memcmp(from + length - POINT_BYTES, zero, POINT_BYTES) == 0)
        length -= POINT_BYTES;
    char *begin = strbuf_reserve(buffer, length), *at = begin; /* no longer in UTF-8 */
    for (size_t i = 0; i < length; i += POINT_BYTES) {
        uint32_t code;
        memcpy(&code, from + i, sizeof code);
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return false;
        at += utf8_encode(code, at);
    }
    *text = (struct text){begin, (size_t)(at - begin)};
    return true;
}

static int64_t part_end(const struct text_copy *copy, int64_t part)
{
    const int64_t begin = part * PART_ROWS;
    return copy->array->rows - begin < PART_ROWS ? copy->array->rows : begin + PART_ROWS;
}

static void intern_part(void *context, int member, int64_t part)
{
    struct text_copy *copy = context;
    if (!copy->interners[member])
        copy->interners[member] = interner_new();
    copy->members[part] = member;
    struct strbuf buffer = {0};
    for (int64_t row = part * PART_ROWS, end = part_end(copy, part); row < end; row++) {
        struct text text;
        const char *from = copy->array->data + (size_t)row * copy->array->header.size + copy->field->offset;
        if (!read_text(copy->field, from, &buffer, &text)) {
            int64_t bad = copy->bad;
            while (row < bad && !atomic_compare_exchange_weak(&copy->bad, &bad, row))
                continue;
            break;
        }
        copy->numbers[row] = interner_add(copy->interners[member], text);
    }
    strbuf_free(&buffer);
}

static void translate_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct text_copy *copy = context;
    const uint32_t *map = copy->maps[copy->members[part]];
    for (int64_t row = part * PART_ROWS, end = part_end(copy, part); row < end; row++) {
        uint32_t code = map[copy->numbers[row]];
        memcpy(column_at(copy->column, row), &code, type_table[copy->column->type].size);
    }
}

static enum status no_memory(const struct text_copy *copy)
{
    return diag_no_memory(copy->array->job->diags, copy->array->job->span, "not enough memory for `%s`",
                          copy->array->path);
}

static enum status fill(struct text_copy *copy, int64_t parts)
{
    const struct npy_array *array = copy->array;
    const struct workers *workers = array->job->workers;
    copy->bad = array->rows;
    if (!workers_run(workers, parts, intern_part, copy))
        return STATUS_CANCELLED;
    if (copy->bad < array->rows)
        return diag_error(array->job->diags, array->job->span, "`%s`, row %lld: the text is not valid Unicode",
                          array->path, (long long)copy->bad);
    struct dictionary *dictionary =
        dictionary_of_interners(copy->interners, (size_t)workers->threads, copy->maps, workers);
    if (!dictionary && workers_cancelled(workers))
        return STATUS_CANCELLED;
    if (!dictionary)
        return diag_error(array->job->diags, array->job->span, "`%s` has too many distinct texts", array->path);
    copy->column = column_reserve_codes(NULL, dictionary, array->rows);
    dictionary_unref(dictionary);
    if (!copy->column)
        return no_memory(copy);
    if (!workers_run(workers, parts, translate_part, copy))
        return STATUS_CANCELLED;
    column_finish(copy->column, array->rows);
    return STATUS_OK;
}

enum status npy_text_column(const struct npy_array *array, const struct npy_field *field, struct column **column)
{
    struct text_copy copy = {.array = array, .field = field};
    size_t threads = (size_t)array->job->workers->threads, size = (size_t)(array->rows + 1) * sizeof *copy.numbers;
    const int64_t parts = (array->rows + PART_ROWS - 1) / PART_ROWS;
    copy.interners = heap_array(threads, sizeof *copy.interners);
    copy.maps = heap_array(threads, sizeof *copy.maps);
    copy.members = heap_array((size_t)parts, sizeof *copy.members);
    copy.numbers = zeroed_alloc(size);
    const enum status status = copy.numbers ? fill(&copy, parts) : no_memory(&copy);
    if (status == STATUS_OK)
        *column = copy.column;
    else
        column_unref(copy.column);
    for (size_t t = 0; t < threads; t++) {
        interner_free(copy.interners[t]);
        free(copy.maps[t]);
    }
    free(copy.interners);
    free(copy.maps);
    free(copy.members);
    zeroed_free(copy.numbers, size);
    return status;
}
