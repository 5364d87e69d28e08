/* Settings, as one table; read by the options, by .set and by the dot commands named after a setting. */
#ifndef RQL_REPL_SESSION_SETTINGS_H
#define RQL_REPL_SESSION_SETTINGS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_choice {
    DEVICE_AUTO,
    DEVICE_CPU,
    DEVICE_GPU,
    DEVICE_HOST,  /* evaluator only, no OpenCL */
    DEVICE_ALL,   /* rows split across all devices */
    DEVICE_NUMBER /* DEVICE_NUMBER + n: device n of .devices */
};
enum header { HEADER_AUTO, HEADER_ON, HEADER_OFF };
enum separators { SEPARATORS_AUTO, SEPARATORS_ON, SEPARATORS_OFF };
enum decimals { DECIMALS_AUTO, DECIMALS_ALL };
enum on_error { ERRORS_STOP, ERRORS_CONTINUE };
enum stats_choice { STATS_ON, STATS_OFF, STATS_NOW };
enum deferral { DEFERRAL_ON, DEFERRAL_OFF, DEFERRAL_ALWAYS };
enum timing_choice {
    TIMING_OFF,
    TIMING_ON,
    TIMING_REPEAT /* TIMING_REPEAT + n: n more runs of each query */
};
enum amount {
    AMOUNT_AUTO,
    AMOUNT_OFF,
    AMOUNT_NUMBER /* AMOUNT_NUMBER + n: n */
};
/* Of AMOUNT_AUTO, and of `memory` in per cent of what there is. */
enum {
    FETCH_MEGABYTES = 1000,
    UPLOAD_MEGABYTES = 100,
    TIMEOUT_SECONDS = 60,
    CACHE_GIGABYTES = 10,
    KEEP_PERCENT = 50,
    MEMORY_PERCENT = 80
};
enum messages { MESSAGES_NORMAL, MESSAGES_QUIET, MESSAGES_VERBOSE };

struct settings {
    int device;
    int format;
    int header;
    int separators;
    int decimals;
    int timing;
    int fusion; /* 0 or 1 */
    int stats;  /* column statistics */
    int defer;  /* deferred rows */
    int messages;
    int strict; /* 0 or 1 */
    int errors;
    int timeout;
    int fetch;
    int upload;
    int cache;
    int keep;
    int memory;           /* 0: auto; else 1 + megabytes */
    char temporary[1024]; /* a directory; empty: auto */
};

/* What a setting may take in place of a number: a size as 512MB, stored as 1 + megabytes; a directory, which is in the
 * text at `offset`. */
enum { TAKES_SIZE = -1, TAKES_DIRECTORY = -2 };

/* A setting: the int at `offset` in struct settings holds an index into `choices`. If `number` is positive, a number n
 * is also accepted and stored as number + n. */
struct setting {
    const char *name;
    const char *choices[10]; /* NULL-terminated */
    int number;
    size_t offset;
    const char *summary;
};

extern const struct setting setting_table[];
extern const size_t setting_count;

struct settings settings_default(void);

/* Seconds without progress until a query of a server is given up; 0: none is. */
int settings_timeout(const struct settings *settings);

/* Bytes that one statement may fetch of a table on a server; 0: any number. */
int64_t settings_fetch(const struct settings *settings);

/* Bytes that may go up to a server with a query; 0: none do. */
int64_t settings_upload(const struct settings *settings);

/* Bytes of files at addresses that are kept on the disk. */
int64_t settings_cache(const struct settings *settings);

/* The memory limit in bytes, of those that there are, and where what exceeds it is; NULL: not set. */
int64_t settings_memory(const struct settings *settings, int64_t there_is);
const char *settings_temporary(const struct settings *settings);

/* Bytes of this limit for columns of files that are kept for later queries. */
int64_t settings_keep(const struct settings *settings, int64_t memory);

/* Returns the setting of this name, or NULL. */
const struct setting *setting_find(const char *name);

/* Returns false and changes nothing if `value` is not one of the choices. */
bool setting_set(struct settings *settings, const struct setting *setting, const char *value);

/* Why a value that was not taken is none, as "does not exist"; NULL: it is none of the choices. */
const char *setting_problem(const struct setting *setting, const char *value);

/* Appends the current value. */
void setting_print(struct strbuf *out, const struct settings *settings, const struct setting *setting);

/* Appends the choices: "auto|cpu|gpu|host|all|N". */
void setting_print_choices(struct strbuf *out, const struct setting *setting);
void setting_print_values(struct strbuf *out, const struct setting *setting); /* the same, with what a size is */

#endif
