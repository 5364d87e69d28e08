#include "cl/memory/buffer_pool.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64, SLACK = 8 /* a buffer is taken for what needs all of it but an eighth */ };

struct spare {
    cl_mem buffer;
    size_t bytes;
};

struct spares {
    struct spare at[MOST]; /* the one unused for longest first */
    size_t count;
    uint64_t bytes;
};

struct spares *spares_new(void)
{
    return heap_array(1, sizeof(struct spares));
}

void spares_free(struct spares *spares)
{
    while (spares_drop(spares))
        ;
    free(spares);
}

uint64_t spares_bytes(const struct spares *spares)
{
    return spares->bytes;
}

static cl_mem take_out(struct spares *spares, size_t k)
{
    cl_mem buffer = spares->at[k].buffer;

    spares->bytes -= spares->at[k].bytes;
    spares->count--;
    memmove(&spares->at[k], &spares->at[k + 1], (spares->count - k) * sizeof *spares->at);
    return buffer;
}

cl_mem spares_take(struct spares *spares, size_t bytes)
{
    size_t best = spares->count;

    for (size_t k = 0; k < spares->count; k++) {
        size_t has = spares->at[k].bytes;
        if (has >= bytes && has - has / SLACK <= bytes && (best == spares->count || has < spares->at[best].bytes))
            best = k;
    }
    return best < spares->count ? take_out(spares, best) : NULL;
}

void spares_give(struct spares *spares, cl_mem buffer)
{
    size_t bytes = 0;

    if (clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS) {
        clReleaseMemObject(buffer);
        return;
    }
    if (spares->count == MOST)
        spares_drop(spares);
    spares->at[spares->count++] = (struct spare){buffer, bytes};
    spares->bytes += bytes;
}

bool spares_drop(struct spares *spares)
{
    if (spares->count == 0)
        return false;
    clReleaseMemObject(take_out(spares, 0));
    return true;
}
