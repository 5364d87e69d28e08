/* Filter and sum over two i32 columns, 10 M rows on PoCL 3.1 with 2 cores: groups of 64 with a tree reduction 27.5 ms,
 * a strided loop in groups of one 4.2 ms, contiguous chunks in groups of one 2.1 ms, which is the memory bandwidth. On
 * an H200 with 1 G rows the strided loop in groups of 256 takes 1.75 ms, its bandwidth.
 *
 * Compilers make vectors of the loop over the rows of a chunk, but call library functions for one row at a time. In
 * vectors of four these took less: sin and exp of 10 M rows 31 instead of 139 ms, pow 260 instead of 820. The evaluator
 * takes 790 and 320.
 *
 * Launches are kept well under 200 ms, because a running kernel cannot be cancelled and displays freeze meanwhile. */
#include "cl/device/kernel_config.h"

const struct kernel_config kernel_config_cpu = {
    .contiguous = true,
    .group = 1,
    .groups = 4,
    .min_group_rows = 4096,
    .unroll = 1,
    .leading = 0,
    .tile = 4096,
    .tiles = 4096,
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
    .contiguous = false,
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
    .contiguous = false,
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
