/* JSON lines with only those values that a statement may read.
 *
 * A text that is unpacked has many times the length of its file, and most of it is values that no statement looks at.
 * So it is unpacked by blocks, each while the records of the block before it are walked through, in the memory of the
 * one before that: what is kept of it is a text of its own, in which all else finds the same records, keys and lines.
 */
#include "engine/json/json_keys.h"
#include "engine/json/json_walk.h"
#include "engine/storage/growing_buffer.h"
#include "engine/text/text_files.h"

#include "base/heap.h"

#include <stdlib.h>

#ifndef TEXT_CHUNK_BYTES
#define TEXT_CHUNK_BYTES (1 << 20)
#endif

enum { PIECE_BYTES = TEXT_CHUNK_BYTES / 2, BLOCK_BYTES = 8 * PIECE_BYTES, MAX_LEARNED = 64 << 20 };

struct line {
    const char *begin, *end;
};

/* Some lines of a block, and their kept values. */
struct piece {
    struct line lines;
    struct strbuf kept;
    struct line *news; /* those that have something new */
    size_t news_count, news_capacity;
    bool failed;
};

struct block {
    char *text;
    size_t used, size;
};

struct keeper {
    const struct text_pieces *from;
    const struct mentioned *mentioned;
    const struct workers *workers;
    struct arena *arena; /* keys, and the records that they are in */
    size_t learned;      /* bytes of these */
    struct json_keys *keys;
    enum json_kept *kept;  /* of each node */
    size_t *fields;        /* of each node: how many are kept */
    unsigned char *wanted; /* of each node: its values are kept; */
    bool flat;             /* no arrays are */
    struct dialect dialect;
    struct table table;           /* the lines of a block */
    struct json_walker *walkers;  /* by thread */
    struct block blocks[2], *now; /* the one that is looked at; the other is filled */
    bool ends, failed;            /* of what is filled */
    struct piece *pieces;
    size_t count, made, capacity; /* of a block; that there are */
};

static void has_new(void *context, size_t node, struct text what)
{
    (void)node;
    (void)what;
    *(bool *)context = true;
}

static bool is_path_to(const char *path, const char *other)
{
    const size_t length = strlen(path);
    return strncmp(path, other, length) == 0 && (other[length] == '.' || other[length] == '\0');
}

static void add_path(const struct json_keys *keys, size_t node, struct strbuf *path)
{
    const struct json_node *at = &keys->nodes[node];
    if (at->parent > 0)
        add_path(keys, at->parent, path);
    strbuf_printf(path, "%s%s", path->length > 0 ? "." : "", at->name);
}

enum json_kept json_kept(const struct json_keys *keys, size_t node, const struct mentioned *mentioned)
{
    struct strbuf path = {0};
    enum json_kept kept = KEEP_NONE;
    add_path(keys, node, &path);
    for (size_t i = 0; i < mentioned->count && kept != KEEP_ALL && node > 0; i++) {
        if (is_path_to(mentioned->paths[i], path.text))
            kept = KEEP_ALL;
        else if (is_path_to(path.text, mentioned->paths[i]))
            kept = KEEP_FIELDS;
    }
    strbuf_free(&path);
    return kept;
}

static void free_kept(struct keeper *keeper)
{
    free(keeper->kept);
    free(keeper->fields);
    free(keeper->wanted);
}

/* Decides again which values are kept, and restarts the walkers, since there are new keys. */
static void set_kept(struct keeper *keeper)
{
    const size_t count = keeper->keys->count;
    free_kept(keeper);
    keeper->flat = true;
    keeper->wanted = heap_array(count, 1);
    keeper->kept = heap_array(count, sizeof *keeper->kept);
    keeper->fields = heap_array(count, sizeof *keeper->fields);
    for (size_t k = 1; k < count; k++) {
        keeper->kept[k] = json_kept(keeper->keys, k, keeper->mentioned);
        keeper->wanted[k] = keeper->kept[k] != KEEP_NONE;
        keeper->fields[keeper->keys->nodes[k].parent] += keeper->wanted[k];
        keeper->flat = keeper->flat && !(keeper->wanted[k] && keeper->keys->nodes[k].elements);
    }
    for (int i = 0; i < keeper->workers->threads; i++) {
        json_walker_free(&keeper->walkers[i]);
        keeper->walkers[i] = (struct json_walker){.found = has_new, .wanted = keeper->flat ? keeper->wanted : NULL};
        json_walker_init(&keeper->walkers[i], keeper->keys, &keeper->table);
    }
}

static void add_member(struct strbuf *to, struct cell key, bool *first)
{
    if (!*first)
        strbuf_putc(to, ',');
    *first = false;
    strbuf_add(to, key.at - 1, (size_t)(key.end - key.at) + 2);
    strbuf_putc(to, ':');
}

/* Writes the kept values of the object at `at`, whose keys are known. */
static void keep_object(const struct keeper *keeper, struct json_walker *walker, size_t node, const char *at,
                        const char *end, struct strbuf *to)
{
    const struct json_keys *keys = keeper->keys;
    size_t left = keeper->fields[node], guess = 0;
    bool first = true, more = left > 0;
    strbuf_putc(to, '{');
    at = json_enter(at, end);
    more = more && *at != '}';
    while (more) {
        struct cell key;
        size_t field = json_expected(keys, node, &at, end, &guess, &key);
        if (!field) {
            at = json_key(at, end, &key);
            field = json_field(keys, node, key, &guess, &keeper->dialect, &walker->scratch);
        }
        const char *value = at;
        const enum json_kept kept = keeper->kept[field];
        left -= kept != KEEP_NONE;
        if (kept != KEEP_NONE)
            add_member(to, key, &first);
        const bool fields = kept == KEEP_FIELDS && *value == '{';
        if (fields)
            keep_object(keeper, walker, field, value, end, to);
        if (!fields || left > 0)
            at = json_skip_value(value, end);
        if (kept != KEEP_NONE && !fields)
            strbuf_add(to, value, (size_t)(at - value));
        more = left > 0;
        if (more)
            at = json_next(at, end, '}', &more);
    }
    strbuf_putc(to, '}');
}

/* An object that is being written, or opened where it is met. */
struct open_object {
    const struct json_node *nodes;
    size_t node;
    bool first; /* its next member is the first */
    struct strbuf *to;
};

static bool is_within(const struct json_node *nodes, size_t node, size_t object)
{
    while (node != object && nodes[node].level > nodes[object].level)
        node = nodes[node].parent;
    return node == object;
}

/* Closes and opens objects, so that the next member is of this one. */
static void go_to(struct open_object *open, size_t object)
{
    for (; !is_within(open->nodes, object, open->node); open->node = open->nodes[open->node].parent) {
        strbuf_putc(open->to, '}');
        open->first = false;
    }
    if (object == open->node)
        return;
    go_to(open, open->nodes[object].parent);
    add_member(open->to, open->nodes[object].key, &open->first);
    strbuf_putc(open->to, '{');
    open->node = object;
    open->first = true;
}

/* Writes an object of the values that the walker has listed. */
static void keep_values(const struct keeper *keeper, const struct json_walker *walker, struct strbuf *to)
{
    struct open_object open = {keeper->keys->nodes, 0, true, to};
    strbuf_putc(to, '{');
    for (size_t i = 0; i < walker->value_count; i++) {
        const struct json_found *value = &walker->values[i];
        const struct json_node *node = &open.nodes[value->node];
        if (node->parent != open.node)
            go_to(&open, node->parent);
        add_member(to, node->key, &open.first);
        strbuf_add(to, value->at, (size_t)(value->end - value->at));
    }
    go_to(&open, 0);
    strbuf_putc(to, '}');
}

/* Writes the kept values of a line. False: it is no object. */
static bool keep_line(const struct keeper *keeper, struct json_walker *walker, struct line line, struct piece *piece)
{
    bool is_new = false;
    const char *at = json_skip_blank(line.begin, line.end);
    if (at < line.end) {
        walker->context = &is_new;
        walker->twice = false;
        const char *end = *at == '{' ? json_walk(walker, at) : NULL;
        if (!end || end > line.end || json_skip_blank(end, line.end) < line.end)
            return false;
        is_new = is_new || walker->twice;
    }
    if (at == line.end || is_new)
        strbuf_add(&piece->kept, line.begin, (size_t)(line.end - line.begin));
    else if (keeper->flat)
        keep_values(keeper, walker, &piece->kept);
    else
        keep_object(keeper, walker, 0, at, line.end, &piece->kept);
    if (is_new)
        *HEAP_PUSH(piece->news, piece->news_count, piece->news_capacity) = line;
    return true;
}

static void keep_piece(struct keeper *keeper, struct json_walker *walker, struct piece *piece)
{
    for (const char *at = piece->lines.begin; at < piece->lines.end && !piece->failed;) {
        const char *newline = memchr(at, '\n', (size_t)(piece->lines.end - at));
        const struct line line = {at, newline ? newline : piece->lines.end};
        piece->failed = !keep_line(keeper, walker, line, piece);
        if (newline)
            strbuf_putc(&piece->kept, '\n');
        at = line.end + (newline ? 1 : 0);
    }
}

/* Adds to a block. */
static void fill(struct keeper *keeper, struct block *block, size_t bytes)
{
    if (block->size < block->used + bytes) {
        block->size = 2 * block->used + bytes;
        block->text = heap_resize(block->text, block->size, 1);
    }
    size_t written = 0;
    if (!keeper->from->next(keeper->from->context, block->text + block->used, bytes, &written, &keeper->ends))
        keeper->failed = true;
    block->used += written;
}

static struct block *other_block(struct keeper *keeper)
{
    return keeper->now == keeper->blocks ? keeper->blocks + 1 : keeper->blocks;
}

static void run_part(void *context, int member, int64_t part)
{
    struct keeper *keeper = context;
    if (part == 0 && !keeper->ends)
        fill(keeper, other_block(keeper), BLOCK_BYTES);
    else if (part > 0)
        keep_piece(keeper, &keeper->walkers[member], &keeper->pieces[part - 1]);
}

/* The whole lines of the block at hand; what follows them begins the other one. */
static struct line take_lines(struct keeper *keeper)
{
    struct block *block = keeper->now, *other = other_block(keeper);
    const char *last = NULL;
    while (!(last = block->used ? memrchr(block->text, '\n', block->used) : NULL) && !keeper->ends && !keeper->failed)
        fill(keeper, block, BLOCK_BYTES);
    const size_t length = keeper->ends || !last ? block->used : (size_t)(last + 1 - block->text);
    other->used = 0;
    if (other->size < block->used - length + BLOCK_BYTES) {
        other->size = block->used - length + BLOCK_BYTES;
        other->text = heap_resize(other->text, other->size, 1);
    }
    memcpy(other->text, block->text + length, block->used - length);
    other->used = block->used - length;
    return (struct line){block->text, block->text + length};
}

static void cut(struct keeper *keeper, const char *at, const char *end)
{
    keeper->count = 0;
    while (at < end) {
        const char *to =
            end - at > PIECE_BYTES ? memchr(at + PIECE_BYTES, '\n', (size_t)(end - at) - PIECE_BYTES) : NULL;
        to = to ? to + 1 : end;
        if (keeper->count == keeper->made)
            *HEAP_PUSH(keeper->pieces, keeper->made, keeper->capacity) = (struct piece){0};
        struct piece *piece = &keeper->pieces[keeper->count++];
        strbuf_clear(&piece->kept);
        piece->news_count = 0;
        piece->lines = (struct line){at, to};
        at = to;
    }
}

static bool append(struct growing_buffer *buffer, const char *text, size_t length)
{
    if (length == 0)
        return true;
    if (!growing_buffer_reserve(buffer, length))
        return false;
    memcpy(buffer->data + buffer->used, text, length);
    buffer->used += length;
    return true;
}

/* Whether it could be learned. Keys point into the text. */
static bool learn(struct keeper *keeper, struct line line)
{
    const size_t length = (size_t)(line.end - line.begin);
    const char *text = arena_text(keeper->arena, line.begin, length);
    keeper->learned += length;
    const char *at = json_skip_blank(text, text + length);
    return keeper->learned <= MAX_LEARNED &&
           (at == text + length || json_learn(keeper->keys, &keeper->table, at, text + length));
}

/* The sample stays whole. Returns what follows it. */
static const char *keep_sample(struct keeper *keeper, struct line lines, struct growing_buffer *buffer)
{
    const char *at = lines.begin;
    for (int row = 0; at < lines.end && row < SAMPLE_ROWS && at - lines.begin < SAMPLE_BYTES && !keeper->failed;
         row++) {
        const char *newline = memchr(at, '\n', (size_t)(lines.end - at));
        const struct line line = {at, newline ? newline : lines.end};
        keeper->failed = !learn(keeper, line);
        at = line.end + (newline ? 1 : 0);
    }
    keeper->failed = keeper->failed || !append(buffer, lines.begin, (size_t)(at - lines.begin));
    return at;
}

/* Appends the kept values of a block, and learns its new keys. */
static void take_pieces(struct keeper *keeper, struct growing_buffer *buffer)
{
    const size_t before = keeper->keys->learned;
    for (size_t i = 0; i < keeper->count && !keeper->failed; i++) {
        const struct piece *piece = &keeper->pieces[i];
        keeper->failed = piece->failed || !append(buffer, piece->kept.text, piece->kept.length);
        for (size_t k = 0; k < piece->news_count && !keeper->failed; k++)
            keeper->failed = !learn(keeper, piece->news[k]);
    }
    if (keeper->keys->learned > before)
        set_kept(keeper);
}

static void keep_blocks(struct keeper *keeper, struct growing_buffer *buffer)
{
    struct workers workers = *keeper->workers;
    workers.progress = NULL; /* unpacking tells */
    fill(keeper, keeper->now, BLOCK_BYTES);
    for (bool first = true, last = false; !keeper->failed && !last; first = false) {
        const struct line lines = take_lines(keeper);
        const char *at = lines.begin;
        last = keeper->ends;
        keeper->table.text = keeper->table.begin = lines.begin;
        keeper->table.end = lines.end;
        if (first)
            at = keep_sample(keeper, lines, buffer);
        if (first)
            set_kept(keeper);
        cut(keeper, at, lines.end);
        keeper->failed = keeper->failed || !workers_run(&workers, (int64_t)keeper->count + 1, run_part, keeper);
        take_pieces(keeper, buffer);
        keeper->now = other_block(keeper);
    }
}

static void free_keeper(struct keeper *keeper)
{
    for (int i = 0; i < keeper->workers->threads; i++)
        json_walker_free(&keeper->walkers[i]);
    for (size_t i = 0; i < keeper->made; i++) {
        strbuf_free(&keeper->pieces[i].kept);
        free(keeper->pieces[i].news);
    }
    free(keeper->pieces);
    free(keeper->walkers);
    free_kept(keeper);
    free(keeper->blocks[0].text);
    free(keeper->blocks[1].text);
    arena_free(keeper->arena);
}

bool json_keep_mentioned(const struct text_pieces *pieces, const struct mentioned *mentioned,
                         const struct workers *workers, struct growing_buffer *buffer)
{
    struct keeper keeper = {.from = pieces, .mentioned = mentioned, .workers = workers, .arena = arena_new()};
    keeper.dialect = (struct dialect){.extension = ".jsonl", .delimiter = ',', .header = true, .json = true};
    keeper.table.dialect = &keeper.dialect;
    keeper.keys = json_keys_new(keeper.arena);
    keeper.walkers = heap_array((size_t)workers->threads, sizeof *keeper.walkers);
    keeper.now = keeper.blocks;
    keep_blocks(&keeper, buffer);
    free_keeper(&keeper);
    return !keeper.failed;
}
