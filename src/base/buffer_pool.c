/* Free blocks are in two lists sorted by address: small ones are split at pages, large ones at huge pages, which the
 * kernel hands out eight times as fast. Adjacent blocks are merged, so a block whose tail was released early becomes
 * whole again. */
#include "base/buffer_pool.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/memory_size.h"
#include "base/spill_area.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HUGE_PAGE = 2 << 20,
    MAX_BLOCKS = 256,
    SMALL_BYTES = 16 << 20, /* limit for all small blocks */
    OFFER_IDLE = 32,        /* allocations after which the kernel may reclaim an unused block, */
    MAX_IDLE = 256,         /* and after which it is unmapped */
    KEPT_SHARE = 8,         /* at most 1/8 of the limit is kept, */
    ASKED_SHARE = 32,       /* the kernel is asked before 1/32 of it is taken, */
    SLACK_SHARE = 16,       /* and 1/16 of what it says is left to others */
    LEAST_SPILLED = 1 << 20
};

struct block {
    char *at;
    size_t size;
    uint64_t released; /* the pool's clock when it was released */
    bool offered;      /* to the kernel */
};

struct free_list {
    struct block blocks[MAX_BLOCKS];
    size_t count, bytes, max;
};

struct buffer_pool {
    pthread_mutex_t lock;
    struct free_list small, large;
    uint64_t clock; /* allocations so far */
    struct spill_area *spill;
    _Atomic int64_t limit;  /* 0: none */
    _Atomic int64_t before; /* what the process had when the limit was first set, beside it */
    _Atomic int64_t mapped; /* bytes of memory, in use or free */
    _Atomic int refs;
};

static void set_kept(struct buffer_pool *pool, size_t max)
{
    pool->small.max = max < SMALL_BYTES ? max : SMALL_BYTES;
    pool->large.max = max - pool->small.max;
}

struct buffer_pool *buffer_pool_new(size_t max)
{
    struct buffer_pool *pool = heap_array(1, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    set_kept(pool, max);
    pool->spill = spill_area_new();
    pool->refs = 1;
    return pool;
}

void buffer_pool_set_limit(struct buffer_pool *pool, int64_t limit, const char *directory)
{
    pthread_mutex_lock(&pool->lock);
    if (atomic_exchange(&pool->limit, limit) == 0)
        atomic_store(&pool->before, process_memory_bytes());
    set_kept(pool, (size_t)limit / KEPT_SHARE);
    pthread_mutex_unlock(&pool->lock);
    spill_area_set_directory(pool->spill, directory);
}

int64_t buffer_pool_limit(const struct buffer_pool *pool)
{
    const int64_t limit = pool ? atomic_load(&pool->limit) : 0;
    return limit > 0 ? limit : system_memory_bytes();
}

/* What is not mapped of the limit. */
static int64_t unmapped(const struct buffer_pool *pool)
{
    const int64_t limit = atomic_load(&pool->limit);
    return limit > 0 ? limit - atomic_load(&pool->mapped) : INT64_MAX;
}

int64_t buffer_pool_room(struct buffer_pool *pool)
{
    const int64_t limit = pool ? atomic_load(&pool->limit) : 0, free_bytes = system_memory_free_bytes();
    if (limit == 0)
        return free_bytes;
    const int64_t left = min_int64(unmapped(pool), limit - (process_memory_bytes() - atomic_load(&pool->before)));
    return max_int64(min_int64(left, free_bytes - free_bytes / SLACK_SHARE), 0);
}

bool buffer_pool_has(struct buffer_pool *pool, int64_t bytes)
{
    const int64_t limit = pool ? atomic_load(&pool->limit) : 0;
    if (limit == 0)
        return system_memory_has(bytes);
    return bytes <= unmapped(pool) &&
           (bytes <= min_int64(MEMORY_UNCHECKED_BYTES, limit / ASKED_SHARE) || bytes <= buffer_pool_room(pool));
}

struct spill_room buffer_pool_spill_room(struct buffer_pool *pool)
{
    return pool ? spill_area_room(pool->spill) : (struct spill_room){.problem = "is not used"};
}

bool buffer_pool_takes(struct buffer_pool *pool, int64_t bytes)
{
    return buffer_pool_has(pool, bytes) || bytes <= buffer_pool_spill_room(pool).bytes;
}

int64_t buffer_pool_spilled(struct buffer_pool *pool)
{
    return pool ? spill_area_used(pool->spill) : 0;
}

bool buffer_pool_holds_spilled(const struct buffer_pool *pool, const void *memory)
{
    return pool && spill_area_holds(pool->spill, memory);
}

struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool)
{
    if (pool)
        atomic_fetch_add_explicit(&pool->refs, 1, memory_order_relaxed);
    return pool;
}

static void remove_block(struct free_list *list, size_t i)
{
    list->bytes -= list->blocks[i].size;
    list->count--;
    memmove(&list->blocks[i], &list->blocks[i + 1], (list->count - i) * sizeof *list->blocks);
}

/* Counts what was mapped. */
static void count_bytes(struct buffer_pool *pool, int64_t bytes)
{
    if (pool)
        atomic_fetch_add_explicit(&pool->mapped, bytes, memory_order_relaxed);
}

static void unmap(struct buffer_pool *pool, void *memory, size_t size)
{
    munmap(memory, size);
    count_bytes(pool, -(int64_t)size);
}

static void unmap_block(struct buffer_pool *pool, struct free_list *list, size_t i)
{
    unmap(pool, list->blocks[i].at, list->blocks[i].size);
    remove_block(list, i);
}

static void unmap_all(struct buffer_pool *pool, struct free_list *list)
{
    while (list->count > 0)
        unmap_block(pool, list, list->count - 1);
}

void buffer_pool_unref(struct buffer_pool *pool)
{
    if (!pool || atomic_fetch_sub_explicit(&pool->refs, 1, memory_order_acq_rel) > 1)
        return;
    unmap_all(pool, &pool->small);
    unmap_all(pool, &pool->large);
    spill_area_free(pool->spill);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Block sizes are a multiple of this. */
static size_t granularity(size_t size)
{
    return size >= HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

size_t buffer_pool_trimmed(size_t size, size_t used)
{
    const size_t unit = granularity(size), needed = round_up(used, unit);
    return size < HUGE_PAGE && used > 0 && needed < size ? needed + unit : needed;
}

bool buffer_pool_is_oversized(struct buffer_pool *pool, const void *memory, size_t size, size_t used)
{
    if (buffer_pool_holds_spilled(pool, memory))
        return used < size / 2 && buffer_pool_has(pool, (int64_t)used);
    return size >= HUGE_PAGE && used < HUGE_PAGE / 2;
}

/* Maps a new block; large ones are aligned to huge pages. */
static void *map_block(struct buffer_pool *pool, size_t size)
{
    const size_t extra = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *mapped = mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    count_bytes(pool, (int64_t)size);
    if (!extra)
        return mapped;
    const size_t head = round_up((uintptr_t)mapped, HUGE_PAGE) - (uintptr_t)mapped;
    if (head > 0)
        munmap(mapped, head);
    if (head < extra)
        munmap(mapped + head + size, extra - head);
    madvise(mapped + head, size, MADV_HUGEPAGE);
    return mapped + head;
}

/* Takes the smallest free block that is large enough and splits it. NULL: none. */
static void *take_free_block(struct free_list *list, size_t size)
{
    size_t best = list->count;
    for (size_t i = 0; i < list->count; i++) {
        const size_t has = list->blocks[i].size;
        if (has >= size && (best == list->count || has < list->blocks[best].size))
            best = i;
    }
    if (best == list->count)
        return NULL;
    struct block *block = &list->blocks[best];
    char *at = block->at;
    if (block->size > size) {
        block->at += size;
        block->size -= size;
        list->bytes -= size;
    } else {
        remove_block(list, best);
    }
    return at;
}

static struct free_list *list_for(struct buffer_pool *pool, size_t size)
{
    return size >= HUGE_PAGE ? &pool->large : &pool->small;
}

static void unmap_free_blocks(struct buffer_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    unmap_all(pool, &pool->small);
    unmap_all(pool, &pool->large);
    pthread_mutex_unlock(&pool->lock);
}

/* A block that is not a reused one. The free blocks may be what exhausts a limit. */
static void *new_block(struct buffer_pool *pool, size_t size)
{
    bool has = !pool || buffer_pool_has(pool, (int64_t)size);
    if (!has) {
        unmap_free_blocks(pool);
        has = buffer_pool_has(pool, (int64_t)size);
    }
    void *memory = !has && size >= LEAST_SPILLED ? spill_area_alloc(pool->spill, size) : NULL;
    if (!memory)
        memory = map_block(pool, size);
    if (!memory && pool) {
        unmap_free_blocks(pool);
        memory = map_block(pool, size);
    }
    if (!memory && size < HEAP_PIECE && heap_spend_reserve())
        memory = map_block(pool, size);
    return memory;
}

/* A block that was in use before, or NULL. */
static void *take_released(struct buffer_pool *pool, size_t size)
{
    if (!pool)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    pool->clock++;
    void *reused = take_free_block(list_for(pool, size), size);
    pthread_mutex_unlock(&pool->lock);
    return reused;
}

void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *allocated)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = round_up(size > 0 ? size : 1, granularity(size));
    *allocated = size;
    void *reused = take_released(pool, size);
    return reused ? reused : new_block(pool, size);
}

void *pool_array_new(struct pool_array *array, struct buffer_pool *pool, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        heap_exhausted();
    bytes = round_up(bytes > 0 ? bytes : 1, granularity(bytes));
    void *at = take_released(pool, bytes);
    if (at)
        memset(at, 0, bytes);
    while (!at && !(at = new_block(pool, bytes))) {
        if (!heap_spend_reserve())
            heap_exhausted();
    }
    *array = (struct pool_array){.pool = pool, .at = at, .bytes = bytes};
    return at;
}

void pool_array_free(struct pool_array *array)
{
    buffer_pool_release(array->pool, array->at, array->bytes);
    *array = (struct pool_array){0};
}

void *buffer_pool_alloc_spilled(struct buffer_pool *pool, size_t size, size_t *allocated)
{
    *allocated = round_up(size > 0 ? size : 1, granularity(size));
    return pool ? spill_area_alloc(pool->spill, *allocated) : NULL;
}

void buffer_pool_write(struct buffer_pool *pool, void *at, const void *from, size_t size)
{
    if (buffer_pool_holds_spilled(pool, at))
        spill_area_write(pool->spill, at, from, size);
    else
        memcpy(at, from, size);
}

const void *buffer_pool_read(struct buffer_pool *pool, const void *at, void *buffer, size_t size)
{
    if (!buffer_pool_holds_spilled(pool, at))
        return at;
    spill_area_read(pool->spill, at, buffer, size);
    return buffer;
}

void *buffer_pool_grow(struct buffer_pool *pool, void *memory, size_t size, size_t *allocated)
{
    const size_t before = *allocated, after = round_up(size, granularity(size));
    const bool spilled = buffer_pool_holds_spilled(pool, memory);
    if (size > SIZE_MAX / 2)
        return NULL;
    if (!spilled && (!pool || buffer_pool_has(pool, (int64_t)(after - before)))) {
        void *moved = mremap(memory, before, after, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED)
            return NULL;
        count_bytes(pool, (int64_t)(after - before));
        *allocated = after;
        return moved;
    }
    if (spilled && spill_area_extend(pool->spill, memory, before, after - before)) {
        *allocated = after;
        return memory;
    }
    void *copy = buffer_pool_takes(pool, (int64_t)after) ? buffer_pool_alloc(pool, size, allocated) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, memory, before);
    buffer_pool_release(pool, memory, before);
    return copy;
}

/* The index at which a block of this address belongs. */
static size_t position_of(const struct free_list *list, const char *at)
{
    size_t i = 0;
    while (i < list->count && list->blocks[i].at < at)
        i++;
    return i;
}

/* Inserts a block and merges it with its neighbours. The list has room for it. */
static void insert_block(struct free_list *list, struct block block)
{
    size_t i = position_of(list, block.at);
    if (i < list->count && block.at + block.size == list->blocks[i].at) {
        block.size += list->blocks[i].size;
        remove_block(list, i);
    }
    if (i > 0 && list->blocks[i - 1].at + list->blocks[i - 1].size == block.at) {
        i--;
        block.at = list->blocks[i].at;
        block.size += list->blocks[i].size;
        remove_block(list, i);
    }
    memmove(&list->blocks[i + 1], &list->blocks[i], (list->count - i) * sizeof *list->blocks);
    list->blocks[i] = block;
    list->count++;
    list->bytes += block.size;
}

static size_t oldest(const struct free_list *list)
{
    size_t found = 0;
    for (size_t i = 1; i < list->count; i++) {
        if (list->blocks[i].released < list->blocks[found].released)
            found = i;
    }
    return found;
}

/* Unmaps blocks that are over the limits or idle, oldest first, until `extra` more bytes fit. */
static void evict(struct buffer_pool *pool, struct free_list *list, size_t extra)
{
    const uint64_t clock = pool->clock;
    while (list->count > 0) {
        const size_t i = oldest(list);
        if (list->count < MAX_BLOCKS && list->bytes + extra <= list->max &&
            clock - list->blocks[i].released <= MAX_IDLE)
            return;
        unmap_block(pool, list, i);
    }
}

/* Lets the kernel reclaim the pages of large blocks that have been free for a while: their content is not needed. They
 * stay mapped otherwise. Of a block that the next statement takes again this would cost a tenth of the statement. */
static void offer_idle(struct free_list *list, uint64_t clock)
{
    for (size_t i = 0; i < list->count; i++) {
        struct block *block = &list->blocks[i];
        if (!block->offered && clock - block->released > OFFER_IDLE)
            block->offered = madvise(block->at, block->size, MADV_FREE) == 0;
    }
}

void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size)
{
    if (!memory || size == 0)
        return;
    if (buffer_pool_holds_spilled(pool, memory)) {
        spill_area_release(pool->spill, memory, size);
        return;
    }
    if (!pool || size > list_for(pool, size)->max) {
        unmap(pool, memory, size);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    evict(pool, &pool->small, 0);
    evict(pool, &pool->large, 0);
    offer_idle(&pool->large, pool->clock);
    struct free_list *list = list_for(pool, size);
    evict(pool, list, size);
    insert_block(list, (struct block){.at = memory, .size = size, .released = pool->clock});
    pthread_mutex_unlock(&pool->lock);
}

size_t buffer_pool_bytes(struct buffer_pool *pool)
{
    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    const size_t bytes = pool->small.bytes + pool->large.bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}
