#include "engine/parquet/page_header.h"

#include "engine/parquet/thrift.h"

static void read_data(struct thrift *in, struct page_header *page)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        if (field.id == 1)
            page->values = thrift_int32(in, field.type);
        else if (field.id == 2)
            page->encoding = thrift_int(in, field.type);
        else if (field.id == 3)
            page->level_encoding = thrift_int(in, field.type);
        else
            thrift_skip(in, field.type);
    }
}

static void read_dictionary(struct thrift *in, struct page_header *page)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        if (field.id == 1)
            page->values = thrift_int32(in, field.type);
        else if (field.id == 2)
            page->encoding = thrift_int(in, field.type);
        else
            thrift_skip(in, field.type);
    }
}

static void read_data_v2(struct thrift *in, struct page_header *page)
{
    struct thrift_field field = {0};
    page->level_encoding = ENCODING_RLE;
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 1:
            page->values = thrift_int32(in, field.type);
            break;
        case 4:
            page->encoding = thrift_int(in, field.type);
            break;
        case 5:
            page->level_bytes = thrift_int32(in, field.type);
            break;
        case 6:
            page->repetition_bytes = thrift_int32(in, field.type);
            break;
        case 7:
            page->is_compressed = thrift_bool(in, field.type);
            break;
        default:
            thrift_skip(in, field.type);
        }
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
                read_data(in, page);
            break;
        case 7:
            if (thrift_struct(in, field.type))
                read_dictionary(in, page);
            break;
        case 8:
            if (thrift_struct(in, field.type))
                read_data_v2(in, page);
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
