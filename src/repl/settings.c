#include "settings.h"

#include <string.h>

const struct setting setting_table[] = {
    {"device",
     {"auto", "cpu", "gpu", "host"},
     true,
     offsetof(struct settings, device),
     "where queries run; host needs no OpenCL"},
    {"format",
     {"auto", "table", "tsv", "csv", "json", "jsonl", "markdown", "npy", "raw"},
     false,
     offsetof(struct settings, format),
     "auto: a table on a terminal, else tsv"},
    {"header",
     {"auto", "on", "off"},
     false,
     offsetof(struct settings, header),
     "names of columns first; auto: in csv and tables"},
    {"timing", {"off", "on"}, false, offsetof(struct settings, timing), "where the time went, on standard error"},
    {"fusion", {"off", "on"}, false, offsetof(struct settings, fusion), "join stages into as few passes as possible"},
    {"messages",
     {"normal", "quiet", "verbose"},
     false,
     offsetof(struct settings, messages),
     "notes on standard error: each once, none, or all"},
};
const size_t setting_count = sizeof setting_table / sizeof *setting_table;

/* More devices than any machine has; keeps the stored number far from overflow. */
enum { MOST_DEVICES = 9999 };

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

static bool parse_device_number(const char *text, int *number)
{
    *number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9') {
            return false;
        }
        *number = *number * 10 + (*at - '0');
        if (*number > MOST_DEVICES) {
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
    if (setting->number && parse_device_number(value, &number)) {
        *field(settings, setting) = DEVICE_NUMBER + number;
        return true;
    }
    return false;
}

void setting_print(struct strbuf *out, const struct settings *settings, const struct setting *setting)
{
    struct settings copy = *settings;
    int value = *field(&copy, setting);
    if (setting->number && value >= DEVICE_NUMBER) {
        strbuf_printf(out, "%d", value - DEVICE_NUMBER);
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
