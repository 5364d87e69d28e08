#include "engine/backend/cost_model.h"

#include "base/hash.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const work_names[WORK_KINDS] = {
#define OPERATOR(kind, name, ...) [OPERATOR_##kind] = name,
#include "engine/plan/operators.def"
    [WORK_MAP] = "map",   [WORK_FILTER] = "filter", [WORK_AGGREGATE] = "sum",
    [WORK_FOLD] = "fold", [WORK_AXIS] = "axis",     [WORK_TOP] = "top",
};

/* Of each class: the fixed time, and the times of a byte and of an operation for one thread or compute unit. Measured
 * on two cores with PoCL and on an H200 (132 units), rounded. Memory, which all units share, is in the bytes. */
static const struct cost_rate class_rates[][WORK_KINDS] =
    {
        [CLASS_EVALUATOR] =
            {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, device, bytes, e_fixed, e_byte, c_fixed, c_byte,       \
                 g_fixed, g_byte)                                                                                      \
    [OPERATOR_##kind] = {e_fixed, e_byte, 0},
#include "engine/plan/operators.def"
                [WORK_MAP] = {20e3, 0.08, 0.08},
                [WORK_FILTER] = {20e3, 0.08, 0.1},
                [WORK_AGGREGATE] = {20e3, 0.04, 0.1},
                [WORK_FOLD] = {10e3, 0.04, 0.8},
                [WORK_AXIS] = {30e3, 0.04, 0},
                [WORK_TOP] = {200e3, 0.06, 0},
            },
        [CLASS_CPU] =
            {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, device, bytes, e_fixed, e_byte, c_fixed, c_byte,       \
                 g_fixed, g_byte)                                                                                      \
    [OPERATOR_##kind] = {c_fixed, c_byte, 0},
#include "engine/plan/operators.def"
                [WORK_MAP] = {150e3, 0.06, 0.02},
                [WORK_FILTER] = {250e3, 0.08, 0.02},
                [WORK_AGGREGATE] = {150e3, 0.04, 0.02},
                [WORK_FOLD] = {200e3, 0.04, 0.2},
                [WORK_AXIS] = {500e3, 0.2, 0},
                [WORK_TOP] = {500e3, 2.0, 0},
            },
        [CLASS_GPU] =
            {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, device, bytes, e_fixed, e_byte, c_fixed, c_byte,       \
                 g_fixed, g_byte)                                                                                      \
    [OPERATOR_##kind] = {g_fixed, g_byte, 0},
#include "engine/plan/operators.def"
                [WORK_MAP] = {80e3, 0.033, 0.002},
                [WORK_FILTER] = {150e3, 0.05, 0.002},
                [WORK_AGGREGATE] = {80e3, 0.033, 0.002},
                [WORK_FOLD] = {120e3, 0.033, 0.01},
                [WORK_AXIS] = {300e3, 0.1, 0},
                [WORK_TOP] = {500e3, 0.5, 0},
            },
};

static const double default_link = 0.03; /* nanoseconds a byte */

/* More threads do not read a host's memory faster. */
static const double max_readers = 8;

/* Rates stay within this factor of the defaults: one absurd measurement must not rule a backend out forever. */
static const double max_factor = 100;

struct cost_model cost_model_default(const struct profile *profile)
{
    const double units = profile->units > 0 ? profile->units : 1;
    const double readers = profile->class != CLASS_GPU && units > max_readers ? max_readers : units;
    const double link = profile->class == CLASS_GPU ? default_link : 0;
    struct cost_model model = {.upload = link, .download = link};
    for (size_t kind = 0; kind < WORK_KINDS; kind++) {
        struct cost_rate rate = class_rates[profile->class][kind];
        model.of[kind] = (struct cost_rate){rate.fixed, rate.byte / readers, rate.operation / units};
    }
    return model;
}

/* The part of the time that grows with the rows. */
static double growing(const struct cost_rate *rate, const struct load *load)
{
    return rate->byte * load->bytes + rate->operation * load->operations;
}

double cost_model_time(const struct cost_model *model, const struct load *load)
{
    const struct cost_rate *rate = &model->of[load->kind];
    return rate->fixed + growing(rate, load);
}

static double clamp(double low, double x, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* A quarter of the way on a logarithmic scale, with the ratio clamped to 1/4 .. 4: one run may have been disturbed. */
static double step(double ratio)
{
    return sqrt(sqrt(clamp(0.25, ratio, 4)));
}

static void scale(double *number, double factor, double defaults)
{
    *number = clamp(defaults / max_factor, *number * factor, defaults * max_factor);
}

void cost_model_update(struct cost_model *model, const struct cost_model *defaults, const struct load *load, double ns)
{
    struct cost_rate *rate = &model->of[load->kind];
    const struct cost_rate *from = &defaults->of[load->kind];
    double grows = growing(rate, load), fixed = rate->fixed;
    const double all = step(ns / (fixed + grows));
    if (grows > 2 * fixed) {
        const double factor = step((ns - fixed) / grows);
        scale(&rate->byte, factor, from->byte);
        scale(&rate->operation, factor, from->operation);
    } else if (grows * 2 < fixed) {
        scale(&rate->fixed, all, from->fixed);
    } else {
        scale(&rate->fixed, all, from->fixed);
        scale(&rate->byte, all, from->byte);
        scale(&rate->operation, all, from->operation);
    }
}

void cost_model_update_transfer(double *byte, double ns)
{
    if (*byte > 0 && ns > 0)
        scale(byte, sqrt(clamp(0.25, ns / *byte, 4)), default_link);
}

static void name_file(struct strbuf *out, const char *directory, const struct profile *profile)
{
    const uint64_t hash = hash_text(hash_text(hash_init(), profile->identity), RQL_VERSION);
    strbuf_printf(out, "%s/rates-%016llx", directory, (unsigned long long)hash);
}

/* What the file is, and of which backend. */
static void print_heading(struct strbuf *out, const struct profile *profile)
{
    strbuf_puts(out, "rql " RQL_VERSION ": nanoseconds fixed, a byte, an operation\n");
    strbuf_add_visible(out, profile->identity, strlen(profile->identity));
    strbuf_printf(out, ", %d\n", profile->units);
}

static void print_rates(struct strbuf *out, const struct cost_model *model, const struct profile *profile)
{
    print_heading(out, profile);
    for (size_t kind = 0; kind < WORK_KINDS; kind++) {
        const struct cost_rate *rate = &model->of[kind];
        strbuf_printf(out, "%s %.6g %.6g %.6g\n", work_names[kind], rate->fixed, rate->byte, rate->operation);
    }
    strbuf_printf(out, "link %.6g %.6g 0\n", model->upload, model->download);
}

/* Reads the three numbers of the next line; false if it has another name or form. */
static bool read_line(const char **at, const char *name, double numbers[3])
{
    const size_t length = strlen(name);
    if (strncmp(*at, name, length) != 0)
        return false;
    *at += length;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (**at != ' ')
            return false;
        numbers[i] = strtod(*at, &end);
        if (end == *at || !isfinite(numbers[i]))
            return false;
        *at = end;
    }
    return *(*at)++ == '\n';
}

static bool plausible(double number, double defaults)
{
    return number >= defaults / max_factor / 2 && number <= defaults * max_factor * 2;
}

static bool read_rates(const char *text, struct cost_model *model, const struct profile *profile)
{
    struct strbuf heading = {0};
    const struct cost_model defaults = cost_model_default(profile);
    print_heading(&heading, profile);
    bool good = strncmp(text, heading.text, heading.length) == 0;
    text += good ? heading.length : 0;
    strbuf_free(&heading);
    for (size_t kind = 0; kind < WORK_KINDS && good; kind++) {
        double n[3] = {0};
        const struct cost_rate *from = &defaults.of[kind];
        good = read_line(&text, work_names[kind], n) && plausible(n[0], from->fixed) && plausible(n[1], from->byte) &&
               plausible(n[2], from->operation);
        model->of[kind] = (struct cost_rate){n[0], n[1], n[2]};
    }
    double link[3] = {0};
    good = good && read_line(&text, "link", link) && plausible(link[0], defaults.upload) &&
           plausible(link[1], defaults.download) && *text == '\0';
    model->upload = link[0];
    model->download = link[1];
    return good;
}

bool cost_model_load(struct cost_model *model, const char *directory, const struct profile *profile)
{
    enum { MOST_BYTES = 8192 };
    char text[MOST_BYTES + 1];
    struct strbuf path = {0};
    name_file(&path, directory, profile);
    const int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    strbuf_free(&path);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, text, MOST_BYTES);
    (void)close(fd);
    if (got < 0)
        return false;
    text[got] = '\0';
    struct cost_model read_in;
    if (strlen(text) != (size_t)got || !read_rates(text, &read_in, profile))
        return false;
    *model = read_in;
    return true;
}

/* Creates the file, which only the user may write. */
static bool write_file(const char *path, const struct strbuf *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool written = write(fd, text->text, text->length) == (ssize_t)text->length;
    return close(fd) == 0 && written;
}

bool cost_model_save(const struct cost_model *model, const char *directory, const struct profile *profile)
{
    struct strbuf text = {0}, path = {0}, beside = {0};
    name_file(&path, directory, profile);
    strbuf_printf(&beside, "%s.%ld", path.text, (long)getpid());
    print_rates(&text, model, profile);
    const bool saved = write_file(beside.text, &text) && rename(beside.text, path.text) == 0;
    if (!saved)
        (void)unlink(beside.text);
    strbuf_free(&text);
    strbuf_free(&path);
    strbuf_free(&beside);
    return saved;
}
