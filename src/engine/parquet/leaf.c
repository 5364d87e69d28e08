#include "engine/parquet/leaf.h"

#include "base/time/time_zone.h"

static const size_t widths[PHYSICAL_COUNT] = {
    [PHYSICAL_INT32] = 4, [PHYSICAL_INT64] = 8, [PHYSICAL_INT96] = 12, [PHYSICAL_FLOAT] = 4, [PHYSICAL_DOUBLE] = 8};

/* What values without an annotation become. */
static const struct {
    enum conversion conversion;
    enum type type;
    enum logical logical;
} bare[PHYSICAL_COUNT] = {
    [PHYSICAL_BOOLEAN] = {CONVERT_BITS, TYPE_BOOL, LOGICAL_NUMBER},
    [PHYSICAL_INT32] = {CONVERT_COPY, TYPE_I32, LOGICAL_NUMBER},
    [PHYSICAL_INT64] = {CONVERT_COPY, TYPE_I64, LOGICAL_NUMBER},
    [PHYSICAL_INT96] = {CONVERT_INT96, TYPE_I64, LOGICAL_TIMESTAMP},
    [PHYSICAL_FLOAT] = {CONVERT_COPY, TYPE_F32, LOGICAL_NUMBER},
    [PHYSICAL_DOUBLE] = {CONVERT_COPY, TYPE_F64, LOGICAL_NUMBER},
    [PHYSICAL_BYTE_ARRAY] = {CONVERT_TEXT, TYPE_U32, LOGICAL_TEXT},
    [PHYSICAL_FIXED] = {CONVERT_TEXT, TYPE_U32, LOGICAL_TEXT},
};

static bool set(struct leaf *leaf, enum conversion conversion, enum type type, enum logical logical)
{
    leaf->conversion = conversion;
    leaf->type = type;
    leaf->logical.kind = logical;
    return true;
}

static bool set_integer(struct leaf *leaf, const struct schema_element *element)
{
    if (leaf->physical == PHYSICAL_INT64) {
        if (element->bits != 64)
            return false;
        return set(leaf, element->is_unsigned ? CONVERT_U64 : CONVERT_COPY, TYPE_I64, LOGICAL_NUMBER);
    }
    if (leaf->physical != PHYSICAL_INT32)
        return false;
    switch (element->bits) {
    case 8:
        return element->is_unsigned ? set(leaf, CONVERT_NARROW_U8, TYPE_U8, LOGICAL_NUMBER)
                                    : set(leaf, CONVERT_NARROW_I8, TYPE_I8, LOGICAL_NUMBER);
    case 16:
        return element->is_unsigned ? set(leaf, CONVERT_NARROW_U16, TYPE_U16, LOGICAL_NUMBER)
                                    : set(leaf, CONVERT_NARROW_I16, TYPE_I16, LOGICAL_NUMBER);
    case 32:
        return set(leaf, CONVERT_COPY, element->is_unsigned ? TYPE_U32 : TYPE_I32, LOGICAL_NUMBER);
    default:
        return false;
    }
}

static bool set_time(struct leaf *leaf, const struct schema_element *element)
{
    const enum logical logical = element->annotation == ANNOTATION_TIME ? LOGICAL_DURATION : LOGICAL_TIMESTAMP;
    leaf->logical.zone = logical == LOGICAL_TIMESTAMP && element->utc ? &time_zone_utc : NULL;
    if (leaf->physical == PHYSICAL_INT32 && logical == LOGICAL_DURATION && element->unit == UNIT_MILLIS)
        return set(leaf, CONVERT_WIDEN_MILLIS, TYPE_I64, logical);
    if (leaf->physical != PHYSICAL_INT64)
        return false;
    switch (element->unit) {
    case UNIT_MILLIS:
        return set(leaf, CONVERT_MILLIS, TYPE_I64, logical);
    case UNIT_MICROS:
        return set(leaf, CONVERT_COPY, TYPE_I64, logical);
    case UNIT_NANOS:
        return set(leaf, CONVERT_NANOS, TYPE_I64, logical);
    default:
        return false;
    }
}

static bool set_decimal(struct leaf *leaf, const struct schema_element *element)
{
    if (element->scale < 0 || element->scale > DECIMAL_MAX_SCALE)
        return false;
    leaf->logical.scale = (uint8_t)element->scale;
    switch (leaf->physical) {
    case PHYSICAL_INT32:
        return set(leaf, CONVERT_WIDEN, TYPE_I64, LOGICAL_DECIMAL);
    case PHYSICAL_INT64:
        return set(leaf, CONVERT_COPY, TYPE_I64, LOGICAL_DECIMAL);
    case PHYSICAL_BYTE_ARRAY:
    case PHYSICAL_FIXED:
        return set(leaf, CONVERT_BIG_ENDIAN, TYPE_I64, LOGICAL_DECIMAL);
    case PHYSICAL_BOOLEAN:
    case PHYSICAL_INT96:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
    case PHYSICAL_COUNT:
        break;
    }
    return false;
}

/* Sets what the annotation says. Returns false if it is unknown or does not suit the physical type. */
static bool set_annotated(struct leaf *leaf, const struct schema_element *element)
{
    switch (element->annotation) {
    case ANNOTATION_NONE:
        leaf->binary = bare[leaf->physical].logical == LOGICAL_TEXT;
        return true;
    case ANNOTATION_STRING:
    case ANNOTATION_ENUM:
    case ANNOTATION_JSON:
        return leaf->physical == PHYSICAL_BYTE_ARRAY;
    case ANNOTATION_NULL: /* text, for want of any sign of another type; there are no values */
        leaf->physical = PHYSICAL_BYTE_ARRAY;
        return set(leaf, bare[PHYSICAL_BYTE_ARRAY].conversion, bare[PHYSICAL_BYTE_ARRAY].type, LOGICAL_TEXT);
    case ANNOTATION_DECIMAL:
        return set_decimal(leaf, element);
    case ANNOTATION_DATE:
        return leaf->physical == PHYSICAL_INT32 && set(leaf, CONVERT_COPY, TYPE_I32, LOGICAL_DATE);
    case ANNOTATION_TIME:
    case ANNOTATION_TIMESTAMP:
        return set_time(leaf, element);
    case ANNOTATION_INTEGER:
        return set_integer(leaf, element);
    case ANNOTATION_UUID:
        return leaf->physical == PHYSICAL_FIXED && leaf->width == 16 && set(leaf, CONVERT_UUID, TYPE_U32, LOGICAL_TEXT);
    case ANNOTATION_FLOAT16:
        return leaf->physical == PHYSICAL_FIXED && leaf->width == 2 &&
               set(leaf, CONVERT_FLOAT16, TYPE_F32, LOGICAL_NUMBER);
    default:
        return false;
    }
}

enum leaf_problem leaf_of_element(const struct schema_element *element, struct leaf *leaf)
{
    if (element->physical < 0 || element->physical >= PHYSICAL_COUNT ||
        (element->physical == PHYSICAL_FIXED && element->width <= 0))
        return LEAF_UNSUPPORTED_TYPE;
    leaf->physical = (enum physical)element->physical;
    leaf->width = leaf->physical == PHYSICAL_FIXED ? (size_t)element->width : widths[leaf->physical];
    set(leaf, bare[leaf->physical].conversion, bare[leaf->physical].type, bare[leaf->physical].logical);
    return set_annotated(leaf, element) ? LEAF_OK : LEAF_UNSUPPORTED_TYPE;
}
