/* The main thread registers columns in the list `pending` until the query has ended, then moves them to the queue of
 * the collector's thread. A column gets its record, `stats`, when it is registered first; the records are linked so
 * that the least recently used copy can be dropped. Only the main thread drops copies, and only between queries, so
 * queries need no reference to those they read; the thread only adds to a record, by storing a pointer. */
#include "engine/storage/column_stats.h"

#include "base/buffer_pool.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/narrow_copy.h"

#include "base/heap.h"
#include "base/thread_pool.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    LOWEST_PRIORITY = 19,
    START_DELAY_NS = 10000000,
    RECENT = 16,        /* copies used in this many last queries are not dropped */
    MIN_ROWS = 1 << 18, /* shorter columns are read faster than the thread starts */
    ZONE_ROWS = 1 << 16,
    EAGER_ZONE_ROWS = 1 << 12
};

struct column_stats {
    struct stats_collector *collector; /* one reference */
    _Atomic(struct zonemap *) zones;
    _Atomic(struct column *) narrow;
    size_t bytes;        /* of the copy, or reserved for it */
    int64_t last_used;   /* the collector's clock when last registered */
    atomic_bool pending; /* in the list or the queue */
    struct column_stats *previous, *next;
};

struct stats_collector {
    size_t max_copies; /* bytes */
    atomic_bool eager;
    struct buffer_pool *pool;
    int64_t clock;           /* queries so far */
    struct column **pending; /* one reference each */
    size_t pending_count, pending_capacity;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    struct column_stats *records;
    size_t copy_bytes;     /* of all records */
    struct column **queue; /* one reference each */
    size_t queued, queue_capacity;
    bool busy, running;
    atomic_bool stop;
    pthread_t thread;
    int refs; /* the owner's and one per record */
};

struct stats_collector *stats_collector_new(size_t max_copies, struct buffer_pool *pool)
{
    struct stats_collector *collector = heap_array(1, sizeof *collector);
    collector->max_copies = max_copies;
    collector->pool = buffer_pool_ref(pool);
    collector->refs = 1;
    pthread_mutex_init(&collector->lock, NULL);
    /* Timed waits must not depend on changes of the system clock. */
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return collector;
}

/* Drops a reference. Called with the lock held, which it releases. */
static void unref_unlock(struct stats_collector *collector)
{
    const bool last = --collector->refs == 0;
    pthread_mutex_unlock(&collector->lock);
    if (!last)
        return;
    buffer_pool_unref(collector->pool);
    pthread_cond_destroy(&collector->changed);
    pthread_mutex_destroy(&collector->lock);
    free(collector->pending);
    free(collector->queue);
    free(collector);
}

const struct zonemap *column_zones(const struct column *column)
{
    return column->stats ? atomic_load_explicit(&column->stats->zones, memory_order_acquire) : NULL;
}

struct column *column_narrow(const struct column *column)
{
    return column->stats ? atomic_load_explicit(&column->stats->narrow, memory_order_acquire) : NULL;
}

static void set_bytes(struct column_stats *stats, size_t bytes)
{
    stats->collector->copy_bytes -= stats->bytes;
    stats->collector->copy_bytes += bytes;
    stats->bytes = bytes;
}

static void column_stats_free(struct column_stats *stats)
{
    struct stats_collector *collector = stats->collector;
    column_unref(stats->narrow);
    zonemap_free(stats->zones);
    pthread_mutex_lock(&collector->lock);
    set_bytes(stats, 0);
    if (stats->previous)
        stats->previous->next = stats->next;
    else
        collector->records = stats->next;
    if (stats->next)
        stats->next->previous = stats->previous;
    unref_unlock(collector);
    free(stats);
}

static struct column_stats *column_stats_new(struct stats_collector *collector)
{
    struct column_stats *stats = heap_array(1, sizeof *stats);
    stats->collector = collector;
    pthread_mutex_lock(&collector->lock);
    collector->refs++;
    stats->next = collector->records;
    if (stats->next)
        stats->next->previous = stats;
    collector->records = stats;
    pthread_mutex_unlock(&collector->lock);
    return stats;
}

static size_t column_bytes(const struct column *column)
{
    return (size_t)column->rows * type_table[column->store].size;
}

/* Statistics of a file that changed meanwhile are invalid. */
static bool is_unchanged(const struct column *column)
{
    return !column->mapping || !mapping_changed(column->mapping);
}

/* Collects the statistics of a column. Runs on the collector's thread. */
static void collect_stats(struct stats_collector *collector, const struct column *column)
{
    struct column_stats *stats = column->stats;
    struct zonemap *zones = stats->zones;
    struct column *copy = NULL;
    pthread_mutex_lock(&collector->lock);
    const bool copy_reserved = stats->bytes > 0;
    pthread_mutex_unlock(&collector->lock);
    if (!zones) {
        zones = zonemap_new(column, collector->eager ? EAGER_ZONE_ROWS : ZONE_ROWS, &collector->stop);
        if (!zones || !is_unchanged(column)) {
            zonemap_free(zones);
            zones = NULL;
        }
        atomic_store_explicit(&stats->zones, zones, memory_order_release);
    }
    if (zones && copy_reserved && !stats->narrow) {
        const enum type store = narrow_type(column->store, zones->all.lo, zones->all.hi);
        if (store != column->store)
            copy = narrow_copy(column, store, zones->all.lo, zones->all.hi, collector->pool, &collector->stop);
        if (copy && !is_unchanged(column)) {
            column_unref(copy);
            copy = NULL;
        }
    }
    pthread_mutex_lock(&collector->lock);
    if (copy)
        atomic_store_explicit(&stats->narrow, copy, memory_order_release);
    set_bytes(stats, stats->narrow ? column_bytes(stats->narrow) : 0);
    pthread_mutex_unlock(&collector->lock);
    stats->pending = false;
}

/* Waits a moment: a process started for one query exits meanwhile. Called with the lock held. */
static void delay_start(struct stats_collector *collector)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += START_DELAY_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!collector->stop && pthread_cond_timedwait(&collector->changed, &collector->lock, &until) == 0)
        ;
}

static void *collector_main(void *argument)
{
    struct stats_collector *collector = argument;
    /* On Linux this applies to the thread. SCHED_IDLE would be too low: on a busy machine the thread would not even
     * reach its end when told to stop, and rql waits for that. */
    (void)setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    pthread_mutex_lock(&collector->lock);
    while (!collector->stop) {
        if (collector->queued == 0) {
            collector->busy = false;
            pthread_cond_broadcast(&collector->changed);
            pthread_cond_wait(&collector->changed, &collector->lock);
            continue;
        }
        if (!collector->busy)
            delay_start(collector);
        if (collector->stop)
            break;
        collector->busy = true;
        struct column *column = collector->queue[--collector->queued];
        pthread_mutex_unlock(&collector->lock);
        collect_stats(collector, column);
        column_unref(column);
        pthread_mutex_lock(&collector->lock);
    }
    pthread_mutex_unlock(&collector->lock);
    return NULL;
}

static bool start_thread(struct stats_collector *collector)
{
    collector->running = thread_start(&collector->thread, collector_main, collector);
    return collector->running;
}

void stats_collector_free(struct stats_collector *collector)
{
    if (!collector)
        return;
    pthread_mutex_lock(&collector->lock);
    collector->stop = true;
    pthread_cond_broadcast(&collector->changed);
    pthread_mutex_unlock(&collector->lock);
    if (collector->running)
        pthread_join(collector->thread, NULL);
    columns_unref(collector->queue, collector->queued);
    columns_unref(collector->pending, collector->pending_count);
    pthread_mutex_lock(&collector->lock);
    unref_unlock(collector);
}

/* Whether any statistics are missing. */
static bool is_wanted(const struct stats_collector *collector, const struct column *column)
{
    const struct column_stats *stats = column->stats;
    const size_t bytes = column_bytes(column);
    if (!stats->zones)
        return true;
    return !stats->narrow && bytes / 2 <= collector->max_copies &&
           narrow_type(column->store, stats->zones->all.lo, stats->zones->all.hi) != column->store;
}

void stats_collector_add(struct stats_collector *collector, struct column *column)
{
    if (!collector || column->rows < (collector->eager ? 1 : MIN_ROWS) || column->residency || column->lost ||
        column->unread || column_bytes(column) / 2 > collector->max_copies)
        return;
    if (!column->stats) {
        column->stats = column_stats_new(collector);
        column->release_stats = column_stats_free;
    }
    struct column_stats *stats = column->stats;
    stats->last_used = collector->clock;
    if (stats->pending || !is_wanted(collector, column))
        return;
    stats->pending = true;
    collector->pending = heap_reserve(collector->pending, collector->pending_count, &collector->pending_capacity,
                                      sizeof(struct column *));
    collector->pending[collector->pending_count++] = column_ref(column);
}

/* Drops the least recently used copy; false if all were used recently. Called with the lock held. */
static bool drop_oldest(struct stats_collector *collector, struct column **dropped)
{
    struct column_stats *oldest = NULL;
    for (struct column_stats *stats = collector->records; stats; stats = stats->next) {
        if (stats->narrow && stats->last_used + RECENT < collector->clock &&
            (!oldest || stats->last_used < oldest->last_used))
            oldest = stats;
    }
    if (!oldest)
        return false;
    *dropped = atomic_exchange(&oldest->narrow, NULL);
    set_bytes(oldest, 0);
    return true;
}

/* Reserves memory for the column's copy if possible. */
static void reserve_copy(struct stats_collector *collector, const struct column *column)
{
    const struct zonemap *zones = column->stats->zones;
    const struct type_info *info = &type_table[column->store];
    size_t bytes = column_bytes(column) / 2; /* upper bound: the next narrower type has half the size */
    if (zones)
        bytes = (size_t)column->rows * type_table[narrow_type(column->store, zones->all.lo, zones->all.hi)].size;
    if (info->kind != KIND_INT || info->size == 1 || bytes > collector->max_copies)
        return;
    pthread_mutex_lock(&collector->lock);
    struct column *dropped = NULL;
    while (collector->copy_bytes + bytes > collector->max_copies && drop_oldest(collector, &dropped)) {
        pthread_mutex_unlock(&collector->lock);
        column_unref(dropped);
        pthread_mutex_lock(&collector->lock);
    }
    if (collector->copy_bytes + bytes <= collector->max_copies)
        set_bytes(column->stats, bytes);
    pthread_mutex_unlock(&collector->lock);
}

/* No copy will be made: frees its reservation. */
static void cancel_copy(struct stats_collector *collector, const struct column *column)
{
    pthread_mutex_lock(&collector->lock);
    set_bytes(column->stats, column->stats->narrow ? column_bytes(column->stats->narrow) : 0);
    pthread_mutex_unlock(&collector->lock);
}

static void enqueue(struct stats_collector *collector, struct column *column)
{
    pthread_mutex_lock(&collector->lock);
    collector->queue =
        heap_reserve(collector->queue, collector->queued, &collector->queue_capacity, sizeof(struct column *));
    collector->queue[collector->queued++] = column;
    pthread_cond_broadcast(&collector->changed);
    pthread_mutex_unlock(&collector->lock);
}

void stats_collector_start(struct stats_collector *collector)
{
    if (!collector)
        return;
    collector->clock++;
    for (size_t i = 0; i < collector->pending_count; i++) {
        struct column *column = collector->pending[i];
        const bool in_use = column->refs > 1;
        if (in_use)
            reserve_copy(collector, column);
        if (in_use && !collector->eager && (collector->running || start_thread(collector))) {
            enqueue(collector, column);
            continue;
        }
        if (in_use && collector->eager)
            collect_stats(collector, column);
        else
            cancel_copy(collector, column);
        column->stats->pending = false;
        column_unref(column);
    }
    collector->pending_count = 0;
}

void stats_collector_set_eager(struct stats_collector *collector, bool eager)
{
    collector->eager = eager;
}

bool stats_collector_is_eager(const struct stats_collector *collector)
{
    return collector->eager;
}

void stats_collector_wait(struct stats_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    while (collector->running && (collector->queued > 0 || collector->busy))
        pthread_cond_wait(&collector->changed, &collector->lock);
    pthread_mutex_unlock(&collector->lock);
}
