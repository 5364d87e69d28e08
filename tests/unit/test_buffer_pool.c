#include "scratch.h"

#include "base/buffer_pool.h"
#include "base/spill_area.h"
#include "engine/storage/column.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MEGABYTE = 1 << 20, HUGE_PAGE = 2 * MEGABYTE };

static void large_blocks_begin_at_huge_pages(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(64 * MEGABYTE);
    for (size_t size = HUGE_PAGE; size < 20 * MEGABYTE; size += 3 * MEGABYTE + 17) {
        size_t got;
        char *memory = buffer_pool_alloc(pool, size, &got);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % HUGE_PAGE, 0);
        assert_true(got >= size && got - size < HUGE_PAGE && got % HUGE_PAGE == 0);
        memory[0] = memory[got - 1] = 1;
        buffer_pool_release(pool, memory, got);
    }
    buffer_pool_unref(pool);
}

static void memory_is_used_again(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(64 * MEGABYTE);
    size_t first_got, got;
    void *first = buffer_pool_alloc(pool, 10 * MEGABYTE, &first_got);
    buffer_pool_release(pool, first, first_got);
    assert_int_equal(buffer_pool_bytes(pool), first_got);
    assert_ptr_equal(buffer_pool_alloc(pool, 10 * MEGABYTE, &got), first);
    assert_int_equal(buffer_pool_bytes(pool), 0);
    /* A tail released early merges with the head. */
    size_t kept = buffer_pool_trimmed(got, 3 * MEGABYTE);
    assert_int_equal(kept, 4 * MEGABYTE);
    buffer_pool_release(pool, (char *)first + kept, got - kept);
    buffer_pool_release(pool, first, kept);
    assert_ptr_equal(buffer_pool_alloc(pool, 10 * MEGABYTE, &got), first);
    buffer_pool_release(pool, first, got);
    /* Two parts of one block, released in either order. */
    void *a = buffer_pool_alloc(pool, 2 * MEGABYTE, &got), *b = buffer_pool_alloc(pool, 8 * MEGABYTE, &got);
    assert_true(a == first || b == first);
    buffer_pool_release(pool, a, 2 * MEGABYTE);
    buffer_pool_release(pool, b, 8 * MEGABYTE);
    assert_ptr_equal(buffer_pool_alloc(pool, 10 * MEGABYTE, &got), first);
    buffer_pool_release(pool, first, got);
    /* Small blocks use their own list. */
    void *small = buffer_pool_alloc(pool, 5000, &got);
    assert_int_equal(got, 8192);
    buffer_pool_release(pool, small, got);
    assert_ptr_equal(buffer_pool_alloc(pool, 8000, &got), small);
    buffer_pool_release(pool, small, got);
    buffer_pool_unref(pool);
}

static void what_is_kept_is_bounded(void **state)
{
    (void)state;
    enum { MOST = 48 * MEGABYTE };
    struct buffer_pool *pool = buffer_pool_new(MOST);
    void *blocks[200];
    size_t got[200];
    for (size_t i = 0; i < 200; i++)
        blocks[i] = buffer_pool_alloc(pool, (i % 3 + 1) * HUGE_PAGE, &got[i]);
    for (size_t i = 0; i < 200; i += 2) { /* leave holes */
        buffer_pool_release(pool, blocks[i], got[i]);
        assert_true(buffer_pool_bytes(pool) <= MOST);
    }
    assert_true(buffer_pool_bytes(pool) > MOST / 4);
    for (size_t i = 1; i < 200; i += 2)
        buffer_pool_release(pool, blocks[i], got[i]);
    assert_true(buffer_pool_bytes(pool) <= MOST);
    size_t large;
    void *memory = buffer_pool_alloc(pool, 2 * MOST, &large);
    buffer_pool_release(pool, memory, large);
    assert_true(buffer_pool_bytes(pool) <= MOST);
    /* Unused blocks are freed. */
    for (int i = 0; i < 1000; i++) {
        size_t size;
        void *small = buffer_pool_alloc(pool, 100000, &size);
        buffer_pool_release(pool, small, size);
    }
    assert_true(buffer_pool_bytes(pool) < MEGABYTE);
    buffer_pool_unref(pool);
}

/* Kilobytes of this process that the kernel may reclaim; -1 if it does not tell. */
static long reclaimable(void)
{
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && found < 0 && fgets(line, sizeof line, file))
        (void)sscanf(line, "LazyFree: %ld", &found);
    if (file)
        (void)fclose(file);
    return found;
}

/* Not at once: the next statement mostly takes the block again. */
static void idle_memory_is_offered_to_the_kernel(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(64 * MEGABYTE);
    size_t got, small_got;
    char *memory = buffer_pool_alloc(pool, 8 * MEGABYTE, &got);
    for (size_t i = 0; i < got; i += 4096)
        memory[i] = 1;
    const long before = reclaimable();
    if (before < 0)
        skip();
    buffer_pool_release(pool, memory, got);
    assert_int_equal(reclaimable(), before);
    for (int i = 0; i < 100; i++) {
        void *small = buffer_pool_alloc(pool, 5000, &small_got);
        buffer_pool_release(pool, small, small_got);
    }
    assert_int_equal(buffer_pool_bytes(pool), got + small_got);
    assert_true(reclaimable() - before >= 8 * 1024);
    buffer_pool_unref(pool);
}

static void no_pool_and_no_memory(void **state)
{
    (void)state;
    size_t got;
    char *memory = buffer_pool_alloc(NULL, 3 * MEGABYTE, &got);
    assert_non_null(memory);
    assert_int_equal(memory[got - 1], 0);
    buffer_pool_release(NULL, memory, got);
    buffer_pool_release(NULL, NULL, 0);
    assert_int_equal(buffer_pool_bytes(NULL), 0);
    buffer_pool_unref(buffer_pool_ref(NULL));
    struct buffer_pool *pool = buffer_pool_new(0);
    assert_null(buffer_pool_alloc(pool, SIZE_MAX - 5, &got));
    assert_null(buffer_pool_alloc(pool, (size_t)1 << 62, &got));
    memory = buffer_pool_alloc(pool, 1, &got);
    memory[0] = 1;
    buffer_pool_release(pool, memory, got);
    assert_int_equal(buffer_pool_bytes(pool), 0);
    buffer_pool_unref(pool);
}

static void columns_outlive_their_pool(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(64 * MEGABYTE);
    enum { ROWS = 3000000 };
    struct column *column = column_reserve_from(pool, TYPE_I64, TYPE_I32, ROWS);
    const void *data = column->data;
    for (int32_t i = 0; i < ROWS; i++)
        *(int32_t *)column_at(column, i) = i;
    column_finish(column, ROWS);
    assert_ptr_equal(column->data, data);
    struct column *few = column_reserve_from(pool, TYPE_I64, TYPE_I32, ROWS);
    for (int32_t i = 0; i < 10; i++)
        *(int32_t *)column_at(few, i) = -i;
    column_finish(few, 10); /* does not retain a huge page */
    assert_true(few->reserved < HUGE_PAGE && buffer_pool_bytes(pool) >= ROWS * sizeof(int32_t));
    for (int32_t i = 0; i < 10; i++)
        assert_int_equal(column_get_int(few, i), -i);
    column_finish(few, 0);
    assert_null(few->data);
    column_unref(few);
    buffer_pool_unref(pool);
    for (int32_t i = 0; i < ROWS; i += 1000)
        assert_int_equal(column_get_int(column, i), i);
    column_unref(column);
}

/* A statement with many short columns uses the memory of the one before. */
static void many_small_blocks_are_used_again(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    struct buffer_pool *pool = buffer_pool_new(64 * MEGABYTE);
    void *blocks[COUNT];
    size_t got = 0;
    for (int i = 0; i < COUNT; i++)
        blocks[i] = buffer_pool_alloc(pool, 5000, &got);
    assert_int_equal(buffer_pool_trimmed(got, 0), 0);
    assert_int_equal(buffer_pool_trimmed(got, 200), got);
    assert_int_equal(buffer_pool_trimmed(8 * got, 200), got);
    for (int i = 0; i < COUNT; i += 2)
        buffer_pool_release(pool, blocks[i], got);
    assert_int_equal(buffer_pool_bytes(pool), COUNT / 2 * got);
    for (int i = 0; i < COUNT; i += 2)
        blocks[i] = buffer_pool_alloc(pool, 5000, &got);
    assert_int_equal(buffer_pool_bytes(pool), 0);
    for (int i = 0; i < COUNT; i++)
        buffer_pool_release(pool, blocks[i], got);
    buffer_pool_unref(pool);
}

/* Allocates, marks, checks and releases blocks of many sizes; none may be shared. */
static void *churn(void *argument)
{
    struct buffer_pool *pool = argument;
    for (uint32_t i = 0, size = 1; i < 2000; i++) {
        size = (size * 1103515245u + 12345u) % (i % 16 == 0 ? 5 * MEGABYTE : 60000);
        size_t got;
        char *memory = buffer_pool_alloc(pool, size, &got);
        if (!memory || got < size)
            return "too little";
        const char mark = (char)((uintptr_t)&got >> 4 ^ i);
        memory[0] = memory[got / 2] = memory[got - 1] = mark;
        size_t kept = buffer_pool_trimmed(got, got / 3 + 1);
        if (memory[0] != mark || memory[got / 2] != mark || memory[got - 1] != mark)
            return "shared";
        buffer_pool_release(pool, memory + kept, got - kept);
        if (memory[0] != mark)
            return "taken";
        buffer_pool_release(pool, memory, kept);
    }
    return NULL;
}

static void threads_share_a_pool(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(32 * MEGABYTE);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, pool), 0);
    for (int i = 0; i < 4; i++) {
        void *problem;
        assert_int_equal(pthread_join(threads[i], &problem), 0);
        assert_null(problem);
    }
    buffer_pool_unref(pool);
}

static void what_exceeds_the_limit_is_spilled(void **state)
{
    (void)state;
    size_t got, rest, full_got;
    struct buffer_pool *pool = buffer_pool_new(0);
    buffer_pool_set_limit(pool, 64 * MEGABYTE, "/var/tmp");
    assert_false(buffer_pool_has(pool, 65 * MEGABYTE));
    assert_true(buffer_pool_takes(pool, 65 * MEGABYTE));
    char *within = buffer_pool_alloc(pool, 40 * MEGABYTE, &rest);
    assert_false(buffer_pool_holds_spilled(pool, within));
    char *beyond = buffer_pool_alloc(pool, 30 * MEGABYTE, &got);
    assert_true(buffer_pool_holds_spilled(pool, beyond));
    assert_int_equal(buffer_pool_spilled(pool), got);
    memset(beyond, 7, got);

    char *grown = buffer_pool_grow(pool, beyond, 50 * MEGABYTE, &got);
    assert_ptr_equal(grown, beyond); /* it was the last */
    memset(grown + 30 * MEGABYTE, 8, 20 * MEGABYTE);
    char *more = buffer_pool_grow(pool, within, 70 * MEGABYTE, &rest);
    assert_true(buffer_pool_holds_spilled(pool, more));
    char *full = buffer_pool_alloc(pool, 60 * MEGABYTE, &full_got);
    assert_false(buffer_pool_holds_spilled(pool, full));
    char *moved = buffer_pool_grow(pool, grown, 60 * MEGABYTE, &got);
    assert_ptr_not_equal(moved, grown); /* it was not */
    assert_int_equal(moved[30 * MEGABYTE - 1], 7);
    assert_int_equal(moved[50 * MEGABYTE - 1], 8);
    assert_int_equal(moved[50 * MEGABYTE], 0);

    /* Its end goes back to the disk; without the rest nothing is spilled any more, and little may come back. */
    buffer_pool_release(pool, moved + 40 * MEGABYTE, got - 40 * MEGABYTE);
    buffer_pool_release(pool, full, full_got);
    assert_true(buffer_pool_is_oversized(pool, moved, 40 * MEGABYTE, MEGABYTE));
    buffer_pool_release(pool, moved, 40 * MEGABYTE);
    buffer_pool_release(pool, more, rest);
    assert_int_equal(buffer_pool_spilled(pool), 0);
    buffer_pool_unref(pool);
}

static void a_directory_that_is_not_there_has_no_room(void **state)
{
    (void)state;
    struct buffer_pool *pool = buffer_pool_new(0);
    buffer_pool_set_limit(pool, 64 * MEGABYTE, "/nowhere");
    const struct spill_room room = buffer_pool_spill_room(pool);
    assert_string_equal(room.problem, "does not exist");
    assert_string_equal(room.directory, "/nowhere");
    assert_false(buffer_pool_takes(pool, 65 * MEGABYTE));
    buffer_pool_set_limit(pool, 64 * MEGABYTE, "/dev/shm");
    assert_string_equal(buffer_pool_spill_room(pool).problem, "is in memory itself");
    buffer_pool_unref(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_blocks_begin_at_huge_pages),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(no_pool_and_no_memory),
        cmocka_unit_test(many_small_blocks_are_used_again),
        cmocka_unit_test(columns_outlive_their_pool),
        cmocka_unit_test(threads_share_a_pool),
        cmocka_unit_test(idle_memory_is_offered_to_the_kernel),
        cmocka_unit_test(what_exceeds_the_limit_is_spilled),
        cmocka_unit_test(a_directory_that_is_not_there_has_no_room),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
