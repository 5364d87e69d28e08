#include "engine/arrow/stored_schema.h"

#include "base/time/time_zone.h"

#include <string.h>

/* Fields may share tables, so that few bytes could describe very many. */
enum { MAX_DEPTH = 64, MAX_FIELDS = 1 << 16, MAP_ENTRIES = -1 };

const char stored_schema_key[] = "ARROW:schema";

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(struct strbuf *out, const char *bytes, size_t length)
{
    for (size_t k = 0; k < length; k += 3) {
        uint32_t three = 0;
        for (size_t i = 0; i < 3; i++)
            three = three << 8 | (k + i < length ? (unsigned char)bytes[k + i] : 0u);
        for (size_t i = 0; i < 4; i++)
            strbuf_putc(out, k + i > length ? '=' : digits[three >> (18 - 6 * i) & 63]);
    }
}

static void decode(struct strbuf *out, struct text text)
{
    uint32_t bits = 0, count = 0;
    for (size_t k = 0; k < text.length && text.at[k] != '='; k++) {
        const char *digit = text.at[k] ? strchr(digits, text.at[k]) : NULL;
        if (!digit)
            return;
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            strbuf_putc(out, (char)(bits >> count & 255));
        }
    }
}

/* The message after its prefix, of one word in files of before 2020. */
static struct flat_buffer message_of(const struct strbuf *bytes)
{
    size_t at = 0;
    uint32_t word = ARROW_CONTINUATION;
    for (int i = 0; i < 2 && word == ARROW_CONTINUATION && bytes->length - at >= sizeof word; i++, at += sizeof word)
        memcpy(&word, bytes->text + at, sizeof word);
    return (struct flat_buffer){.data = (const unsigned char *)bytes->text + at, .size = bytes->length - at};
}

struct zone_walk {
    struct flat_buffer *buffer;
    struct strbuf path;
    stored_zone_fn *found;
    void *context;
    size_t seen;
};

static void walk_fields(struct zone_walk *walk, const struct flat_vector *fields, int64_t parent, int depth);

/* A field below one of type `parent`, of which it is number k: elements of lists have no name in a path. */
static void walk_field(struct zone_walk *walk, const struct flat_table *field, int64_t parent, size_t k, int depth)
{
    const int64_t kind = flat_int(field, FIELD_TYPE_TYPE, 1, 0);
    const size_t length = walk->path.length;
    const bool is_entry = parent == MAP_ENTRIES, is_named = parent == ARROW_STRUCT || is_entry;
    const struct text name =
        is_entry ? (k == 0 ? (struct text){"key", 3} : (struct text){"value", 5}) : flat_string(field, FIELD_NAME);
    if (is_named && length > 0)
        strbuf_putc(&walk->path, '.');
    if (is_named)
        strbuf_add(&walk->path, name.at, name.length);
    if (kind == ARROW_TIMESTAMP) {
        const struct flat_table type = flat_child(field, FIELD_TYPE);
        const struct text zone = flat_string(&type, 1);
        if (zone.length > 0 && !walk->buffer->failed)
            walk->found(walk->context, (struct text){walk->path.text, walk->path.length}, zone, ARROW_MICROSECOND);
    } else if (kind == ARROW_DURATION) {
        const struct flat_table type = flat_child(field, FIELD_TYPE);
        const int64_t unit = flat_int(&type, 0, 2, ARROW_MILLISECOND);
        if (unit >= ARROW_SECOND && unit <= ARROW_NANOSECOND && !walk->buffer->failed)
            walk->found(walk->context, (struct text){walk->path.text, walk->path.length}, (struct text){0},
                        (enum arrow_unit)unit);
    } else {
        const struct flat_vector children = flat_vector(field, FIELD_CHILDREN, 4);
        walk_fields(walk, &children, parent == ARROW_MAP ? MAP_ENTRIES : kind, depth + 1);
    }
    walk->path.length = length;
}

static void walk_fields(struct zone_walk *walk, const struct flat_vector *fields, int64_t parent, int depth)
{
    for (size_t k = 0; k < fields->count && !walk->buffer->failed; k++) {
        const struct flat_table field = flat_vector_table(fields, k);
        if (depth > MAX_DEPTH || walk->seen++ > MAX_FIELDS)
            return;
        walk_field(walk, &field, parent, k, depth);
    }
}

void stored_schema_zones(struct text stored, stored_zone_fn *found, void *context)
{
    struct strbuf bytes = {0};
    decode(&bytes, stored);
    struct flat_buffer buffer = bytes.text ? message_of(&bytes) : (struct flat_buffer){.failed = true};
    if (!buffer.failed) {
        const struct flat_table message = flat_root(&buffer), schema = flat_child(&message, MESSAGE_HEADER);
        const struct flat_vector fields = flat_vector(&schema, SCHEMA_FIELDS, 4);
        struct zone_walk walk = {.buffer = &buffer, .found = found, .context = context};
        if (flat_int(&message, MESSAGE_HEADER_TYPE, 1, 0) == ARROW_SCHEMA)
            walk_fields(&walk, &fields, ARROW_STRUCT, 0);
        strbuf_free(&walk.path);
    }
    strbuf_free(&bytes);
}

bool stored_schema_is_needed(const struct nest *root)
{
    const struct time_zone *zone = root->column ? root->column->logical.zone : NULL;
    bool needed = zone && zone != &time_zone_utc;
    for (const struct nest *field = root->first; field && !needed; field = field->next)
        needed = stored_schema_is_needed(field);
    return needed;
}

void stored_schema_write(struct strbuf *out, const struct nest *root, const bool *times)
{
    struct strbuf message = {0};
    struct flat_slot slots[] = {
        [MESSAGE_VERSION] = {.width = 2, .value = ARROW_V5},
        [MESSAGE_HEADER_TYPE] = {.width = 1, .value = ARROW_SCHEMA},
        [MESSAGE_HEADER] = {.width = 4},
        [MESSAGE_BODY] = {.width = 8},
    };
    flat_begin(&message);
    flat_link(&message, 0, flat_add_table(&message, slots, MESSAGE_METADATA));
    flat_link(&message, slots[MESSAGE_HEADER].at, arrow_schema_add_stored(&message, root, times));
    struct strbuf bytes = {0};
    const uint32_t padding = (uint32_t)(-message.length & 7), length = (uint32_t)message.length + padding;
    strbuf_add(&bytes, (const char *)&ARROW_CONTINUATION, sizeof ARROW_CONTINUATION);
    strbuf_add(&bytes, (const char *)&length, sizeof length);
    strbuf_add(&bytes, message.text, message.length);
    strbuf_add(&bytes, "\0\0\0\0\0\0\0", padding);
    encode(out, bytes.text, bytes.length);
    strbuf_free(&bytes);
    strbuf_free(&message);
}
