/* Columns noted by the main thread wait in a list until the query has ended, then in a queue for the thread. Each
 * column has a record, `kept`, from its first note on; the records are chained so that the copy unused for longest can
 * be dropped. Only the main thread drops copies, and only between queries, so that a query need not hold those it
 * reads; the thread but adds to a record, by storing a pointer. */
#include "engine/storage/column_stats.h"

#include "engine/storage/buffer_pool.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/narrow_copy.h"

#include "base/heap.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    LEAST_PRIORITY = 19,
    PAUSE_NS = 10000000,
    RECENT = 16,          /* copies used by so many of the last queries are not dropped for others */
    LEAST_ROWS = 1 << 18, /* what is shorter is read in less time than it takes to begin */
    ROWS_A_ZONE = 1 << 16,
    EAGER_ROWS_A_ZONE = 1 << 12
};

struct kept {
    struct keeper *keeper; /* one reference */
    _Atomic(struct zones *) zones;
    _Atomic(struct column *) narrow;
    size_t bytes;      /* of the copy, or set aside for it */
    int64_t used;      /* the keeper's clock at the last note */
    atomic_bool noted; /* in the list or the queue */
    struct kept *before, *after;
};

struct keeper {
    size_t most; /* bytes of copies */
    atomic_bool eager;
    struct pool *pool;
    int64_t clock;         /* queries */
    struct column **noted; /* one reference each */
    size_t noted_count, noted_capacity;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct kept *records;
    size_t copies;         /* bytes of all records */
    struct column **queue; /* one reference each */
    size_t queued, queue_capacity;
    bool busy, running;
    atomic_bool stop;
    pthread_t thread;
    int refs; /* the owner's and one for each record */
};

struct keeper *keeper_new(size_t most, struct pool *pool)
{
    struct keeper *keeper = heap_array(1, sizeof *keeper);
    keeper->most = most;
    keeper->pool = pool_ref(pool);
    keeper->refs = 1;
    pthread_mutex_init(&keeper->lock, NULL);
    /* What waits for a while is not to be misled when somebody sets the clock. */
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&keeper->changed, &steady);
    pthread_condattr_destroy(&steady);
    return keeper;
}

/* Under the lock, which it leaves. */
static void let_go(struct keeper *keeper)
{
    bool last = --keeper->refs == 0;
    pthread_mutex_unlock(&keeper->lock);
    if (!last)
        return;
    pool_unref(keeper->pool);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper->noted);
    free(keeper->queue);
    free(keeper);
}

const struct zones *column_zones(const struct column *column)
{
    return column->kept ? atomic_load_explicit(&column->kept->zones, memory_order_acquire) : NULL;
}

struct column *column_narrow(const struct column *column)
{
    return column->kept ? atomic_load_explicit(&column->kept->narrow, memory_order_acquire) : NULL;
}

static void set_bytes(struct kept *kept, size_t bytes)
{
    kept->keeper->copies -= kept->bytes;
    kept->keeper->copies += bytes;
    kept->bytes = bytes;
}

static void kept_free(struct kept *kept)
{
    struct keeper *keeper = kept->keeper;
    column_unref(kept->narrow);
    zones_free(kept->zones);
    pthread_mutex_lock(&keeper->lock);
    set_bytes(kept, 0);
    if (kept->before)
        kept->before->after = kept->after;
    else
        keeper->records = kept->after;
    if (kept->after)
        kept->after->before = kept->before;
    let_go(keeper);
    free(kept);
}

static struct kept *kept_new(struct keeper *keeper)
{
    struct kept *kept = heap_array(1, sizeof *kept);
    kept->keeper = keeper;
    pthread_mutex_lock(&keeper->lock);
    keeper->refs++;
    kept->after = keeper->records;
    if (kept->after)
        kept->after->before = kept;
    keeper->records = kept;
    pthread_mutex_unlock(&keeper->lock);
    return kept;
}

static size_t column_bytes(const struct column *column)
{
    return (size_t)column->rows * type_table[column->store].size;
}

/* What was read from a file that changed meanwhile means nothing. */
static bool is_sound(const struct column *column)
{
    return !column->mapping || !mapping_damaged(column->mapping);
}

/* Finds out about a column. On the keeper's thread. */
static void look_into(struct keeper *keeper, const struct column *column)
{
    struct kept *kept = column->kept;
    struct zones *zones = kept->zones;
    struct column *copy = NULL;
    pthread_mutex_lock(&keeper->lock);
    bool has_room = kept->bytes > 0;
    pthread_mutex_unlock(&keeper->lock);
    if (!zones) {
        zones = zones_new(column, keeper->eager ? EAGER_ROWS_A_ZONE : ROWS_A_ZONE, &keeper->stop);
        if (!zones || !is_sound(column)) {
            zones_free(zones);
            zones = NULL;
        }
        atomic_store_explicit(&kept->zones, zones, memory_order_release);
    }
    if (zones && has_room && !kept->narrow) {
        enum type store = narrow_type(column, zones->all.lo, zones->all.hi);
        if (store != column->store)
            copy = narrow_copy(column, store, zones->all.lo, zones->all.hi, keeper->pool, &keeper->stop);
        if (copy && !is_sound(column)) {
            column_unref(copy);
            copy = NULL;
        }
    }
    pthread_mutex_lock(&keeper->lock);
    if (copy)
        atomic_store_explicit(&kept->narrow, copy, memory_order_release);
    set_bytes(kept, kept->narrow ? column_bytes(kept->narrow) : 0);
    pthread_mutex_unlock(&keeper->lock);
    kept->noted = false;
}

/* Waits a moment: a process that was started for one query is gone by then. Under the lock. */
static void pause_first(struct keeper *keeper)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PAUSE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!keeper->stop && pthread_cond_timedwait(&keeper->changed, &keeper->lock, &until) == 0)
        ;
}

static void *work(void *argument)
{
    struct keeper *keeper = argument;
    /* Linux takes this for the thread. A scheduling class for idle time would be more than is wanted: on a busy machine
     * the thread would not even get to its end when it is told to stop, and rql waits for that. */
    (void)setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop) {
        if (keeper->queued == 0) {
            keeper->busy = false;
            pthread_cond_broadcast(&keeper->changed);
            pthread_cond_wait(&keeper->changed, &keeper->lock);
            continue;
        }
        if (!keeper->busy)
            pause_first(keeper);
        if (keeper->stop)
            break;
        keeper->busy = true;
        struct column *column = keeper->queue[--keeper->queued];
        pthread_mutex_unlock(&keeper->lock);
        look_into(keeper, column);
        column_unref(column);
        pthread_mutex_lock(&keeper->lock);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

static bool start(struct keeper *keeper)
{
    keeper->running = thread_begin(&keeper->thread, work, keeper);
    return keeper->running;
}

void keeper_free(struct keeper *keeper)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stop = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    if (keeper->running)
        pthread_join(keeper->thread, NULL);
    for (size_t i = 0; i < keeper->queued; i++)
        column_unref(keeper->queue[i]);
    for (size_t i = 0; i < keeper->noted_count; i++)
        column_unref(keeper->noted[i]);
    pthread_mutex_lock(&keeper->lock);
    let_go(keeper);
}

/* Whether anything is left to be found out. */
static bool is_wanted(const struct keeper *keeper, const struct column *column)
{
    const struct kept *kept = column->kept;
    const size_t bytes = column_bytes(column);
    if (!kept->zones)
        return true;
    return !kept->narrow && bytes / 2 <= keeper->most &&
           narrow_type(column, kept->zones->all.lo, kept->zones->all.hi) != column->store;
}

void keeper_note(struct keeper *keeper, struct column *column)
{
    if (!keeper || column->rows < (keeper->eager ? 1 : LEAST_ROWS) || column->away || column->lost ||
        column_bytes(column) / 2 > keeper->most)
        return;
    if (!column->kept) {
        column->kept = kept_new(keeper);
        column->release_kept = kept_free;
    }
    struct kept *kept = column->kept;
    kept->used = keeper->clock;
    if (kept->noted || !is_wanted(keeper, column))
        return;
    kept->noted = true;
    if (keeper->noted_count == keeper->noted_capacity) {
        keeper->noted_capacity = keeper->noted_capacity ? 2 * keeper->noted_capacity : 8;
        keeper->noted = heap_resize(keeper->noted, keeper->noted_capacity, sizeof(struct column *));
    }
    keeper->noted[keeper->noted_count++] = column_ref(column);
}

/* Drops the copy that has not been used for longest; false if all were of late. Under the lock. */
static bool drop_oldest(struct keeper *keeper, struct column **dropped)
{
    struct kept *oldest = NULL;
    for (struct kept *kept = keeper->records; kept; kept = kept->after) {
        if (kept->narrow && kept->used + RECENT < keeper->clock && (!oldest || kept->used < oldest->used))
            oldest = kept;
    }
    if (!oldest)
        return false;
    *dropped = atomic_exchange(&oldest->narrow, NULL);
    set_bytes(oldest, 0);
    return true;
}

/* Sets memory aside for the column's copy if there is enough. */
static void make_room(struct keeper *keeper, const struct column *column)
{
    const struct zones *zones = column->kept->zones;
    const struct type_info *info = &type_table[column->store];
    size_t bytes = column_bytes(column) / 2; /* at most: the next narrower type has half the size */
    if (zones)
        bytes = (size_t)column->rows * type_table[narrow_type(column, zones->all.lo, zones->all.hi)].size;
    if (info->kind != KIND_INT || info->size == 1 || bytes > keeper->most)
        return;
    pthread_mutex_lock(&keeper->lock);
    struct column *dropped = NULL;
    while (keeper->copies + bytes > keeper->most && drop_oldest(keeper, &dropped)) {
        pthread_mutex_unlock(&keeper->lock);
        column_unref(dropped);
        pthread_mutex_lock(&keeper->lock);
    }
    if (keeper->copies + bytes <= keeper->most)
        set_bytes(column->kept, bytes);
    pthread_mutex_unlock(&keeper->lock);
}

/* Nobody will make the column's copy: what was set aside for it goes to others. */
static void give_up(struct keeper *keeper, const struct column *column)
{
    pthread_mutex_lock(&keeper->lock);
    set_bytes(column->kept, column->kept->narrow ? column_bytes(column->kept->narrow) : 0);
    pthread_mutex_unlock(&keeper->lock);
}

static void enqueue(struct keeper *keeper, struct column *column)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->queued == keeper->queue_capacity) {
        keeper->queue_capacity = keeper->queue_capacity ? 2 * keeper->queue_capacity : 8;
        keeper->queue = heap_resize(keeper->queue, keeper->queue_capacity, sizeof(struct column *));
    }
    keeper->queue[keeper->queued++] = column;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_begin(struct keeper *keeper)
{
    if (!keeper)
        return;
    keeper->clock++;
    for (size_t i = 0; i < keeper->noted_count; i++) {
        struct column *column = keeper->noted[i];
        bool read_again = column->refs > 1;
        if (read_again)
            make_room(keeper, column);
        if (read_again && !keeper->eager && (keeper->running || start(keeper))) {
            enqueue(keeper, column);
            continue;
        }
        if (read_again && keeper->eager)
            look_into(keeper, column);
        else
            give_up(keeper, column);
        column->kept->noted = false;
        column_unref(column);
    }
    keeper->noted_count = 0;
}

void keeper_be_eager(struct keeper *keeper, bool eager)
{
    keeper->eager = eager;
}

bool keeper_is_eager(const struct keeper *keeper)
{
    return keeper->eager;
}

void keeper_settle(struct keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    while (keeper->running && (keeper->queued > 0 || keeper->busy))
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    pthread_mutex_unlock(&keeper->lock);
}
