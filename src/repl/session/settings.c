#include "repl/session/settings.h"

#include <string.h>

const struct setting setting_table[] = {
    {"device",
     {"auto", "cpu", "gpu", "host", "all"},
     DEVICE_NUMBER,
     offsetof(struct settings, device),
     "where queries run; host needs no OpenCL, all shares out"},
    {"format",
     {"auto", "table", "tsv", "csv", "json", "jsonl", "markdown", "npy", "raw"},
     0,
     offsetof(struct settings, format),
     "auto: a table on a terminal, else tsv"},
    {"header",
     {"auto", "on", "off"},
     0,
     offsetof(struct settings, header),
     "names of columns first; auto: in csv and tables"},
    {"separators",
     {"auto", "on", "off"},
     0,
     offsetof(struct settings, separators),
     "commas between thousands; auto: on a terminal"},
    {"timing",
     {"off", "on"},
     TIMING_TIMES,
     offsetof(struct settings, timing),
     "where the time went, on standard error; N: of N runs"},
    {"fusion", {"off", "on"}, 0, offsetof(struct settings, fusion), "join stages into as few passes as possible"},
    {"learn",
     {"on", "off", "now"},
     0,
     offsetof(struct settings, learn),
     "find out about columns, for the next queries about them"},
    {"later",
     {"on", "off", "always"},
     0,
     offsetof(struct settings, defer),
     "compute rows that are not shown when they are asked for"},
    {"messages",
     {"normal", "quiet", "verbose"},
     0,
     offsetof(struct settings, messages),
     "notes on standard error: each once, none, or all"},
    {"errors", {"stop", "continue"}, false, offsetof(struct settings, errors), "what follows a query that fails"},
};
const size_t setting_count = sizeof setting_table / sizeof *setting_table;

/* More than there are devices, or runs worth timing; keeps the stored number far from overflow. */
enum { GREATEST_NUMBER = 9999 };

static int *field(struct settings *settings, const struct setting *setting)
{
    return (int *)(void *)((char *)settings + setting->offset);
}

struct settings settings_default(void)
{
    return (struct settings){.fusion = 1};
}

const struct setting *setting_find(const char *name)
{
    for (size_t i = 0; i < setting_count; i++) {
        if (strcmp(setting_table[i].name, name) == 0) {
            return &setting_table[i];
        }
    }
    return NULL;
}

static bool parse_number(const char *text, int *number)
{
    *number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9') {
            return false;
        }
        *number = *number * 10 + (*at - '0');
        if (*number > GREATEST_NUMBER) {
            return false;
        }
    }
    return *text != '\0';
}

bool setting_set(struct settings *settings, const struct setting *setting, const char *value)
{
    for (int i = 0; setting->choices[i]; i++) {
        if (strcmp(setting->choices[i], value) == 0) {
            *field(settings, setting) = i;
            return true;
        }
    }
    int number;
    if (setting->number && parse_number(value, &number)) {
        *field(settings, setting) = setting->number + number;
        return true;
    }
    return false;
}

void setting_print(struct strbuf *out, const struct settings *settings, const struct setting *setting)
{
    struct settings copy = *settings;
    int value = *field(&copy, setting);
    if (setting->number && value >= setting->number) {
        strbuf_printf(out, "%d", value - setting->number);
    } else {
        strbuf_puts(out, setting->choices[value]);
    }
}

void setting_print_choices(struct strbuf *out, const struct setting *setting)
{
    for (size_t i = 0; setting->choices[i]; i++) {
        strbuf_printf(out, "%s%s", i ? "|" : "", setting->choices[i]);
    }
    if (setting->number) {
        strbuf_puts(out, "|N");
    }
}
