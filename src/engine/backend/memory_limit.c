#include "engine/backend/memory_limit.h"

#include "base/memory_size.h"

int64_t memory_limit_bytes(int64_t told)
{
    return told > 0 ? told : system_memory_bytes();
}

static enum status refuse(int64_t rows, int64_t row_bytes, double room, const char *what, struct span span,
                          struct diags *diags)
{
    diag_error(diags, span, "%lld rows of %lld bytes are more than the %.3g GB of memory%s", (long long)rows,
               (long long)row_bytes, room / 1e9, what);
    diag_hint(diags, "end with what needs no rows, as `sum` or `count`, or keep fewer with `take` or `select`");
    return STATUS_FAILED;
}

enum status memory_limit_check(int64_t told, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                               struct diags *diags)
{
    if (row_bytes == 0 || (told == 0 && rows <= MEMORY_UNCHECKED_BYTES / row_bytes))
        return STATUS_OK;
    int64_t room = memory_limit_bytes(told);
    if (rows > room / row_bytes)
        return refuse(rows, row_bytes, (double)room, "", span, diags);
    if (left <= room / row_bytes && system_memory_has(left * row_bytes))
        return STATUS_OK;
    return refuse(left, row_bytes, (double)system_memory_free_bytes(), " that are free", span, diags);
}
