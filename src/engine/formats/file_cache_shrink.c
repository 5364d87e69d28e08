/* What the cache keeps of files, and what it lets go: as in GreedyDual-Size (Cao and Irani 1997) by the time to make it
 * again for each byte, and by its age. */
#include "base/heap.h"
#include "engine/formats/file_cache_entry.h"

#include <math.h>
#include <stdlib.h>

/* Something that can be dropped: a column read whole, or the columns read of some rows. */
struct item {
    struct column **column; /* the cache's reference; NULL: */
    struct kept_rows *rows;
    struct entry *entry;
    size_t place; /* of the column */
    int64_t bytes;
    double use;
};

struct items {
    struct item *at;
    size_t count, capacity;
    int64_t bytes; /* of these and of columns that are in use */
    size_t columns;
};

double file_cache_time_to_read(const struct column *column)
{
    const double text = 200, list = 400, number = 2, byte = 8;
    const double packed = (double)column->packed / (double)(column->rows > 0 ? column->rows : 1);
    return column->logical.kind == LOGICAL_TEXT   ? (packed > 0 ? fmin(number + byte * packed, text) : text)
           : column->logical.kind == LOGICAL_LIST ? list
                                                  : 1 + (double)type_table[column->type].size;
}

bool file_cache_is_slow(const struct column *column)
{
    const double fast = 12;
    return file_cache_time_to_read(column) > fast;
}

void file_cache_set_limit(struct file_cache *file_cache, int64_t bytes)
{
    file_cache->limit = bytes;
}

void file_cache_touch(const struct file_cache *file_cache, struct column *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[i]->used = file_cache->statements;
}

static void add_item(struct items *items, struct item item, double time, uint64_t age)
{
    item.use = time / ((double)item.bytes + 1) / ((double)age + 1);
    *HEAP_PUSH(items->at, items->count, items->capacity) = item;
}

/* Adds a column that the entry has read, if only the cache and copies on devices refer to it. */
static void add_column(struct items *items, const struct file_cache *file_cache, struct entry *entry, size_t place,
                       struct column **at)
{
    const struct column *column = *at;
    if (!column || column->unread)
        return;
    const int64_t bytes = kept_column_bytes(column);
    items->bytes += bytes;
    items->columns++;
    if (column->refs <= column->copies + 1 && bytes > 0)
        add_item(items, (struct item){.column = at, .entry = entry, .place = place, .bytes = bytes},
                 file_cache_time_to_read(column) * (double)column->rows, file_cache->statements - column->used);
}

/* Adds the columns of some rows, which took at least the time of so many. */
static void add_rows(struct items *items, const struct file_cache *file_cache, struct entry *entry,
                     struct kept_rows *rows)
{
    const size_t width = entry->unread->count;
    const int64_t bytes = kept_rows_bytes(rows, width);
    double time = 0;
    for (size_t k = 0; k < width; k++) {
        time += rows->columns[k] ? file_cache_time_to_read(rows->columns[k]) * (double)rows->columns[k]->rows : 0;
        items->columns += rows->columns[k] ? 1 : 0;
    }
    items->bytes += bytes;
    add_item(items, (struct item){.rows = rows, .entry = entry, .bytes = bytes}, time,
             file_cache->statements - rows->used);
}

/* Whether its columns can be read again: those of files here. */
static bool reads_again(const struct entry *entry)
{
    const struct file_reader *reader = entry->file.reader;
    return reader && !reader->live && !reader->query && entry->statement == 0;
}

/* What can be dropped, and what all takes. */
static struct items list_items(const struct file_cache *file_cache)
{
    struct items items = {0};
    for (size_t i = 0; i < file_cache->count; i++) {
        struct entry *entry = &file_cache->entries[i];
        for (size_t k = 0; reads_again(entry) && k < entry->unread->count; k++) {
            add_column(&items, file_cache, entry, k, &entry->file.relation->columns[k]);
            add_column(&items, file_cache, entry, k, &entry->unsorted[k]);
        }
        for (size_t k = 0; k < entry->kept.count; k++)
            add_rows(&items, file_cache, entry, &entry->kept.at[k]);
    }
    return items;
}

struct file_cache_columns file_cache_columns(const struct file_cache *file_cache)
{
    const struct items items = list_items(file_cache);
    free(items.at);
    return (struct file_cache_columns){.count = items.columns, .bytes = items.bytes};
}

static int compare_use(const void *a, const void *b)
{
    const double x = ((const struct item *)a)->use, y = ((const struct item *)b)->use;
    return (x > y) - (x < y);
}

static void drop(struct item *item)
{
    struct entry *entry = item->entry;
    if (item->rows) {
        kept_rows_release(item->rows, entry->unread->count);
        *item->rows = (struct kept_rows){0};
        return;
    }
    const bool whole = item->column == &entry->file.relation->columns[item->place];
    column_unref(*item->column);
    *item->column = whole ? column_ref(entry->unread->columns[item->place]) : NULL;
    entry->rows_worth[item->place] = 0;
}

/* Removes what was dropped. */
static void compact(struct kept_row_sets *sets)
{
    size_t kept = 0;
    for (size_t i = 0; i < sets->count; i++) {
        if (sets->at[i].columns)
            sets->at[kept++] = sets->at[i];
    }
    sets->count = kept;
}

void file_cache_shrink(struct file_cache *file_cache, int64_t limit)
{
    struct items items = list_items(file_cache);
    if (items.bytes > limit && items.count > 0)
        qsort(items.at, items.count, sizeof *items.at, compare_use);
    for (size_t i = 0; i < items.count && items.bytes > limit; i++) {
        items.bytes -= items.at[i].bytes;
        drop(&items.at[i]);
    }
    for (size_t i = 0; i < file_cache->count; i++)
        compact(&file_cache->entries[i].kept);
    free(items.at);
}
