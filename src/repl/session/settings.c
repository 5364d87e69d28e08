#include "repl/session/settings.h"

#include "base/path.h"
#include "base/spill_area.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct setting setting_table[] = {
    {"device",
     {"auto", "cpu", "gpu", "host", "all"},
     DEVICE_NUMBER,
     offsetof(struct settings, device),
     "where queries run; host: no OpenCL, all: every device"},
    {"format",
     {"auto", "table", "tsv", "csv", "json", "jsonl", "markdown", "npy", "raw"},
     0,
     offsetof(struct settings, format),
     "output format; auto: table on a terminal, else tsv"},
    {"header",
     {"auto", "on", "off"},
     0,
     offsetof(struct settings, header),
     "print column names first; auto: except in tsv"},
    {"separators",
     {"auto", "on", "off"},
     0,
     offsetof(struct settings, separators),
     "commas between thousands; auto: on a terminal"},
    {"decimals",
     {"auto", "all"},
     0,
     offsetof(struct settings, decimals),
     "of floats in tables; auto: those that help, on a terminal"},
    {"timing",
     {"off", "on"},
     TIMING_REPEAT,
     offsetof(struct settings, timing),
     "report times on standard error; N: repeat N times"},
    {"fusion", {"off", "on"}, 0, offsetof(struct settings, fusion), "fuse stages into as few passes as possible"},
    {"stats", {"on", "off", "now"}, 0, offsetof(struct settings, stats), "collect column statistics for later queries"},
    {"defer",
     {"on", "off", "always"},
     0,
     offsetof(struct settings, defer),
     "compute rows that are not shown only on demand"},
    {"messages",
     {"normal", "quiet", "verbose"},
     0,
     offsetof(struct settings, messages),
     "notes on standard error: each once, none, or all"},
    {"strict", {"off", "on"}, 0, offsetof(struct settings, strict), "refuse abbreviated column names, as in scripts"},
    {"errors", {"stop", "continue"}, 0, offsetof(struct settings, errors), "after a failed query: stop or continue"},
    {"timeout",
     {"auto", "off"},
     AMOUNT_NUMBER,
     offsetof(struct settings, timeout),
     "end a query whose server is silent N seconds (60)"},
    {"fetch",
     {"auto", "off"},
     TAKES_SIZE,
     offsetof(struct settings, fetch),
     "most fetched of a table on a server; auto: 1GB"},
    {"upload",
     {"auto", "off"},
     TAKES_SIZE,
     offsetof(struct settings, upload),
     "most rows from here sent with a query; auto: 100MB"},
    {"cache",
     {"auto", "off"},
     AMOUNT_NUMBER,
     offsetof(struct settings, cache),
     "keep N GB (10) of what addresses gave on the disk"},
    {"keep",
     {"auto", "off"},
     AMOUNT_NUMBER,
     offsetof(struct settings, keep),
     "keep columns of files in N % (50) of the memory"},
    {"memory",
     {"auto"},
     TAKES_SIZE,
     offsetof(struct settings, memory),
     "spill beyond SIZE, as 8GB; auto: 80 % of the memory"},
    {"temp",
     {"auto"},
     TAKES_DIRECTORY,
     offsetof(struct settings, temporary),
     "where to spill; auto: TMPDIR, /tmp or /var/tmp"},
};
const size_t setting_count = sizeof setting_table / sizeof *setting_table;

/* Far above any device number or useful repeat count, and far from overflow. */
enum { GREATEST_NUMBER = 9999 };

static int *field(struct settings *settings, const struct setting *setting)
{
    return (int *)(void *)((char *)settings + setting->offset);
}

struct settings settings_default(void)
{
    return (struct settings){.fusion = 1};
}

/* The number that a setting stands for; off: 0. */
static int amount(int choice, int automatic)
{
    return choice == AMOUNT_AUTO ? automatic : choice == AMOUNT_OFF ? 0 : choice - AMOUNT_NUMBER;
}

int settings_timeout(const struct settings *settings)
{
    return amount(settings->timeout, TIMEOUT_SECONDS);
}

int64_t settings_fetch(const struct settings *settings)
{
    const int megabytes = settings->fetch == AMOUNT_AUTO ? FETCH_MEGABYTES : settings->fetch - AMOUNT_OFF;
    return (int64_t)megabytes * 1000000;
}

int64_t settings_upload(const struct settings *settings)
{
    const int megabytes = settings->upload == AMOUNT_AUTO ? UPLOAD_MEGABYTES : settings->upload - AMOUNT_OFF;
    return (int64_t)megabytes * 1000000;
}

int64_t settings_cache(const struct settings *settings)
{
    const int64_t gigabyte = 1000000000;
    return amount(settings->cache, CACHE_GIGABYTES) * gigabyte;
}

int64_t settings_keep(const struct settings *settings, int64_t memory)
{
    return amount(settings->keep, KEEP_PERCENT) * (memory / 100);
}

static const double megabyte = 1e6;

int64_t settings_memory(const struct settings *settings, int64_t there_is)
{
    return settings->memory > 0 ? (int64_t)((settings->memory - 1) * megabyte) : there_is / 100 * MEMORY_PERCENT;
}

const char *settings_temporary(const struct settings *settings)
{
    return *settings->temporary ? settings->temporary : NULL;
}

const struct setting *setting_find(const char *name)
{
    return ROW_NAMED(setting_table, setting_count, name);
}

static bool parse_number(const char *text, int *number)
{
    *number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (*at - '0');
        if (*number > GREATEST_NUMBER)
            return false;
    }
    return *text != '\0';
}

/* A size such as 1.5GB or 512MiB in megabytes, at least one. */
static bool parse_size(const char *text, int *megabytes)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    char *unit;
    const double number = *text >= '0' && *text <= '9' ? strtod(text, &unit) : 0;
    for (size_t i = 0; number > 0 && i < sizeof units / sizeof *units; i++) {
        const double size = floor(number * units[i].bytes / megabyte);
        if (strcasecmp(units[i].name, unit) == 0 && size >= 1 && size <= 1e9) {
            *megabytes = (int)size;
            return true;
        }
    }
    return false;
}

/* Only one that is there is taken. */
static bool set_directory(struct settings *settings, const char *path, const char *automatic)
{
    if (strcmp(path, automatic) == 0) {
        *settings->temporary = '\0';
        return true;
    }
    if (strlen(path) >= sizeof settings->temporary || !path_is_directory(path))
        return false;
    strcpy(settings->temporary, path);
    return true;
}

bool setting_set(struct settings *settings, const struct setting *setting, const char *value)
{
    if (setting->number == TAKES_DIRECTORY)
        return set_directory(settings, value, setting->choices[0]);
    for (int i = 0; setting->choices[i]; i++) {
        if (strcmp(setting->choices[i], value) == 0) {
            *field(settings, setting) = i;
            return true;
        }
    }
    int number;
    if (setting->number == TAKES_SIZE ? parse_size(value, &number) : setting->number && parse_number(value, &number)) {
        *field(settings, setting) = (setting->number == TAKES_SIZE ? 1 : setting->number) + number;
        return true;
    }
    return false;
}

const char *setting_problem(const struct setting *setting, const char *value)
{
    return setting->number == TAKES_DIRECTORY ? spill_directory_problem(value) : NULL;
}

void setting_print(struct strbuf *out, const struct settings *settings, const struct setting *setting)
{
    struct settings copy = *settings;
    const bool is_directory = setting->number == TAKES_DIRECTORY;
    const int value = is_directory ? 0 : *field(&copy, setting);
    if (is_directory && *settings->temporary)
        strbuf_puts(out, settings->temporary);
    else if (setting->number == TAKES_SIZE && value > 1)
        strbuf_printf(out, "%dMB", value - 1);
    else if (setting->number > 0 && value >= setting->number)
        strbuf_printf(out, "%d", value - setting->number);
    else
        strbuf_puts(out, setting->choices[value]);
}

void setting_print_values(struct strbuf *out, const struct setting *setting)
{
    setting_print_choices(out, setting);
    if (setting->number == TAKES_SIZE)
        strbuf_puts(out, ", which is 1MB or more, as 512MB or 2GB");
}

void setting_print_choices(struct strbuf *out, const struct setting *setting)
{
    for (size_t i = 0; setting->choices[i]; i++)
        strbuf_printf(out, "%s%s", i ? "|" : "", setting->choices[i]);
    if (setting->number)
        strbuf_puts(out, setting->number == TAKES_SIZE        ? "|SIZE"
                         : setting->number == TAKES_DIRECTORY ? "|DIRECTORY"
                                                              : "|N");
}
