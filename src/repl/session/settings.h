/* What the user can choose, as one table: options, .set and the dot commands that share a setting's name read it. */
#ifndef RQL_REPL_SESSION_SETTINGS_H
#define RQL_REPL_SESSION_SETTINGS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum device_choice {
    DEVICE_AUTO,
    DEVICE_CPU,
    DEVICE_GPU,
    DEVICE_HOST,  /* the evaluator alone */
    DEVICE_ALL,   /* each takes its share */
    DEVICE_NUMBER /* DEVICE_NUMBER + n: the device that .devices lists as n */
};
enum header { HEADER_AUTO, HEADER_ON, HEADER_OFF };
enum separators { SEPARATORS_AUTO, SEPARATORS_ON, SEPARATORS_OFF };
enum on_error { ERRORS_STOP, ERRORS_CONTINUE };
enum learn { LEARN_ON, LEARN_OFF, LEARN_NOW };
enum rows_later { ROWS_LATER_ON, ROWS_LATER_OFF, ROWS_LATER_ALWAYS };
enum timing_choice {
    TIMING_OFF,
    TIMING_ON,
    TIMING_TIMES /* TIMING_TIMES + n: a query runs n times */
};
enum messages { MESSAGES_NORMAL, MESSAGES_QUIET, MESSAGES_VERBOSE };

struct settings {
    int device;
    int format;
    int header;
    int separators;
    int timing;
    int fusion; /* 0 or 1 */
    int learn;
    int defer;
    int messages;
    int errors;
};

/* One setting: an int of struct settings at `offset`, the index of one of its choices. If `number` is not 0, a number n
 * is allowed too and stored as number + n. */
struct setting {
    const char *name;
    const char *choices[10]; /* ended by NULL */
    int number;
    size_t offset;
    const char *summary;
};

extern const struct setting setting_table[];
extern const size_t setting_count;

struct settings settings_default(void);

/* The setting of this name, or NULL. */
const struct setting *setting_find(const char *name);

/* Sets it; false, with nothing changed, if `value` is not one of its choices. */
bool setting_set(struct settings *settings, const struct setting *setting, const char *value);

/* Appends its present value. */
void setting_print(struct strbuf *out, const struct settings *settings, const struct setting *setting);

/* Appends its choices: "auto|cpu|gpu|host|all|N". */
void setting_print_choices(struct strbuf *out, const struct setting *setting);

#endif
