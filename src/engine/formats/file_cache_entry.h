/* The cache's entries; private to the files of the cache. */
#ifndef RQL_ENGINE_FORMATS_FILE_CACHE_ENTRY_H
#define RQL_ENGINE_FORMATS_FILE_CACHE_ENTRY_H

#include "engine/formats/kept_rows.h"
#include "engine/formats/open_file.h"

struct entry {
    char *path;
    struct opened_file file;   /* always with a relation; of a reader, its columns may be unread */
    struct relation *unread;   /* of a reader: what stands for each column until it is read */
    struct column **unsorted;  /* of a reader: columns of text with unsorted dictionaries that have been read; NULL */
    int64_t *rows_worth;       /* of a reader, of each column: what reading some rows has cost that are not kept, as
                                  of file_cache_rows_worth */
    struct kept_row_sets kept; /* of a reader: columns of some rows */
    char *stated;              /* of text files: what the user states, as text */
    bool by_content;           /* what gave the format */
    bool several;              /* the path stands for several files */
    uint64_t statement; /* of a program: the one that has run it; of an address: that has asked for it last; else 0 */
    bool recent;        /* modified just before it was opened */
    uint64_t used;      /* the cache's clock at the last use */
};

struct file_cache {
    struct opener opener;
    struct entry *entries;
    size_t count, capacity;
    uint64_t clock;
    uint64_t statements; /* that have ended, and 1 */
    int64_t limit;       /* bytes of columns */
};

/* Whether what the entry has is what a file of this stamp has now. */
bool entry_is_current(const struct entry *entry, const struct file_stamp *now);

#endif
