/* libFuzzer target for folders called KEY=VALUE: any paths give columns of their values, and what is written for a text
 * is read as that text. The input is paths, one a line. */
#include "base/utf8.h"
#include "engine/formats/partition.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATHS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_columns(const char *const *paths, size_t count, struct arena *arena)
{
    const struct workers workers = {.threads = 1};
    struct partitions partitions = partitions_of_paths(paths, count, arena);
    int64_t rows[MOST_PATHS];
    for (size_t f = 0; f < count; f++)
        rows[f] = (int64_t)f % 3;
    require((partitions.count > 0) == paths_have_keys(paths, count));
    for (size_t k = 0; k < partitions.count; k++) {
        const struct partition_key *key = &partitions.keys[k];
        for (size_t f = 0; f < count; f++)
            (void)partition_bounds(key, f);
        struct column *column = partition_column(key, rows, count, &workers);
        require(column);
        column_unref(column);
    }
}

/* Writes and reads a text as a value, beside one that keeps the column a text. */
static void check_text(const char *text, struct arena *arena)
{
    struct strbuf name = {0};
    const struct text value = {text, strlen(text)};
    partition_name(&name, "k", &value);
    require(!memchr(name.text + 2, '/', name.length - 2) && !strchr(name.text + 2, '='));
    const char *const paths[] = {arena_printf(arena, "%s/f", name.text), "k=text/f"};
    const struct partitions read = partitions_of_paths(paths, 2, arena);
    require(read.count == 1 && read.keys[0].logical.kind == LOGICAL_TEXT);
    const struct partition_value *found = &read.keys[0].values[0];
    require(found->missing == (strcmp(text, PARTITION_MISSING) == 0));
    require(found->missing || (found->text.length == value.length && memcmp(found->text.at, text, value.length) == 0));
    const char *usual = partition_usual_name(name.text, "k", read.keys[0].logical, arena);
    require(strcmp(usual, name.text) == 0);
    strbuf_free(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *paths[MOST_PATHS];
    size_t count = 0;
    char *text = arena_text(arena, (const char *)data, size);
    for (char *at = text, *end; count < MOST_PATHS && at < text + size; at = end + 1) {
        end = at + strcspn(at, "\n");
        *end = '\0';
        paths[count++] = at;
        if (utf8_is_valid(at, strlen(at)))
            check_text(at, arena);
    }
    check_columns(paths, count, arena);
    arena_free(arena);
    return 0;
}
