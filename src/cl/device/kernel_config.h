/* How kernels are laid out on a class of devices. */
#ifndef RQL_CL_DEVICE_KERNEL_CONFIG_H
#define RQL_CL_DEVICE_KERNEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_config {
    /* A work-group is one work-item, which takes the rows of a contiguous chunk one after another; compilers for CPUs
     * make vectors of that. Otherwise the work-items of a group take neighbouring rows. */
    bool contiguous;
    size_t group;           /* work-items in a work-group */
    size_t groups;          /* work-groups per compute unit */
    int64_t min_group_rows; /* the fewest rows worth starting a work-group for */
    size_t unroll;          /* rows that a work-item has in flight */
    size_t leading;         /* the same behind a leading filter (filter_order.h); 0: there is none */
    size_t tile;            /* the same in the passes of a filter; if contiguous, the rows that make a chunk's unit */
    size_t tiles;           /* the most tiles in a work-group's chunk */
    size_t single_pass;     /* the same in a filter of one pass, whose groups wait for earlier ones; 0: of two */
    size_t single_group;    /* work-items in a work-group of such a filter */
    bool warps;             /* NVIDIA's: kernels may have inline PTX */
    int64_t launch_rows;    /* the most rows of a launch, for code of up to launch_operations operations */
    int64_t launch_operations;
    bool shared_tables; /* work-items are many, so they share tables and update them by atomics */
    bool plain_loads;   /* atomically updated words may be read by plain loads; false when testing for races */
    bool host_memory;   /* kernels read and write host memory in place */
};

/* CPU devices; NVIDIA GPUs (device.h: warps); and everything else. */
extern const struct kernel_config kernel_config_cpu, kernel_config_warps, kernel_config_grid;

/* The most rows of a launch, fewer for longer code: a multiple of 4096, at least 65536. */
int64_t kernel_config_rows(const struct kernel_config *config, size_t operations);

#endif
