
#include "base/heap.h"
#include "engine/formats/row_formats.h"
#include "engine/numpy/npy.h"
#include "engine/numpy/zip.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 20 };

/* One column on its way into the archive: twice, first for the checksum, which comes before the content. */
struct pass {
    struct zip_writer *zip; /* NULL: only the checksum */
    uint32_t checksum;
    const struct workers *workers;
};

static bool put(struct pass *pass, const void *data, size_t size)
{
    if (workers_cancelled(pass->workers))
        return false;
    if (pass->zip)
        zip_add(pass->zip, data, size);
    else
        pass->checksum = zip_checksum(pass->checksum, data, size);
    return true;
}

/* Returns false if cancelled. */
static bool put_elements(struct pass *pass, const struct column *column, size_t width)
{
    const int64_t chunk = (int64_t)(CHUNK_BYTES / width) + 1;
    bool stored = npy_is_as_stored(column), more = true;
    char *bytes = stored ? NULL : heap_array((size_t)chunk, width);
    for (int64_t begin = 0; begin < column->rows && more; begin += chunk) {
        const int64_t count = column->rows - begin < chunk ? column->rows - begin : chunk;
        for (int64_t i = 0; i < count && !stored; i++)
            npy_encode(column, width, begin + i, bytes + (size_t)i * width);
        more = put(pass, stored ? (const char *)column->data + (size_t)begin * width : bytes, (size_t)count * width);
    }
    free(bytes);
    return more;
}

static enum status put_array(struct zip_writer *zip, const struct column *column, const char *name,
                             const struct workers *workers)
{
    struct strbuf head = {0}, entry = {0};
    const size_t width = npy_width(column);
    npy_add_column_header(&head, column, width);
    add_clean_name(&entry, name);
    strbuf_puts(&entry, ".npy");
    struct pass first = {.workers = workers}, second = {.zip = zip, .workers = workers};
    bool more = put(&first, head.text, head.length) && put_elements(&first, column, width);
    if (more) {
        zip_begin(zip, entry.text, head.length + (uint64_t)column->rows * width, first.checksum);
        more = put(&second, head.text, head.length) && put_elements(&second, column, width);
    }
    strbuf_free(&head);
    strbuf_free(&entry);
    return more ? STATUS_OK : STATUS_CANCELLED;
}

/* The length of a name has 16 bits. */
static enum status check_lengths(const struct format_job *job, const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        struct strbuf name = {0};
        add_clean_name(&name, relation->names[k]);
        const size_t length = name.length;
        strbuf_free(&name);
        if (length > INT16_MAX)
            return diag_error(job->diags, job->span, "the name of column %zu is too long for an .npz file", k);
    }
    return STATUS_OK;
}

enum status write_npz(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    enum status status = npy_check(relation, job->span, job->diags);
    if (status == STATUS_OK)
        status = check_lengths(job, relation);
    struct zip_writer zip = {.writer = writer};
    for (size_t k = 0; k < relation->count && status == STATUS_OK; k++)
        status = put_array(&zip, relation->columns[k], relation->names[k], job->workers);
    if (status == STATUS_OK)
        zip_finish(&zip);
    zip_free(&zip);
    return status;
}
