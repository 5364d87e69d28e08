/* Filter and sum over two i32 columns, 10 M rows on PoCL 3.1 with 2 cores: groups of 64 with a tree reduction 27.5 ms,
 * a strided loop in groups of one 4.2 ms, a scalar loop over chunks 2.6 ms, 16-lane vectors over chunks 1.6 ms, which
 * is the memory bandwidth. On an H200 with 1 G rows the strided loop in groups of 256 takes 1.75 ms, its bandwidth, and
 * chunks in vectors 7.7 ms.
 *
 * Launches are kept well under 200 ms, because a running kernel cannot be cancelled and displays freeze meanwhile. */
#include "cl/device/kernel_config.h"

const struct kernel_config kernel_config_chunks = {
    .name = "chunks of vectors",
    .chunks = true,
    .width = 16,
    .group = 1,
    .groups = 4,
    .min_group_rows = 4096,
    .unroll = 0,
    .leading = 0,
    .tile = 0,
    .tiles = 0,
    .single_pass = 0,
    .single_group = 0,
    .warps = false,
    .launch_rows = INT64_C(1) << 24,
    .launch_operations = 32,
    .shared_tables = false,
    .plain_loads = true,
    .host_memory = true,
};

const struct kernel_config kernel_config_grid = {
    .name = "strided groups",
    .chunks = false,
    .width = 1,
    .group = 256,
    .groups = 32,
    .min_group_rows = 1024,
    .unroll = 4,
    .leading = 8,
    .tile = 8,
    .tiles = 8,
    .single_pass = 0,
    .single_group = 0,
    .warps = false,
    .launch_rows = INT64_C(1) << 30,
    .launch_operations = 256,
    .shared_tables = true,
    .plain_loads = true,
    .host_memory = false,
};

const struct kernel_config kernel_config_warps = {
    .name = "strided groups",
    .chunks = false,
    .width = 1,
    .group = 256,
    .groups = 32,
    .min_group_rows = 1024,
    .unroll = 4,
    .leading = 8,
    .tile = 8,
    .tiles = 8,
    .single_pass = 24,
    .single_group = 512,
    .warps = true,
    .launch_rows = INT64_C(1) << 30,
    .launch_operations = 256,
    .shared_tables = true,
    .plain_loads = true,
    .host_memory = false,
};

int64_t kernel_config_rows(const struct kernel_config *config, size_t operations)
{
    const int64_t share = (int64_t)operations / config->launch_operations + 1;
    const int64_t rows = config->launch_rows / share / 4096 * 4096;
    return rows < 65536 ? 65536 : rows;
}
