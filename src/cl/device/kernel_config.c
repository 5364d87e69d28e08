/* Filter and sum over two i32 columns, 10 M rows on PoCL 3.1 with 2 cores: groups of 64 with a tree reduction 27.5 ms,
 * a strided loop in groups of one 4.2 ms, a scalar loop over chunks 2.6 ms, 16-lane vectors over chunks 1.6 ms, the
 * memory's limit. On an H200 with 1 G rows the strided loop in groups of 256 takes 1.75 ms, the memory's limit there,
 * and chunks in vectors 7.7 ms.
 *
 * Launches are kept well under 200 ms, because nothing stops a kernel once it runs, and displays freeze. */
#include "cl/device/kernel_config.h"

const struct kernel_config shape_chunks = {
    .name = "chunks of vectors",
    .chunks = true,
    .width = 16,
    .group = 1,
    .groups = 4,
    .least = 4096,
    .unroll = 0,
    .leading = 0,
    .tile = 0,
    .tiles = 0,
    .rows = INT64_C(1) << 24,
    .weight = 32,
    .shares = false,
    .peeks = true,
    .host_memory = true,
};

const struct kernel_config shape_grid = {
    .name = "strided groups",
    .chunks = false,
    .width = 1,
    .group = 256,
    .groups = 32,
    .least = 1024,
    .unroll = 4,
    .leading = 8,
    .tile = 8,
    .tiles = 8,
    .rows = INT64_C(1) << 30,
    .weight = 256,
    .shares = true,
    .peeks = true,
    .host_memory = false,
};

int64_t kernel_config_rows(const struct kernel_config *shape, size_t operations)
{
    int64_t share = (int64_t)operations / shape->weight + 1;
    int64_t rows = shape->rows / share / 4096 * 4096;

    return rows < 65536 ? 65536 : rows;
}
