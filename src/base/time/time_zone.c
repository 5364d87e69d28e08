#include "base/time/time_zone.h"

#include "base/heap.h"
#include "base/time/calendar.h"
#include "base/time/time_zone_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 255, FILE_MOST = 1 << 20 };

static const int64_t SECOND_US = 1000000;

static const int64_t utc_begins[] = {INT64_MIN, INT64_MAX}, utc_offsets[] = {0, 0};
static const uint16_t utc_first[] = {0};
static const char *const utc_names[] = {"UTC"};

const struct time_zone time_zone_utc = {
    .name = "UTC",
    .type_name = "timestamp in UTC",
    .count = 1,
    .stored = 2,
    .offsets = utc_offsets,
    .abbreviations = utc_names,
    .utc = {utc_begins, utc_first, 1, 0, 0, 0},
    .local = {utc_begins, utc_first, 1, 0, 0, 0},
};

/* The zones that have been read: what the logical types of columns point to, wherever they are. */
static const struct time_zone *read_zones;
static pthread_mutex_t read_zones_lock = PTHREAD_MUTEX_INITIALIZER;

int64_t time_interval(const struct time_intervals *intervals, int64_t time)
{
    const int64_t base = intervals->base, last = intervals->last;
    const int64_t within = time < base ? base : time > last ? last : time;
    int64_t k = intervals->first[(within - base) >> TIME_ZONE_SLOT];
    for (int step = 0; step < intervals->steps; step++)
        k += time >= intervals->begins[k + 1];
    return k;
}

int64_t time_zone_offset(const struct time_zone *zone, int64_t time)
{
    return zone->offsets[time_interval(&zone->utc, time)];
}

bool time_zone_instant(const struct time_zone *zone, int64_t local, int64_t *time)
{
    return !__builtin_sub_overflow(local, zone->offsets[time_interval(&zone->local, local)], time);
}

static void make_slots(struct time_intervals *intervals, const int64_t *begins, int64_t count, struct arena *arena)
{
    intervals->begins = begins;
    intervals->base = count > 1 ? begins[1] - 1 : 0;
    const int64_t span = count > 1 ? begins[count - 1] - intervals->base : 0;
    intervals->slots = (span >> TIME_ZONE_SLOT) + 2;
    intervals->last = intervals->base + ((intervals->slots - 1) << TIME_ZONE_SLOT);
    uint16_t *first = arena_array(arena, (size_t)intervals->slots, sizeof *first);
    int64_t k = 0;
    for (int64_t slot = 0; slot < intervals->slots; slot++) {
        const int64_t begin = intervals->base + (slot << TIME_ZONE_SLOT), before = k;
        for (; k + 1 < count && begins[k + 1] <= begin; k++)
            ;
        first[slot] = (uint16_t)k;
        if (k - before > intervals->steps)
            intervals->steps = (int)(k - before);
    }
    intervals->first = first;
}

/* Local time k begins where it is later than all before, by the old offset and by the new one. */
static struct time_zone *zone_of_changes(const struct time_zone_changes *changes, const char *name)
{
    struct arena *arena = changes->arena;
    const size_t count = changes->count, room = 2 * count;
    struct time_zone *zone = arena_alloc(arena, sizeof *zone);
    int64_t *begins = arena_array(arena, room, sizeof *begins), *local = arena_array(arena, room, sizeof *local);
    int64_t *offsets = arena_array(arena, room, sizeof *offsets);
    const char **abbreviations = arena_array(arena, count, sizeof(const char *));
    begins[0] = local[0] = INT64_MIN;
    for (size_t k = 0; k < count; k++) {
        const struct time_zone_change *change = &changes->at[k];
        offsets[k] = change->offset * SECOND_US;
        abbreviations[k] = change->abbreviation;
        if (k == 0)
            continue;
        begins[k] = change->begin * SECOND_US;
        local[k] = begins[k] + (offsets[k] > offsets[k - 1] ? offsets[k] : offsets[k - 1]);
        if (local[k] < local[k - 1])
            local[k] = local[k - 1];
    }
    for (size_t k = count; k < room; k++) {
        offsets[k] = offsets[count - 1];
        begins[k] = local[k] = INT64_MAX;
    }
    zone->name = arena_text(arena, name, strlen(name));
    zone->type_name = arena_printf(arena, "timestamp in %s", name);
    zone->count = (int64_t)count;
    zone->offsets = offsets;
    zone->abbreviations = abbreviations;
    make_slots(&zone->utc, begins, zone->count, arena);
    make_slots(&zone->local, local, zone->count, arena);
    const int steps = zone->utc.steps > zone->local.steps ? zone->utc.steps : zone->local.steps;
    zone->stored = zone->count + steps + 1;
    return zone;
}

const char *time_zone_directory(void)
{
    const char *directory = getenv("TZDIR");
    return directory && *directory ? directory : "/usr/share/zoneinfo";
}

/* +05:30, -0330 or +01. */
static bool read_fixed(const char *name, struct time_zone_changes *changes)
{
    static const char *const forms[] = {"+00", "+0000", "+00:00"};
    const size_t length = strlen(name);
    const char *form = NULL;
    for (size_t k = 0; k < sizeof forms / sizeof *forms && !form; k++)
        form = strlen(forms[k]) == length ? forms[k] : NULL;
    if (!form || (name[0] != '+' && name[0] != '-'))
        return false;
    int digits[4] = {0}, count = 0;
    for (size_t k = 1; k < length; k++) {
        if (form[k] == '0' ? name[k] < '0' || name[k] > '9' : name[k] != form[k])
            return false;
        if (form[k] == '0')
            digits[count++] = name[k] - '0';
    }
    const int hours = digits[0] * 10 + digits[1], minutes = digits[2] * 10 + digits[3];
    if (hours > 24 || minutes > 59)
        return false;
    const int64_t seconds = hours * 3600 + minutes * 60;
    const char *text = arena_text(changes->arena, name, length);
    time_zone_add_change(changes, (struct time_zone_change){INT64_MIN, name[0] == '-' ? -seconds : seconds, text});
    return true;
}

/* Names come from files, too: no path leads out of the directory. */
static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_MOST || name[0] == '/' || name[0] == '.' || strstr(name, "/."))
        return false;
    for (size_t k = 0; k < length; k++) {
        const char c = name[k];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !strchr("_-+/.", c))
            return false;
    }
    return true;
}

static bool read_file(const char *name, struct time_zone_changes *changes)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", time_zone_directory(), name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "rbe") : NULL;
    if (!file)
        return false;
    unsigned char *bytes = heap_array(FILE_MOST, 1);
    const size_t read = fread(bytes, 1, FILE_MOST, file);
    const bool good = read > 0 && read < FILE_MOST && time_zone_file_read(bytes, read, changes);
    (void)fclose(file);
    free(bytes);
    return good && changes->count <= UINT16_MAX;
}

static const struct time_zone *find_read(const char *name)
{
    const struct time_zone *zone = read_zones;
    while (zone && strcmp(zone->name, name) != 0)
        zone = zone->next;
    return zone;
}

enum time_zone_found time_zone_find(const char *name, const struct time_zone **zone)
{
    *zone = &time_zone_utc;
    if (strcmp(name, time_zone_utc.name) == 0)
        return TIME_ZONE_FOUND;
    (void)pthread_mutex_lock(&read_zones_lock);
    *zone = find_read(name);
    if (!*zone) {
        struct time_zone_changes changes = {.arena = arena_new()};
        if (read_fixed(name, &changes) || (is_name(name) && read_file(name, &changes))) {
            struct time_zone *new = zone_of_changes(&changes, name);
            new->next = read_zones;
            new->arena = changes.arena;
            *zone = read_zones = new;
        } else {
            arena_free(changes.arena);
        }
    }
    (void)pthread_mutex_unlock(&read_zones_lock);
    if (*zone)
        return TIME_ZONE_FOUND;
    struct time_zone_changes changes = {.arena = arena_new()};
    const bool files = read_file("Europe/London", &changes) || read_file("Etc/UTC", &changes);
    arena_free(changes.arena);
    return files ? TIME_ZONE_UNKNOWN : TIME_ZONE_NO_FILES;
}
