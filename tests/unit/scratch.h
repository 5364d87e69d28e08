/* A directory for one test's files, and helpers for files and diagnostics. Every function is static inline because a
 * test program is one source file. */
#ifndef RQL_TESTS_SCRATCH_H
#define RQL_TESTS_SCRATCH_H

#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scratch {
    struct arena *arena;
    struct diags diags;
    char folder[64];
    struct span span;
};

static inline struct scratch *scratch_new(void)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);
    assert_non_null(scratch);
    scratch->arena = arena_new();
    diags_init(&scratch->diags, scratch->arena);
    strcpy(scratch->folder, "/tmp/rql-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->folder));
    return scratch;
}

static inline int scratch_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static inline void scratch_free(struct scratch *scratch)
{
    assert_int_equal(nftw(scratch->folder, scratch_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
    arena_free(scratch->arena);
    free(scratch);
}

/* "folder/name", in the arena. */
static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    return arena_printf(scratch->arena, "%s/%s", scratch->folder, name);
}

/* Writes a file and returns its path. */
static inline const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t size)
{
    const char *path = scratch_path(scratch, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *scratch_write_text(struct scratch *scratch, const char *name, const char *text)
{
    return scratch_write(scratch, name, text, strlen(text));
}

/* The file's bytes and a NUL, in the arena; NULL if the file does not exist. */
static inline char *scratch_read(struct scratch *scratch, const char *name, size_t *size)
{
    FILE *file = fopen(scratch_path(scratch, name), "rb");
    if (!file)
        return NULL;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = arena_alloc(scratch->arena, *size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void assert_file_text(struct scratch *scratch, const char *name, const char *expected)
{
    size_t size;
    const char *text = scratch_read(scratch, name, &size);
    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* Checks that the last error's message or hint contains `text`. */
static inline void assert_told(const struct scratch *scratch, const char *text)
{
    assert_true(scratch->diags.count > 0);
    const struct diag *diag = &scratch->diags.at[scratch->diags.count - 1];
    if (!strstr(diag->message, text) && !(diag->hint && strstr(diag->hint, text)))
        fail_msg("`%s` is not in: %s (%s)", text, diag->message, diag->hint ? diag->hint : "");
}

/* Checks for exactly one error, containing `text`; clears it. */
static inline void assert_only_told(struct scratch *scratch, const char *text)
{
    assert_int_equal(scratch->diags.count, 1);
    assert_told(scratch, text);
    scratch->diags.count = 0;
}

#endif
