#include "engine/backend/memory_limit.h"

#include "base/integer.h"
#include "base/memory_size.h"
#include "base/spill_area.h"

enum { LEAST_REFUSED = 16 << 20 /* bytes: with less, most statements of small limits are answered */ };

/* "; `/tmp` has 3 GB for the rest", or why it has none. */
static const char *spill_clause(struct buffer_pool *pool, struct arena *arena)
{
    const struct spill_room room = buffer_pool_spill_room(pool);
    if (!pool)
        return "";
    if (room.problem)
        return arena_printf(arena, ", and `%s`, for temporary files, %s", room.directory, room.problem);
    if (room.failed)
        return arena_printf(arena, ", and `%s` takes no temporary file", room.directory);
    return arena_printf(arena, ", and the %.3g GB that are free in `%s`", (double)room.bytes / 1e9, room.directory);
}

static enum status refuse(struct buffer_pool *pool, int64_t rows, int64_t row_bytes, int64_t bytes, const char *what,
                          struct span span, struct diags *diags)
{
    return diag_error_hint(
        diags, span,
        "keep fewer rows with `take` or `select`, compute an aggregate of them, or name a directory on "
        "a disk with more room: `.set temp DIRECTORY`",
        "%lld rows of %lld bytes exceed the %.3g GB of %smemory%s", (long long)rows, (long long)row_bytes,
        (double)bytes / 1e9, what, spill_clause(pool, diags->arena));
}

enum status memory_limit_check(struct buffer_pool *pool, int64_t rows, int64_t left, int64_t row_bytes,
                               struct span span, struct diags *diags)
{
    if (row_bytes == 0)
        return STATUS_OK;
    const int64_t limit = buffer_pool_limit(pool);
    if (rows > limit / row_bytes)
        return refuse(pool, rows, row_bytes, limit, "", span, diags);
    if (left <= limit / row_bytes && system_memory_has(left * row_bytes))
        return STATUS_OK;
    return refuse(pool, left, row_bytes, system_memory_free_bytes(), "free ", span, diags);
}

enum status memory_rows_check(struct buffer_pool *pool, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                              struct diags *diags)
{
    int64_t bytes;
    const bool spills = row_bytes > 0 && !__builtin_mul_overflow(rows, row_bytes, &bytes) &&
                        !buffer_pool_has(pool, bytes) && buffer_pool_takes(pool, bytes);
    return spills ? STATUS_OK : memory_limit_check(pool, rows, left, row_bytes, span, diags);
}

enum status memory_work_check(struct buffer_pool *pool, int64_t bytes, struct span span, struct diags *diags)
{
    if (buffer_pool_takes(pool, bytes))
        return STATUS_OK;
    return diag_error_hint(diags, span, "keep fewer rows with `take` or `select` before it",
                           "this takes %.3g GB of memory, more than the %.3g GB that are free%s", (double)bytes / 1e9,
                           (double)buffer_pool_room(pool) / 1e9, spill_clause(pool, diags->arena));
}

enum status memory_held_check(struct buffer_pool *pool, int64_t bytes, struct span span, struct diags *diags)
{
    /* What comes after it, such as the sort of what it holds, needs about as much again, and more than once. */
    const double megabyte = 1e6, limit = (double)buffer_pool_limit(pool) / megabyte, times = 4;
    if (!pool || bytes < LEAST_REFUSED || buffer_pool_has(pool, bytes))
        return STATUS_OK;
    return diag_error_hint(
        diags, span,
        arena_printf(diags->arena, "`.set memory %.0fMB` raises the limit", limit + times * (double)bytes / megabyte),
        "this needs at least %.0f MB of memory that cannot be spilled, and %.0f of the %.0f MB of `memory` are free",
        (double)bytes / megabyte, (double)buffer_pool_room(pool) / megabyte, limit);
}

void memory_errors_explain(struct buffer_pool *pool, struct diags *diags)
{
    const struct spill_room room = buffer_pool_spill_room(pool);
    for (size_t i = 0; pool && (room.problem || room.failed || room.lacked) && i < diags->count; i++) {
        struct diag *diag = &diags->at[i];
        if (!diag->of_memory)
            continue;
        diag->message = arena_printf(diags->arena, "%s%s", diag->message, spill_clause(pool, diags->arena));
        diag->hint = "`.set temp DIRECTORY` names another directory, on a disk that has room";
    }
}
