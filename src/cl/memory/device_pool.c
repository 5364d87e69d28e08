#include "cl/memory/device_pool.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SPARES = 64, SLACK = 8 /* at most an eighth of a reused buffer is wasted */ };

struct spare {
    cl_mem buffer;
    size_t bytes;
};

struct device_pool {
    struct spare at[MAX_SPARES]; /* least recently used first */
    size_t count;
    uint64_t bytes;
};

struct device_pool *device_pool_new(void)
{
    return heap_array(1, sizeof(struct device_pool));
}

void device_pool_free(struct device_pool *pool)
{
    while (device_pool_shrink(pool))
        ;
    free(pool);
}

uint64_t device_pool_bytes(const struct device_pool *pool)
{
    return pool->bytes;
}

static cl_mem remove_spare(struct device_pool *pool, size_t k)
{
    cl_mem buffer = pool->at[k].buffer;
    pool->bytes -= pool->at[k].bytes;
    pool->count--;
    memmove(&pool->at[k], &pool->at[k + 1], (pool->count - k) * sizeof *pool->at);
    return buffer;
}

cl_mem device_pool_alloc(struct device_pool *pool, size_t bytes)
{
    size_t best = pool->count;
    for (size_t k = 0; k < pool->count; k++) {
        const size_t has = pool->at[k].bytes;
        if (has >= bytes && has - has / SLACK <= bytes && (best == pool->count || has < pool->at[best].bytes))
            best = k;
    }
    return best < pool->count ? remove_spare(pool, best) : NULL;
}

void device_pool_release(struct device_pool *pool, cl_mem buffer)
{
    size_t bytes = 0;
    if (clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS) {
        clReleaseMemObject(buffer);
        return;
    }
    if (pool->count == MAX_SPARES)
        device_pool_shrink(pool);
    pool->at[pool->count++] = (struct spare){buffer, bytes};
    pool->bytes += bytes;
}

bool device_pool_shrink(struct device_pool *pool)
{
    if (pool->count == 0)
        return false;
    clReleaseMemObject(remove_spare(pool, 0));
    return true;
}
