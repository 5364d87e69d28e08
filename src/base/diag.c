#include "base/diag.h"

#include <ctype.h>
#include <string.h>

void diags_init(struct diags *diags, struct arena *arena)
{
    *diags = (struct diags){.arena = arena};
}

static struct diag *add(struct diags *diags, enum severity severity, struct span span, const char *message)
{
    struct diag *diag = ARENA_PUSH(diags->arena, diags->at, diags->count, diags->capacity);
    *diag = (struct diag){.severity = severity, .span = span, .message = message};
    return diag;
}

enum status diag_error(struct diags *diags, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, SEVERITY_ERROR, span, arena_vprintf(diags->arena, format, args));
    va_end(args);
    return STATUS_FAILED;
}

enum status diag_error_hint(struct diags *diags, struct span span, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, SEVERITY_ERROR, span, arena_vprintf(diags->arena, format, args));
    va_end(args);
    return diag_hint(diags, "%s", hint);
}

enum status diag_no_memory(struct diags *diags, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, SEVERITY_ERROR, span, arena_vprintf(diags->arena, format, args))->of_memory = true;
    va_end(args);
    return STATUS_FAILED;
}

void diag_note(struct diags *diags, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, SEVERITY_NOTE, span, arena_vprintf(diags->arena, format, args));
    va_end(args);
}

enum status diag_hint(struct diags *diags, const char *format, ...)
{
    if (diags->count == 0)
        return STATUS_FAILED;
    va_list args;
    va_start(args, format);
    diags->at[diags->count - 1].hint = arena_vprintf(diags->arena, format, args);
    va_end(args);
    return STATUS_FAILED;
}

void diag_second(struct diags *diags, struct span span, const char *label)
{
    if (diags->count == 0)
        return;
    diags->at[diags->count - 1].second = span;
    diags->at[diags->count - 1].label = arena_text(diags->arena, label, strlen(label));
}

void diags_drop_repeated_note(struct diags *diags)
{
    const struct diag *last = diags->count > 0 ? &diags->at[diags->count - 1] : NULL;
    for (size_t i = 0; last && i + 1 < diags->count; i++) {
        if (diags->at[i].severity == last->severity && strcmp(diags->at[i].message, last->message) == 0) {
            diags->count--;
            return;
        }
    }
}

bool diags_have_errors(const struct diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->at[i].severity == SEVERITY_ERROR)
            return true;
    }
    return false;
}

/* Longer names are not compared; the bound keeps the rows below on the stack. */
enum { MAX_NAME = 255, MAX_NEAREST = 16, NOT_SIMILAR = MAX_NAME + 1, SHORTEST_WORD = 3 };

static int fold(char c)
{
    return tolower((unsigned char)c);
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance with transpositions (optimal string alignment), ignoring case. Both names have at most MAX_NAME bytes.
 */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][MAX_NAME + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            const unsigned change = fold(a[i - 1]) != fold(b[j - 1]);
            row[j] = min_unsigned(min_unsigned(last[j], row[j - 1]) + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
                row[j] = min_unsigned(row[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = last, last = row, row = spare;
    }
    return last[b_length];
}

/* Whether a word of the name begins at byte i: at its start, behind what is no letter or digit, or as in `tipAmount`.
 */
static bool begins_word(const char *name, size_t i)
{
    const unsigned char before = i > 0 ? (unsigned char)name[i - 1] : ' ', at = (unsigned char)name[i];
    const bool behind_letter = isalnum(before) || before >= 0x80;
    return (isalnum(at) || at >= 0x80) && (!behind_letter || (islower(before) && isupper(at)));
}

bool name_abbreviates(const char *name, const char *longer)
{
    const size_t length = strlen(name);
    for (size_t i = 0; length > 0 && longer[i] != '\0'; i++) {
        if (begins_word(longer, i) && strncmp(name, longer + i, length) == 0)
            return true;
    }
    return false;
}

/* The bytes of the text's first UTF-8 letter; 0 at its end. */
static size_t letter_bytes(const char *text)
{
    size_t bytes = *text != '\0';
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes++;
    return bytes;
}

/* Whether the letters of `name` occur in order in the word that begins `longer`, the first as its first. */
static bool shortens_word(const char *name, const char *longer)
{
    size_t k = letter_bytes(name);
    if (k == 0 || strncmp(name, longer, k) != 0)
        return false;
    const char *rest = name + k;
    while (*rest != '\0' && (isalnum((unsigned char)longer[k]) || (unsigned char)longer[k] >= 0x80) &&
           !begins_word(longer, k)) {
        const size_t bytes = letter_bytes(longer + k);
        rest += bytes == letter_bytes(rest) && strncmp(rest, longer + k, bytes) == 0 ? bytes : 0;
        k += bytes;
    }
    return *rest == '\0';
}

bool name_shortens(const char *name, const char *longer)
{
    for (size_t i = 0; longer[i] != '\0'; i++) {
        if (begins_word(longer, i) && shortens_word(name, longer + i))
            return true;
    }
    return false;
}

bool name_has_letters(const char *longer, const char *shorter)
{
    if (!*shorter || fold(*shorter) != fold(*longer))
        return false;
    for (; *shorter && *longer; longer++) {
        if (fold(*shorter) == fold(*longer))
            shorter++;
    }
    return !*shorter;
}

/* The least edit distance from a word of the candidate; NOT_SIMILAR above the limit. */
static unsigned word_distance(const char *name, size_t name_length, const char *candidate, unsigned limit)
{
    unsigned least = NOT_SIMILAR;
    for (size_t i = 0; candidate[i] != '\0'; i++) {
        size_t length = 1;
        if (!begins_word(candidate, i))
            continue;
        while (isalnum((unsigned char)candidate[i + length]) && !begins_word(candidate, i + length))
            length++;
        const unsigned distance = edit_distance(name, name_length, candidate + i, length);
        if (distance <= limit && length >= SHORTEST_WORD)
            least = min_unsigned(least, distance);
    }
    return least;
}

/* A score, lower for more similar names; NOT_SIMILAR if they are not. */
static unsigned similarity(const char *name, const char *candidate)
{
    size_t name_length = strlen(name), length = strlen(candidate);
    if (name_length == 0 || length == 0 || name_length > MAX_NAME || length > MAX_NAME)
        return NOT_SIMILAR;

    const unsigned limit = name_length > 3 ? (unsigned)name_length / 3 : 1;
    const unsigned difference = (unsigned)(length > name_length ? length - name_length : name_length - length);
    if (difference <= limit) {
        const unsigned distance = edit_distance(name, name_length, candidate, length);
        /* Names without a common letter are not similar, however short. */
        if (distance <= limit && distance < (length > name_length ? length : name_length))
            return distance;
    }
    if (name_abbreviates(name, candidate))
        return limit + 1;
    const unsigned distance = word_distance(name, name_length, candidate, limit);
    if (distance != NOT_SIMILAR)
        return limit + 2 + distance;
    return name_has_letters(candidate, name) ? 2 * limit + 3 : NOT_SIMILAR;
}

size_t nearest_names(const char *name, const char *const *candidates, size_t count, const char **nearest, size_t max)
{
    unsigned scores[MAX_NEAREST];
    size_t found = 0;
    if (max > MAX_NEAREST)
        max = MAX_NEAREST;
    if (max == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned score = similarity(name, candidates[i]);
        size_t same = 0;
        while (same < found && strcmp(nearest[same], candidates[i]) != 0)
            same++;
        if (same < found || score == NOT_SIMILAR || (found == max && score >= scores[found - 1]))
            continue;
        size_t at = found < max ? found++ : found - 1;
        for (; at > 0 && scores[at - 1] > score; at--) {
            scores[at] = scores[at - 1];
            nearest[at] = nearest[at - 1];
        }
        scores[at] = score;
        nearest[at] = candidates[i];
    }
    return found;
}

void diags_add(struct diags *into, const struct diag *diag)
{
    if (diag->severity == SEVERITY_ERROR)
        (void)diag_error(into, diag->span, "%s", diag->message);
    else
        diag_note(into, diag->span, "%s", diag->message);
    if (diag->second.source)
        diag_second(into, diag->second, diag->label);
    if (diag->hint)
        diag_hint(into, "%s", diag->hint);
    into->at[into->count - 1].of_rows = diag->of_rows;
    into->at[into->count - 1].of_memory = diag->of_memory;
}

void diags_append(struct diags *into, const struct diags *from)
{
    for (size_t i = 0; i < from->count; i++) {
        *ARENA_PUSH(into->arena, into->at, into->count, into->capacity) = from->at[i];
    }
}

void diags_add_errors(struct diags *into, const struct diags *from)
{
    for (size_t i = 0; i < from->count; i++) {
        if (from->at[i].severity == SEVERITY_ERROR)
            diags_add(into, &from->at[i]);
    }
}

const char *did_you_mean(struct arena *arena, const char *name, const char *const *candidates, size_t count)
{
    enum { SHOWN = 3 };
    const char *nearest[SHOWN];
    switch (nearest_names(name, candidates, count, nearest, SHOWN)) {
    case 0:
        return "";
    case 1:
        return arena_printf(arena, "; did you mean `%s`?", nearest[0]);
    case 2:
        return arena_printf(arena, "; did you mean `%s` or `%s`?", nearest[0], nearest[1]);
    default:
        return arena_printf(arena, "; did you mean `%s`, `%s` or `%s`?", nearest[0], nearest[1], nearest[2]);
    }
}
