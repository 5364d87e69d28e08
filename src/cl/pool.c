#include "pool.h"

#include "../heap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64, SLACK = 8 /* a buffer is taken for what needs all of it but an eighth */ };

struct spare {
    cl_mem buffer;
    size_t bytes;
};

struct pool {
    struct spare spares[MOST]; /* the one unused for longest first */
    size_t count;
    uint64_t bytes;
};

struct pool *pool_new(void)
{
    return heap_array(1, sizeof(struct pool));
}

void pool_free(struct pool *pool)
{
    while (pool_drop(pool))
        ;
    free(pool);
}

uint64_t pool_bytes(const struct pool *pool)
{
    return pool->bytes;
}

static cl_mem take_out(struct pool *pool, size_t k)
{
    cl_mem buffer = pool->spares[k].buffer;

    pool->bytes -= pool->spares[k].bytes;
    pool->count--;
    memmove(&pool->spares[k], &pool->spares[k + 1], (pool->count - k) * sizeof *pool->spares);
    return buffer;
}

cl_mem pool_take(struct pool *pool, size_t bytes)
{
    size_t best = pool->count;

    for (size_t k = 0; k < pool->count; k++) {
        size_t has = pool->spares[k].bytes;
        if (has >= bytes && has - has / SLACK <= bytes && (best == pool->count || has < pool->spares[best].bytes))
            best = k;
    }
    return best < pool->count ? take_out(pool, best) : NULL;
}

void pool_give(struct pool *pool, cl_mem buffer)
{
    size_t bytes = 0;

    if (clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS) {
        clReleaseMemObject(buffer);
        return;
    }
    if (pool->count == MOST)
        pool_drop(pool);
    pool->spares[pool->count++] = (struct spare){buffer, bytes};
    pool->bytes += bytes;
}

bool pool_drop(struct pool *pool)
{
    if (pool->count == 0)
        return false;
    clReleaseMemObject(take_out(pool, 0));
    return true;
}
