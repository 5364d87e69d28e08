/* Spill area: memory whose pages the kernel can write out.
 *
 * It is a temporary file without a name, or one in each directory that was set while others were in use, so that
 * nothing is left of it however the process ends. Byte k of a file is byte k of a range of addresses that is reserved
 * once: an address says where its page is, and whether it is spilled. Space on the disk is reserved with the memory, so
 * that a full disk is an error and not a signal. May be used by several threads. */
#ifndef RQL_BASE_SPILL_AREA_H
#define RQL_BASE_SPILL_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill_area;
struct spill_area *spill_area_new(void);
void spill_area_free(struct spill_area *area); /* everything has been released */

/* Where the next blocks are, in a file there; copied. NULL: TMPDIR, or the first of /tmp and /var/tmp
 * that is on a disk. */
void spill_area_set_directory(struct spill_area *area, const char *directory);

/* `size` zeroed bytes, a multiple of the page size. NULL: the disk does not have them. */
void *spill_area_alloc(struct spill_area *area, size_t size);

/* Makes a block of `size` bytes `more` bytes longer where it is. False: it cannot. */
bool spill_area_extend(struct spill_area *area, void *at, size_t size, size_t more);

/* Writes to a block of the area, without the page faults of stores to it. */
void spill_area_write(struct spill_area *area, void *at, const void *from, size_t size);

/* Reads of a block of the area what is elsewhere on the disk than what was read before: no more than that, whatever
 * the kernel would read around a fault. */
void spill_area_read(struct spill_area *area, const void *at, void *to, size_t size);

/* Gives back whole pages, of a block or of its end; soon, on another thread. */
void spill_area_release(struct spill_area *area, void *at, size_t size);

bool spill_area_holds(const struct spill_area *area, const void *at);

/* Bytes that are in use; bytes that could be allocated now, and where: the directory, or why there is none. */
int64_t spill_area_used(struct spill_area *area);
struct spill_room {
    int64_t bytes;
    char directory[256]; /* as far as it fits */
    const char *problem; /* NULL: none */
    bool failed;         /* the last block was not to be had, as beyond a limit on files, */
    bool lacked;         /* or was larger than the room */
};
struct spill_room spill_area_room(struct spill_area *area);

/* Why a directory takes no temporary file, as "does not exist". NULL: it does, or may. */
const char *spill_directory_problem(const char *directory);

#endif
