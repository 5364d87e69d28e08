#include "engine/formats/partition.h"

#include "base/number_text.h"
#include "base/time/calendar.h"
#include "base/utf8.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of begin..end-1 with %XX decoded, or as they are if that gives no UTF-8. */
static struct text decode(const char *begin, const char *end, struct arena *arena)
{
    char *text = arena_alloc(arena, (size_t)(end - begin) + 1);
    size_t length = 0;
    for (const char *at = begin; at < end;) {
        uint32_t byte;
        const char *behind = *at == '%' ? scan_hex(at + 1, end, 2, &byte) : NULL;
        text[length++] = behind ? (char)byte : *at;
        at = behind ? behind : at + 1;
    }
    const bool plain = !utf8_is_valid(text, length) || memchr(text, '\0', length);
    return plain ? (struct text){arena_text(arena, begin, (size_t)(end - begin)), (size_t)(end - begin)}
                 : (struct text){text, length};
}

static struct partition_key *find_key(struct partitions *partitions, const char *name, size_t files, size_t *capacity,
                                      struct arena *arena)
{
    for (size_t k = 0; k < partitions->count; k++) {
        if (strcmp(partitions->keys[k].name, name) == 0)
            return &partitions->keys[k];
    }
    struct partition_key *key = ARENA_PUSH(arena, partitions->keys, partitions->count, *capacity);
    *key = (struct partition_key){.name = name, .values = arena_array(arena, files, sizeof *key->values)};
    for (size_t f = 0; f < files; f++)
        key->values[f].missing = true;
    return key;
}

/* The `=` in at..end-1, the name of a folder, between a key and a value; NULL: it is no such name. */
static const char *find_equal(const char *at, const char *end)
{
    const char *equal = *end == '/' ? memchr(at, '=', (size_t)(end - at)) : NULL;
    return equal > at ? equal : NULL;
}

bool paths_have_keys(const char *const *paths, size_t count)
{
    for (size_t f = 0; f < count; f++) {
        for (const char *at = paths[f]; *at;) {
            const char *end = at + strcspn(at, "/");
            if (find_equal(at, end))
                return true;
            at = *end ? end + 1 : end;
        }
    }
    return false;
}

/* Adds the keys and values of a file's folders. */
static void add_path(struct partitions *partitions, const char *path, size_t file, size_t files, size_t *capacity,
                     struct arena *arena)
{
    for (const char *at = path; *at;) {
        const char *end = at + strcspn(at, "/"), *equal = find_equal(at, end);
        if (equal) {
            const struct text name = decode(at, equal, arena), value = decode(equal + 1, end, arena);
            const char *of = arena_text(arena, name.at, name.length);
            struct partition_key *key = find_key(partitions, of, files, capacity, arena);
            key->values[file] = (struct partition_value){.missing = text_is(value, PARTITION_MISSING), .text = value};
        }
        at = *end ? end + 1 : end;
    }
}

static bool is_integer(struct text text, int64_t *value)
{
    const char *digits = text.at + (text.length > 0 && *text.at == '-');
    const size_t count = (size_t)(text.at + text.length - digits);
    if (count == 0 || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    return (*digits != '0' || count <= 2) && read_int(text.at, text.at + text.length, value) == READ_INT;
}

static bool is_date(struct text text, int64_t *days)
{
    return date_read(text.at, text.at + text.length, days);
}

/* Whether all values that there are can be read so; then they are. */
static bool read_all(struct partition_key *key, size_t files, bool (*read)(struct text text, int64_t *value))
{
    bool any = false;
    int64_t value;
    for (size_t f = 0; f < files; f++) {
        const struct partition_value *of = &key->values[f];
        if (of->missing || of->text.length == 0)
            continue;
        if (!read(of->text, &value))
            return false;
        any = true;
    }
    for (size_t f = 0; f < files && any; f++) {
        struct partition_value *of = &key->values[f];
        of->missing = of->missing || of->text.length == 0;
        if (!of->missing)
            (void)read(of->text, &of->integer);
    }
    return any;
}

static void find_type(struct partition_key *key, size_t files)
{
    if (!read_all(key, files, is_integer)) {
        const bool dates = read_all(key, files, is_date);
        key->logical.kind = dates ? LOGICAL_DATE : LOGICAL_TEXT;
    }
    for (size_t f = 0; f < files; f++)
        key->nullable = key->nullable || key->values[f].missing;
}

struct partitions partitions_of_paths(const char *const *paths, size_t count, struct arena *arena)
{
    struct partitions partitions = {0};
    size_t capacity = 0;
    for (size_t f = 0; f < count; f++)
        add_path(&partitions, paths[f], f, count, &capacity, arena);
    for (size_t k = 0; k < partitions.count; k++)
        find_type(&partitions.keys[k], count);
    return partitions;
}

void partitions_keep(struct partitions *partitions, const size_t *files, size_t count)
{
    for (size_t k = 0; k < partitions->count; k++) {
        struct partition_key *key = &partitions->keys[k];
        key->nullable = false;
        for (size_t f = 0; f < count; f++) {
            key->values[f] = key->values[files[f]];
            key->nullable = key->nullable || key->values[f].missing;
        }
    }
}

enum type partition_type(const struct partition_key *key)
{
    return key->logical.kind == LOGICAL_NUMBER ? TYPE_I64 : logical_table[key->logical.kind].stored;
}

struct group_bounds partition_bounds(const struct partition_key *key, size_t file)
{
    const struct partition_value *value = &key->values[file];
    struct group_bounds bounds = {.has_zone = true, .missing = value->missing, .present = !value->missing};
    bounds.zone = (struct zone){.lo = value->integer, .hi = value->integer, .low = INFINITY, .high = -INFINITY};
    bounds.least = bounds.most = value->text;
    return bounds;
}

/* The dictionary of the key's texts, and for each file the code of its own. */
static struct dictionary *find_texts(const struct partition_key *key, size_t count, uint32_t **codes,
                                     const struct workers *workers)
{
    struct interner *interner = interner_new();
    uint32_t *numbers = calloc(count + 1, sizeof *numbers), *map = NULL;
    for (size_t f = 0; f < count && numbers; f++)
        numbers[f] = key->values[f].missing ? 0 : interner_add(interner, key->values[f].text);
    struct dictionary *dictionary = numbers ? dictionary_of_interners(&interner, 1, &map, workers) : NULL;
    for (size_t f = 0; f < count && dictionary; f++)
        numbers[f] = key->values[f].missing ? 0 : map[numbers[f]];
    interner_free(interner);
    free(map);
    *codes = numbers;
    return dictionary;
}

/* The narrowest type for the values. */
static enum type store_of(const struct partition_key *key, size_t count, int64_t *lo, int64_t *hi)
{
    static const enum type stores[] = {TYPE_I8, TYPE_I16, TYPE_I32};
    *lo = *hi = count > 0 ? key->values[0].integer : 0;
    for (size_t f = 1; f < count; f++) {
        *lo = min_int64(*lo, key->values[f].integer);
        *hi = max_int64(*hi, key->values[f].integer);
    }
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        if (*lo >= type_table[stores[i]].lo && *hi <= type_table[stores[i]].hi)
            return stores[i];
    }
    return TYPE_I64;
}

static void fill(struct column *column, int64_t begin, int64_t rows, int64_t value)
{
    const size_t size = type_table[column->store].size;
    char *at = column_at(column, begin);
    if (rows <= 0)
        return;
    column_set_int(column, begin, value);
    for (int64_t done = 1; done < rows; done *= 2)
        memcpy(at + (size_t)done * size, at, (size_t)min_int64(done, rows - done) * size);
}

static struct column *fill_column(struct column *column, const struct partition_key *key, const uint32_t *codes,
                                  const int64_t *rows, size_t count, int64_t total)
{
    struct column *validity = column && key->nullable ? column_reserve(TYPE_BOOL, TYPE_BOOL, total) : NULL;
    if (!column || (key->nullable && !validity)) {
        column_unref(column);
        return NULL;
    }
    int64_t begin = 0;
    for (size_t f = 0; f < count; f++) {
        fill(column, begin, rows[f], codes ? codes[f] : key->values[f].integer);
        if (validity)
            fill(validity, begin, rows[f], !key->values[f].missing);
        begin += rows[f];
    }
    column_finish(column, total);
    if (validity) {
        column_finish(validity, total);
        column_set_validity(column, validity);
    }
    return column;
}

struct column *partition_column(const struct partition_key *key, const int64_t *rows, size_t count,
                                const struct workers *workers)
{
    struct column *column;
    uint32_t *codes = NULL;
    int64_t total = 0, lo, hi;
    for (size_t f = 0; f < count; f++)
        total += rows[f];
    if (key->logical.kind == LOGICAL_TEXT) {
        struct dictionary *dictionary = find_texts(key, count, &codes, workers);
        column = dictionary ? column_reserve_codes(NULL, dictionary, total) : NULL;
        dictionary_unref(dictionary);
    } else {
        const enum type store = store_of(key, count, &lo, &hi);
        column = column_reserve(partition_type(key), store, total);
        if (column) {
            column_set_logical(column, key->logical);
            column_set_range(column, total > 0, lo, hi);
        }
    }
    column = fill_column(column, key, codes, rows, count, total);
    free(codes);
    return column;
}

/* Adds the bytes, those encoded that other programs or file systems do not take in a name. */
static void encode(struct strbuf *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char byte = (unsigned char)text.at[i];
        if (byte < ' ' || byte == 0x7f || strchr("\"#%'*/:=?\\{}[]^<>|", byte))
            strbuf_printf(out, "%%%02X", (unsigned)byte);
        else
            strbuf_putc(out, text.at[i]);
    }
}

void partition_name(struct strbuf *out, const char *key, const struct text *value)
{
    encode(out, (struct text){key, strlen(key)});
    strbuf_putc(out, '=');
    if (value)
        encode(out, *value);
    else
        strbuf_puts(out, PARTITION_MISSING);
}

const char *partition_usual_name(const char *folder, const char *key, struct logical_type type, struct arena *arena)
{
    struct strbuf name = {0};
    const char *begin = folder + strcspn(folder, "=");
    begin += *begin == '=';
    struct text value = decode(begin, begin + strlen(begin), arena);
    const bool text = type.kind == LOGICAL_TEXT;
    const bool missing = text_is(value, PARTITION_MISSING) || (!text && value.length == 0);
    int64_t integer;
    if (type.kind == LOGICAL_NUMBER && is_integer(value, &integer)) {
        value.at = arena_printf(arena, "%lld", (long long)integer);
        value.length = strlen(value.at);
    }
    partition_name(&name, key, missing ? NULL : &value);
    return strbuf_take(&name, arena);
}
