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
    LOWEST_PRIORITY = 19,
    PAUSE_NS = 10000000,
    RECENT = 16,        /* copies used by so many of the last queries are not dropped for others */
    MIN_ROWS = 1 << 18, /* what is shorter is read in less time than it takes to begin */
    ROWS_A_ZONE = 1 << 16,
    EAGER_ROWS_A_ZONE = 1 << 12
};

struct column_stats {
    struct stats_collector *collector; /* one reference */
    _Atomic(struct zonemap *) zones;
    _Atomic(struct column *) narrow;
    size_t bytes;      /* of the copy, or set aside for it */
    int64_t used;      /* the keeper's clock at the last note */
    atomic_bool noted; /* in the list or the queue */
    struct column_stats *before, *after;
};

struct stats_collector {
    size_t most; /* bytes of copies */
    atomic_bool eager;
    struct buffer_pool *pool;
    int64_t clock;         /* queries */
    struct column **noted; /* one reference each */
    size_t noted_count, noted_capacity;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct column_stats *records;
    size_t copies;         /* bytes of all records */
    struct column **queue; /* one reference each */
    size_t queued, queue_capacity;
    bool busy, running;
    atomic_bool stop;
    pthread_t thread;
    int refs; /* the owner's and one for each record */
};

struct stats_collector *stats_collector_new(size_t most, struct buffer_pool *pool)
{
    struct stats_collector *collector = heap_array(1, sizeof *collector);
    collector->most = most;
    collector->pool = buffer_pool_ref(pool);
    collector->refs = 1;
    pthread_mutex_init(&collector->lock, NULL);
    /* What waits for a while is not to be misled when somebody sets the clock. */
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->changed, &steady);
    pthread_condattr_destroy(&steady);
    return collector;
}

/* Under the lock, which it leaves. */
static void let_go(struct stats_collector *collector)
{
    bool last = --collector->refs == 0;
    pthread_mutex_unlock(&collector->lock);
    if (!last)
        return;
    buffer_pool_unref(collector->pool);
    pthread_cond_destroy(&collector->changed);
    pthread_mutex_destroy(&collector->lock);
    free(collector->noted);
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
    stats->collector->copies -= stats->bytes;
    stats->collector->copies += bytes;
    stats->bytes = bytes;
}

static void column_stats_free(struct column_stats *stats)
{
    struct stats_collector *collector = stats->collector;
    column_unref(stats->narrow);
    zonemap_free(stats->zones);
    pthread_mutex_lock(&collector->lock);
    set_bytes(stats, 0);
    if (stats->before)
        stats->before->after = stats->after;
    else
        collector->records = stats->after;
    if (stats->after)
        stats->after->before = stats->before;
    let_go(collector);
    free(stats);
}

static struct column_stats *kept_new(struct stats_collector *collector)
{
    struct column_stats *stats = heap_array(1, sizeof *stats);
    stats->collector = collector;
    pthread_mutex_lock(&collector->lock);
    collector->refs++;
    stats->after = collector->records;
    if (stats->after)
        stats->after->before = stats;
    collector->records = stats;
    pthread_mutex_unlock(&collector->lock);
    return stats;
}

static size_t column_bytes(const struct column *column)
{
    return (size_t)column->rows * type_table[column->store].size;
}

/* What was read from a file that changed meanwhile means nothing. */
static bool is_sound(const struct column *column)
{
    return !column->mapping || !mapping_changed(column->mapping);
}

/* Finds out about a column. On the keeper's thread. */
static void look_into(struct stats_collector *collector, const struct column *column)
{
    struct column_stats *stats = column->stats;
    struct zonemap *zones = stats->zones;
    struct column *copy = NULL;
    pthread_mutex_lock(&collector->lock);
    bool has_room = stats->bytes > 0;
    pthread_mutex_unlock(&collector->lock);
    if (!zones) {
        zones = zonemap_new(column, collector->eager ? EAGER_ROWS_A_ZONE : ROWS_A_ZONE, &collector->stop);
        if (!zones || !is_sound(column)) {
            zonemap_free(zones);
            zones = NULL;
        }
        atomic_store_explicit(&stats->zones, zones, memory_order_release);
    }
    if (zones && has_room && !stats->narrow) {
        enum type store = narrow_type(column, zones->all.lo, zones->all.hi);
        if (store != column->store)
            copy = narrow_copy(column, store, zones->all.lo, zones->all.hi, collector->pool, &collector->stop);
        if (copy && !is_sound(column)) {
            column_unref(copy);
            copy = NULL;
        }
    }
    pthread_mutex_lock(&collector->lock);
    if (copy)
        atomic_store_explicit(&stats->narrow, copy, memory_order_release);
    set_bytes(stats, stats->narrow ? column_bytes(stats->narrow) : 0);
    pthread_mutex_unlock(&collector->lock);
    stats->noted = false;
}

/* Waits a moment: a process that was started for one query is gone by then. Under the lock. */
static void pause_first(struct stats_collector *collector)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PAUSE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!collector->stop && pthread_cond_timedwait(&collector->changed, &collector->lock, &until) == 0)
        ;
}

static void *work(void *argument)
{
    struct stats_collector *collector = argument;
    /* Linux takes this for the thread. A scheduling class for idle time would be more than is wanted: on a busy machine
     * the thread would not even get to its end when it is told to stop, and rql waits for that. */
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
            pause_first(collector);
        if (collector->stop)
            break;
        collector->busy = true;
        struct column *column = collector->queue[--collector->queued];
        pthread_mutex_unlock(&collector->lock);
        look_into(collector, column);
        column_unref(column);
        pthread_mutex_lock(&collector->lock);
    }
    pthread_mutex_unlock(&collector->lock);
    return NULL;
}

static bool start(struct stats_collector *collector)
{
    collector->running = thread_start(&collector->thread, work, collector);
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
    for (size_t i = 0; i < collector->queued; i++)
        column_unref(collector->queue[i]);
    for (size_t i = 0; i < collector->noted_count; i++)
        column_unref(collector->noted[i]);
    pthread_mutex_lock(&collector->lock);
    let_go(collector);
}

/* Whether anything is left to be found out. */
static bool is_wanted(const struct stats_collector *collector, const struct column *column)
{
    const struct column_stats *stats = column->stats;
    const size_t bytes = column_bytes(column);
    if (!stats->zones)
        return true;
    return !stats->narrow && bytes / 2 <= collector->most &&
           narrow_type(column, stats->zones->all.lo, stats->zones->all.hi) != column->store;
}

void stats_collector_add(struct stats_collector *collector, struct column *column)
{
    if (!collector || column->rows < (collector->eager ? 1 : MIN_ROWS) || column->residency || column->lost ||
        column_bytes(column) / 2 > collector->most)
        return;
    if (!column->stats) {
        column->stats = kept_new(collector);
        column->release_stats = column_stats_free;
    }
    struct column_stats *stats = column->stats;
    stats->used = collector->clock;
    if (stats->noted || !is_wanted(collector, column))
        return;
    stats->noted = true;
    if (collector->noted_count == collector->noted_capacity) {
        collector->noted_capacity = collector->noted_capacity ? 2 * collector->noted_capacity : 8;
        collector->noted = heap_resize(collector->noted, collector->noted_capacity, sizeof(struct column *));
    }
    collector->noted[collector->noted_count++] = column_ref(column);
}

/* Drops the copy that has not been used for longest; false if all were of late. Under the lock. */
static bool drop_oldest(struct stats_collector *collector, struct column **dropped)
{
    struct column_stats *oldest = NULL;
    for (struct column_stats *stats = collector->records; stats; stats = stats->after) {
        if (stats->narrow && stats->used + RECENT < collector->clock && (!oldest || stats->used < oldest->used))
            oldest = stats;
    }
    if (!oldest)
        return false;
    *dropped = atomic_exchange(&oldest->narrow, NULL);
    set_bytes(oldest, 0);
    return true;
}

/* Sets memory aside for the column's copy if there is enough. */
static void make_room(struct stats_collector *collector, const struct column *column)
{
    const struct zonemap *zones = column->stats->zones;
    const struct type_info *info = &type_table[column->store];
    size_t bytes = column_bytes(column) / 2; /* at most: the next narrower type has half the size */
    if (zones)
        bytes = (size_t)column->rows * type_table[narrow_type(column, zones->all.lo, zones->all.hi)].size;
    if (info->kind != KIND_INT || info->size == 1 || bytes > collector->most)
        return;
    pthread_mutex_lock(&collector->lock);
    struct column *dropped = NULL;
    while (collector->copies + bytes > collector->most && drop_oldest(collector, &dropped)) {
        pthread_mutex_unlock(&collector->lock);
        column_unref(dropped);
        pthread_mutex_lock(&collector->lock);
    }
    if (collector->copies + bytes <= collector->most)
        set_bytes(column->stats, bytes);
    pthread_mutex_unlock(&collector->lock);
}

/* Nobody will make the column's copy: what was set aside for it goes to others. */
static void give_up(struct stats_collector *collector, const struct column *column)
{
    pthread_mutex_lock(&collector->lock);
    set_bytes(column->stats, column->stats->narrow ? column_bytes(column->stats->narrow) : 0);
    pthread_mutex_unlock(&collector->lock);
}

static void enqueue(struct stats_collector *collector, struct column *column)
{
    pthread_mutex_lock(&collector->lock);
    if (collector->queued == collector->queue_capacity) {
        collector->queue_capacity = collector->queue_capacity ? 2 * collector->queue_capacity : 8;
        collector->queue = heap_resize(collector->queue, collector->queue_capacity, sizeof(struct column *));
    }
    collector->queue[collector->queued++] = column;
    pthread_cond_broadcast(&collector->changed);
    pthread_mutex_unlock(&collector->lock);
}

void stats_collector_start(struct stats_collector *collector)
{
    if (!collector)
        return;
    collector->clock++;
    for (size_t i = 0; i < collector->noted_count; i++) {
        struct column *column = collector->noted[i];
        bool read_again = column->refs > 1;
        if (read_again)
            make_room(collector, column);
        if (read_again && !collector->eager && (collector->running || start(collector))) {
            enqueue(collector, column);
            continue;
        }
        if (read_again && collector->eager)
            look_into(collector, column);
        else
            give_up(collector, column);
        column->stats->noted = false;
        column_unref(column);
    }
    collector->noted_count = 0;
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
