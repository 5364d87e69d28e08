/* Free blocks lie on two shelves, sorted by address: small ones are cut at pages, large ones at huge pages, which the
 * system hands out eight times as fast. Neighbours are joined, so that a block whose end was given back early is whole
 * again when its beginning follows. */
#include "engine/storage/buffer_pool.h"

#include "base/heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HUGE_PAGE = 2 << 20,
    SHELF_BLOCKS = 64,
    SMALL_BYTES = 16 << 20, /* small blocks are kept up to this many in all */
    IDLE_TAKES = 256        /* what so many blocks were taken without is given back */
};

struct block {
    char *at;
    size_t size;
    uint64_t given; /* the pool's clock then */
};

struct shelf {
    struct block blocks[SHELF_BLOCKS];
    size_t count, bytes, most;
};

struct buffer_pool {
    pthread_mutex_t lock;
    struct shelf small, large;
    uint64_t clock; /* blocks taken */
    _Atomic int refs;
};

struct buffer_pool *buffer_pool_new(size_t most)
{
    struct buffer_pool *pool = heap_array(1, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pool->small.most = most < SMALL_BYTES ? most : SMALL_BYTES;
    pool->large.most = most - pool->small.most;
    pool->refs = 1;
    return pool;
}

struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool)
{
    if (pool)
        atomic_fetch_add_explicit(&pool->refs, 1, memory_order_relaxed);
    return pool;
}

static void remove_block(struct shelf *shelf, size_t i)
{
    shelf->bytes -= shelf->blocks[i].size;
    shelf->count--;
    memmove(&shelf->blocks[i], &shelf->blocks[i + 1], (shelf->count - i) * sizeof *shelf->blocks);
}

static void release_block(struct shelf *shelf, size_t i)
{
    munmap(shelf->blocks[i].at, shelf->blocks[i].size);
    remove_block(shelf, i);
}

static void release_all(struct shelf *shelf)
{
    while (shelf->count > 0)
        release_block(shelf, shelf->count - 1);
}

void buffer_pool_unref(struct buffer_pool *pool)
{
    if (!pool || atomic_fetch_sub_explicit(&pool->refs, 1, memory_order_acq_rel) > 1)
        return;
    release_all(&pool->small);
    release_all(&pool->large);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* What blocks of this size are a multiple of. */
static size_t unit_of(size_t size)
{
    return size >= HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

size_t buffer_pool_trimmed(size_t size, size_t used)
{
    return round_up(used, unit_of(size));
}

bool buffer_pool_is_oversized(size_t size, size_t used)
{
    return size >= HUGE_PAGE && used < HUGE_PAGE / 2;
}

/* Memory never used before; large blocks begin at a huge page. */
static void *fresh(size_t size)
{
    size_t extra = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *mapped = mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    if (!extra)
        return mapped;
    size_t before = round_up((uintptr_t)mapped, HUGE_PAGE) - (uintptr_t)mapped;
    if (before > 0)
        munmap(mapped, before);
    if (before < extra)
        munmap(mapped + before + size, extra - before);
    madvise(mapped + before, size, MADV_HUGEPAGE);
    return mapped + before;
}

/* The smallest kept block that is large enough, less what is not needed of it. */
static void *take_kept(struct shelf *shelf, size_t size)
{
    size_t best = shelf->count;
    for (size_t i = 0; i < shelf->count; i++) {
        size_t has = shelf->blocks[i].size;
        if (has >= size && (best == shelf->count || has < shelf->blocks[best].size))
            best = i;
    }
    if (best == shelf->count)
        return NULL;
    struct block *block = &shelf->blocks[best];
    char *at = block->at;
    if (block->size > size) {
        block->at += size;
        block->size -= size;
        shelf->bytes -= size;
    } else {
        remove_block(shelf, best);
    }
    return at;
}

static struct shelf *shelf_for(struct buffer_pool *pool, size_t size)
{
    return size >= HUGE_PAGE ? &pool->large : &pool->small;
}

static void empty(struct buffer_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    release_all(&pool->small);
    release_all(&pool->large);
    pthread_mutex_unlock(&pool->lock);
}

void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *got)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = round_up(size > 0 ? size : 1, unit_of(size));
    *got = size;
    void *reused = NULL;
    if (pool) {
        pthread_mutex_lock(&pool->lock);
        pool->clock++;
        reused = take_kept(shelf_for(pool, size), size);
        pthread_mutex_unlock(&pool->lock);
    }
    if (reused)
        return reused;
    void *memory = fresh(size);
    if (!memory && pool) { /* what is kept may be in the way */
        empty(pool);
        memory = fresh(size);
    }
    return memory;
}

/* Where a block at this address belongs. */
static size_t place_of(const struct shelf *shelf, const char *at)
{
    size_t i = 0;
    while (i < shelf->count && shelf->blocks[i].at < at)
        i++;
    return i;
}

/* Puts a block on the shelf, one with its neighbours. The shelf has room for it. */
static void put(struct shelf *shelf, struct block block)
{
    size_t i = place_of(shelf, block.at);
    if (i < shelf->count && block.at + block.size == shelf->blocks[i].at) {
        block.size += shelf->blocks[i].size;
        remove_block(shelf, i);
    }
    if (i > 0 && shelf->blocks[i - 1].at + shelf->blocks[i - 1].size == block.at) {
        i--;
        block.at = shelf->blocks[i].at;
        block.size += shelf->blocks[i].size;
        remove_block(shelf, i);
    }
    memmove(&shelf->blocks[i + 1], &shelf->blocks[i], (shelf->count - i) * sizeof *shelf->blocks);
    shelf->blocks[i] = block;
    shelf->count++;
    shelf->bytes += block.size;
}

static size_t oldest(const struct shelf *shelf)
{
    size_t found = 0;
    for (size_t i = 1; i < shelf->count; i++) {
        if (shelf->blocks[i].given < shelf->blocks[found].given)
            found = i;
    }
    return found;
}

/* Lets go of what is too much, or was of no use for long. */
static void tidy(struct shelf *shelf, size_t room, uint64_t clock)
{
    while (shelf->count > 0) {
        size_t i = oldest(shelf);
        if (shelf->count < SHELF_BLOCKS && shelf->bytes + room <= shelf->most &&
            clock - shelf->blocks[i].given <= IDLE_TAKES)
            return;
        release_block(shelf, i);
    }
}

void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size)
{
    if (!memory || size == 0)
        return;
    if (!pool || size > shelf_for(pool, size)->most) {
        munmap(memory, size);
        return;
    }
    /* Its content is of no value: the system may take the pages when it needs some, and gives them back as they are if
     * it did not. With huge pages saying so costs nothing, with others more than a small block is worth. */
    if (size >= HUGE_PAGE)
        madvise(memory, size, MADV_FREE);
    pthread_mutex_lock(&pool->lock);
    tidy(&pool->small, 0, pool->clock);
    tidy(&pool->large, 0, pool->clock);
    struct shelf *shelf = shelf_for(pool, size);
    tidy(shelf, size, pool->clock);
    put(shelf, (struct block){.at = memory, .size = size, .given = pool->clock});
    pthread_mutex_unlock(&pool->lock);
}

size_t buffer_pool_bytes(struct buffer_pool *pool)
{
    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    size_t bytes = pool->small.bytes + pool->large.bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}
