#include "repl/line/history.h"

#include "base/heap.h"
#include "base/path.h"
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer entries are pasted data and not saved. */
enum { LONGEST_ENTRY = 64 * 1024, OWNER_FILE = 0600 };

struct history {
    struct strbuf path;
    struct strbuf last; /* the last line appended */
    int problem;
};

static int open_for_append(const struct history *history)
{
    /* O_NONBLOCK: fail on a named pipe instead of waiting */
    return open(history->path.text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, OWNER_FILE);
}

struct history *history_open(int *problem)
{
    struct history *history = heap_array(1, sizeof *history);
    if (!path_of_user(&history->path, "XDG_STATE_HOME", "/.local/state", "/rql/history")) {
        history->problem = ENOENT;
    } else {
        path_create_parents(history->path.text);
        const int fd = open_for_append(history);
        if (fd < 0) {
            history->problem = errno;
        } else {
            struct stat status;
            if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) { /* not for a link to /dev/null */
                (void)fchmod(fd, OWNER_FILE);
            }
            (void)close(fd);
        }
    }
    *problem = history->problem;
    return history;
}

void history_close(struct history *history)
{
    strbuf_free(&history->path);
    strbuf_free(&history->last);
    free(history);
}

const char *history_path(const struct history *history)
{
    return history->path.text;
}

static void escape(struct strbuf *line, const char *entry, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (entry[i] == '\n')
            strbuf_puts(line, "\\n");
        else if (entry[i] == '\\')
            strbuf_puts(line, "\\\\");
        else
            strbuf_putc(line, entry[i]);
    }
    strbuf_putc(line, '\n');
}

/* In place: the result is never longer. */
static void unescape(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        if (from[0] == '\\' && (from[1] == 'n' || from[1] == '\\')) {
            from++;
            *to++ = *from == 'n' ? '\n' : '\\';
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* One write, so that entries of concurrent sessions do not mix. Failures only lose the entry. */
static void append_line(const struct history *history, const struct strbuf *line)
{
    const int fd = history->problem ? -1 : open_for_append(history);
    if (fd >= 0) {
        const ssize_t wrote = write(fd, line->text, line->length);
        (void)wrote;
        (void)close(fd);
    }
}

/* Whether an address in it holds a password or a signature. */
static bool holds_secret(const char *entry, size_t length)
{
    struct strbuf copy = {0};
    strbuf_add(&copy, entry, length);
    const bool holds = secrets_mask(copy.text, copy.length, false);
    strbuf_free(&copy);
    return holds;
}

bool history_append(struct history *history, const char *entry, size_t length)
{
    struct strbuf line = {0};
    escape(&line, entry, length);
    if (history->last.text && strcmp(history->last.text, line.text) == 0) {
        strbuf_free(&line);
        return false;
    }
    if (length <= LONGEST_ENTRY && !holds_secret(entry, length))
        append_line(history, &line);
    strbuf_free(&history->last);
    history->last = line;
    return true;
}

/* The lines of a file, in memory. */
struct lines {
    char *text;
    char **at;
    size_t count, capacity;
};

static void add_line(struct lines *lines, char *line)
{
    *HEAP_PUSH(lines->at, lines->count, lines->capacity) = line;
}

static struct lines read_lines(const char *path)
{
    struct lines lines = {0};
    FILE *file = fopen(path, "re");
    size_t capacity = 0;
    if (!file)
        return lines;
    /* The file has no NUL, so getdelim reads all of it. */
    if (getdelim(&lines.text, &capacity, '\0', file) < 0) {
        free(lines.text);
        lines.text = NULL;
    }
    (void)fclose(file);
    char *rest = lines.text;
    for (char *line = rest ? strsep(&rest, "\n") : NULL; line; line = strsep(&rest, "\n")) {
        if (*line)
            add_line(&lines, line);
    }
    return lines;
}

/* Replaces the file by one with the newest entries only. */
static void truncate_file(const struct history *history, char *const *lines, size_t count)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%s.%ld", history->path.text, (long)getpid());
    const int fd = open(name.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_FILE);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file) {
        for (size_t i = 0; i < count; i++)
            (void)fprintf(file, "%s\n", lines[i]);
        bool written = !ferror(file);
        written = fclose(file) == 0 && written;
        if (!written || rename(name.text, history->path.text) != 0)
            (void)unlink(name.text);
    }
    strbuf_free(&name);
}

struct occurrence {
    char *line;
    size_t place;
};

static int by_text_then_place(const void *left, const void *right)
{
    const struct occurrence *a = left, *b = right;
    const int order = strcmp(a->line, b->line);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Keeps the last of equal lines. */
static void drop_repeated(struct lines *lines)
{
    struct occurrence *sorted = heap_array(lines->count + 1, sizeof *sorted);
    for (size_t i = 0; i < lines->count; i++)
        sorted[i] = (struct occurrence){lines->at[i], i};
    qsort(sorted, lines->count, sizeof *sorted, by_text_then_place);
    for (size_t i = 0; i + 1 < lines->count; i++) {
        if (strcmp(sorted[i].line, sorted[i + 1].line) == 0)
            lines->at[sorted[i].place] = NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->at[i])
            lines->at[kept++] = lines->at[i];
    }
    lines->count = kept;
    free(sorted);
}

void history_load(struct history *history, void (*add)(const char *entry))
{
    if (history->problem)
        return;
    struct lines lines = read_lines(history->path.text);
    const bool too_long = lines.count > (size_t)2 * HISTORY_ENTRIES;
    drop_repeated(&lines);
    const size_t first = lines.count > HISTORY_ENTRIES ? lines.count - HISTORY_ENTRIES : 0;
    if (too_long)
        truncate_file(history, lines.at + first, lines.count - first);
    for (size_t i = first; i < lines.count; i++) {
        unescape(lines.at[i]);
        add(lines.at[i]);
    }
    free(lines.at);
    free(lines.text);
}
