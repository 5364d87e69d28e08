#include "engine/parquet/page.h"

#include "engine/parquet/thrift.h"

/* The ids of fields in the three kinds of headers; 0: none. */
struct header_fields {
    int values, encoding, level_encoding, repetition_encoding, level_bytes, repetition_bytes, is_compressed;
};

static const struct header_fields data_fields = {
    .values = 1, .encoding = 2, .level_encoding = 3, .repetition_encoding = 4};
static const struct header_fields dictionary_fields = {.values = 1, .encoding = 2};
static const struct header_fields data_v2_fields = {
    .values = 1, .encoding = 4, .level_bytes = 5, .repetition_bytes = 6, .is_compressed = 7};

/* False: the field is none of these. No field has the id 0. */
static bool read_field(struct thrift *in, const struct thrift_field *field, const struct header_fields *ids,
                       struct page_header *page)
{
    if (field->id == 0)
        return false;
    if (field->id == ids->values)
        page->values = thrift_int32(in, field->type);
    else if (field->id == ids->encoding)
        page->encoding = thrift_int(in, field->type);
    else if (field->id == ids->level_encoding)
        page->level_encoding = thrift_int(in, field->type);
    else if (field->id == ids->repetition_encoding)
        page->repetition_encoding = thrift_int(in, field->type);
    else if (field->id == ids->level_bytes)
        page->level_bytes = thrift_int32(in, field->type);
    else if (field->id == ids->repetition_bytes)
        page->repetition_bytes = thrift_int32(in, field->type);
    else if (field->id == ids->is_compressed)
        page->is_compressed = thrift_bool(in, field->type);
    else
        return false;
    return true;
}

static void read_fields(struct thrift *in, const struct header_fields *ids, struct page_header *page)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        if (!read_field(in, &field, ids, page))
            thrift_skip(in, field.type);
    }
}

static void read_header(struct thrift *in, struct page_header *page)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 1:
            page->type = thrift_int(in, field.type);
            break;
        case 2:
            page->length = thrift_int32(in, field.type);
            break;
        case 3:
            page->size = thrift_int32(in, field.type);
            break;
        case 4:
            page->has_checksum = true;
            page->checksum = (uint32_t)thrift_int32(in, field.type);
            break;
        case 5:
            if (thrift_struct(in, field.type))
                read_fields(in, &data_fields, page);
            break;
        case 7:
            if (thrift_struct(in, field.type))
                read_fields(in, &dictionary_fields, page);
            break;
        case 8:
            if (thrift_struct(in, field.type))
                read_fields(in, &data_v2_fields, page);
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
}

bool page_header_read(const uint8_t **at, const uint8_t *end, struct page_header *page)
{
    struct thrift in = {*at, end, false};
    *page = (struct page_header){.type = -1, .size = -1, .is_compressed = true};
    read_header(&in, page);
    if (in.failed || page->type < 0 || page->size < 0 || page->length < 0 || page->values < 0 ||
        page->size > end - in.at || page->level_bytes < 0 || page->repetition_bytes < 0)
        return false;
    page->data = in.at;
    *at = in.at + page->size;
    return true;
}
