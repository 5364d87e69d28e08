/* How kernels are laid out on a class of devices. */
#ifndef RQL_CL_DEVICE_KERNEL_CONFIG_H
#define RQL_CL_DEVICE_KERNEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_config {
    const char *name;
    /* Each work-item reads a contiguous chunk of rows in explicit vectors; otherwise all walk the rows side by side. */
    bool chunks;
    int width;      /* lanes of the vectors; 1: scalars */
    size_t group;   /* work-items in a work-group */
    size_t groups;  /* work-groups for each compute unit */
    int64_t least;  /* rows that a work-group is worth starting for */
    size_t unroll;  /* rows that a work-item has under way at once, ... */
    size_t leading; /* ... behind a leading filter (filter_order.h), and ... */
    size_t tile;    /* ... in the passes of a filter; 0 with chunks */
    size_t tiles;   /* at most so many of those are a work-group's chunk */
    int64_t rows;   /* the most rows of one launch, for code of up to `weight` operations; fewer for longer code */
    int64_t weight;
    bool shares;      /* tables that all work-items add to at once are worth having: there are many of them */
    bool peeks;       /* a plain read may look at a word that others change by atomics; false, to find true races */
    bool host_memory; /* kernels read and write the host's memory in place */
};

/* CPU devices, and everything else. */
extern const struct kernel_config shape_chunks, shape_grid;

/* The rows of one launch for code of so many operations: a multiple of 4096, at least 65536. */
int64_t kernel_config_rows(const struct kernel_config *shape, size_t operations);

#endif
