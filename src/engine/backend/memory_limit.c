#include "engine/backend/memory_limit.h"

#include "base/integer.h"
#include "base/memory_size.h"

int64_t memory_limit_bytes(int64_t limit)
{
    return limit > 0 ? limit : system_memory_bytes();
}

static enum status refuse(int64_t rows, int64_t row_bytes, double bytes, const char *what, struct span span,
                          struct diags *diags)
{
    return diag_error_hint(diags, span,
                           "end with an aggregate such as `sum` or `count`, or keep fewer rows with `take` or `select`",
                           "%lld rows of %lld bytes exceed the %.3g GB of %smemory", (long long)rows,
                           (long long)row_bytes, bytes / 1e9, what);
}

enum status memory_limit_check(int64_t limit, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                               struct diags *diags)
{
    if (row_bytes == 0 || (limit == 0 && rows <= MEMORY_UNCHECKED_BYTES / row_bytes))
        return STATUS_OK;
    const int64_t bytes = memory_limit_bytes(limit);
    if (rows > bytes / row_bytes)
        return refuse(rows, row_bytes, (double)bytes, "", span, diags);
    if (left <= bytes / row_bytes && system_memory_has(left * row_bytes))
        return STATUS_OK;
    return refuse(left, row_bytes, (double)system_memory_free_bytes(), "free ", span, diags);
}

enum status memory_work_check(int64_t limit, int64_t bytes, struct span span, struct diags *diags)
{
    if ((limit == 0 || bytes <= limit) && system_memory_has(bytes))
        return STATUS_OK;
    const int64_t free_bytes = min_int64(memory_limit_bytes(limit), system_memory_free_bytes());
    return diag_error_hint(diags, span, "keep fewer rows with `take` or `select` before it",
                           "this takes %.3g GB of memory, more than the %.3g GB that are free", (double)bytes / 1e9,
                           (double)free_bytes / 1e9);
}
