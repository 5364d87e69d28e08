/* ZIP archives beyond 4 GiB, in a file that is mostly a hole. */
#include "scratch.h"

#include "engine/numpy/zip.h"

#include <sys/stat.h>

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

static void add_entry(struct zip_writer *zip, const char *name, const char *content)
{
    size_t size = strlen(content);
    zip_begin(zip, name, size, zip_checksum(0, content, size));
    zip_add(zip, content, size);
}

static void beyond_4_gib(void **state)
{
    struct scratch *scratch = *state;
    static const char *const names[] = {"a.npy", "h\xc3\xb6he.npy", "c.npy"}, *const contents[] = {"first", "",
                                                                                                   "third"};
    const char *path = scratch_path(scratch, "x.npz");
    const uint64_t hole = UINT64_C(5) << 30;
    struct writer writer;
    assert_int_equal(writer_open(&writer, path, scratch->span, &scratch->diags), STATUS_OK);
    struct zip_writer zip = {.writer = &writer};
    add_entry(&zip, names[0], contents[0]);
    assert_int_equal(lseek(writer.file, (off_t)hole, SEEK_SET), hole);
    zip.at = hole;
    add_entry(&zip, names[1], contents[1]);
    add_entry(&zip, names[2], contents[2]);
    zip_finish(&zip);
    zip_free(&zip);
    assert_int_equal(writer_finish(&writer, scratch->span, &scratch->diags), STATUS_OK);
    assert_int_equal(writer_publish(&writer, scratch->span, &scratch->diags), STATUS_OK);
    writer_discard(&writer);

    struct mappings *mappings = mappings_new();
    struct mapping *mapping;
    assert_int_equal(mapping_open(mappings, path, scratch->span, &mapping, &scratch->diags), STATUS_OK);
    const struct format_job job = {.span = scratch->span, .diags = &scratch->diags};
    struct zip_directory directory;
    assert_int_equal(zip_read_directory(&job, mapping, scratch->arena, &directory), STATUS_OK);
    assert_int_equal(directory.count, 3);
    for (size_t k = 0; k < 3; k++) {
        const struct zip_entry *entry = &directory.entries[k];
        const char *content = (const char *)mapping_data(mapping) + entry->at;
        assert_string_equal(entry->name, names[k]);
        assert_int_equal(entry->at % 64, 0);
        assert_int_equal(entry->at > hole, k > 0);
        assert_int_equal(entry->size, strlen(contents[k]));
        assert_memory_equal(content, contents[k], entry->size);
        assert_true(zip_check(entry, content));
    }
    mapping_unref(mapping);
    mappings_free(mappings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(beyond_4_gib, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
