#include "engine/arrow/stored_schema.h"

#include "base/time_zone.h"
#include "engine/arrow/ipc.h"

#include <string.h>

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

void stored_schema_zones(struct text stored, stored_zone_fn *found, void *context)
{
    struct strbuf bytes = {0};
    decode(&bytes, stored);
    struct flat_buffer buffer = bytes.text ? message_of(&bytes) : (struct flat_buffer){.failed = true};
    if (!buffer.failed) {
        const struct flat_table message = flat_root(&buffer), schema = flat_child(&message, MESSAGE_HEADER);
        const bool is_schema = flat_int(&message, MESSAGE_HEADER_TYPE, 1, 0) == ARROW_SCHEMA;
        const struct flat_vector fields = flat_vector(&schema, SCHEMA_FIELDS, 4);
        for (size_t k = 0; is_schema && k < fields.count && !buffer.failed; k++) {
            const struct flat_table field = flat_vector_table(&fields, k), type = flat_child(&field, FIELD_TYPE);
            if (flat_int(&field, FIELD_TYPE_TYPE, 1, 0) != ARROW_TIMESTAMP)
                continue; /* the fields of other types are others */
            const struct text name = flat_string(&field, FIELD_NAME), zone = flat_string(&type, 1);
            if (zone.length > 0 && !buffer.failed)
                found(context, name, zone);
        }
    }
    strbuf_free(&bytes);
}

bool stored_schema_is_needed(const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        const struct time_zone *zone = relation->columns[k]->logical.zone;
        if (zone && zone != &time_zone_utc)
            return true;
    }
    return false;
}

void stored_schema_write(struct strbuf *out, const struct relation *relation, const bool *times)
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
    flat_link(&message, slots[MESSAGE_HEADER].at, arrow_schema_add_stored(&message, relation, times));
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
