/* The objects of a bucket that a pattern or a folder stands for: ListObjectsV2. */
#include "engine/remote/object.h"

#include "base/hash.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 200 };

struct listing {
    struct remote *remote;
    struct address address;
    const char *pattern; /* of keys */
    const char *token;   /* of the page that is asked for; NULL: the first */
    bool folder, moved;
    struct arena *arena;
    struct strbuf page; /* one answer */
    struct remote_list *list;
    size_t capacity;
};

static const char wildcards[] = "*?[";

/* The length of the first part of a pattern or key. */
static size_t part_length(const char *text)
{
    return strcspn(text, "/");
}

/* Whether a key is what the pattern stands for, part by part; `**` is any number of parts. */
static bool matches(const char *pattern, const char *key, struct arena *arena)
{
    for (;;) {
        const size_t pattern_length = part_length(pattern), key_length = part_length(key);
        const char *one = arena_text(arena, pattern, pattern_length), *name = arena_text(arena, key, key_length);
        const bool last = !pattern[pattern_length], ends = !key[key_length];
        if (strcmp(one, "**") == 0) {
            if (*name == '.')
                return false;
            if (last ? ends : matches(pattern + pattern_length + 1, key, arena))
                return true;
            if (ends)
                return false;
            key += key_length + 1;
            continue;
        }
        if (fnmatch(one, name, FNM_PERIOD) != 0 || last != ends)
            return false;
        if (last)
            return *name != '\0';
        pattern += pattern_length + 1;
        key += key_length + 1;
    }
}

/* Whether a part of what follows the folder begins with `.` or `_`, or it is a folder's own mark. */
static bool is_hidden(const char *key)
{
    for (;; key += part_length(key) + 1) {
        if (*key == '.' || *key == '_' || !*key)
            return true;
        if (!key[part_length(key)])
            return false;
    }
}

/* What an entity of XML stands for, with its length; 0: it is none. */
static char entity(const char *text, size_t *length)
{
    static const struct {
        const char *written;
        char meant;
    } named[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        *length = strlen(named[k].written);
        if (strncmp(text, named[k].written, *length) == 0)
            return named[k].meant;
    }
    char *end = NULL;
    const bool hexadecimal = strncmp(text, "&#x", 3) == 0;
    const long code = strncmp(text, "&#", 2) == 0 ? strtol(text + 2 + hexadecimal, &end, hexadecimal ? 16 : 10) : 0;
    *length = end ? (size_t)(end + 1 - text) : 0;
    return code > 0 && code < 128 && *end == ';' ? (char)code : '\0';
}

static void decode_entities(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t length;
        const char meant = entity(from, &length);
        *to++ = meant ? meant : *from;
        from += meant ? length : 1;
    }
    *to = '\0';
}

/* The text of the first element of this name; NULL: there is none. */
static const char *element(const char *xml, const char *name, struct arena *arena)
{
    const char *open = arena_printf(arena, "<%s>", name), *begin = strstr(xml, open);
    if (!begin)
        return NULL;
    begin += strlen(open);
    char *text = arena_text(arena, begin, strcspn(begin, "<"));
    decode_entities(text);
    return text;
}

static void add_object(struct listing *listing, const char *xml)
{
    struct remote_list *list = listing->list;
    struct arena *arena = listing->arena;
    const char *key = element(xml, "Key", arena), *size = element(xml, "Size", arena);
    const char *etag = element(xml, "ETag", arena);
    if (!key || !size)
        return;
    if (listing->folder ? is_hidden(key + strlen(listing->pattern)) : !matches(listing->pattern, key, arena))
        return;
    const char *path = arena_printf(arena, "s3://%s/%s", listing->address.bucket, key);
    *ARENA_PUSH(arena, list->objects, list->count, listing->capacity) =
        (struct remote_object){path, strtoll(size, NULL, 10)};
    list->hash = hash_text(hash_text(hash_text(list->hash, path), size), etag ? etag : "");
}

static enum verdict answered(void *context, struct piece *piece)
{
    struct listing *listing = context;
    const char *region = piece->answer.region;
    if (piece->answer.status == OK) {
        strbuf_clear(&listing->page);
        return VERDICT_BODY;
    }
    if (listing->moved || !*region || listing->address.aws.endpoint || strcmp(region, listing->address.aws.region) == 0)
        return VERDICT_STATUS;
    listing->moved = true;
    listing->address.aws.region = arena_text(listing->arena, region, strlen(region));
    address_set_list(&listing->address, listing->pattern, listing->token, listing->arena);
    return VERDICT_AGAIN;
}

static bool received(void *context, struct piece *piece, const char *bytes, size_t length)
{
    struct listing *listing = context;
    strbuf_add(&listing->page, bytes, length);
    piece->at += (int64_t)length;
    return true;
}

/* Takes the objects of a page; sets the token of the next, NULL behind the last. */
static void take_page(struct listing *listing)
{
    static const char open[] = "<Contents>", close[] = "</Contents>";
    const char *page = listing->page.text ? listing->page.text : "", *rest = page;
    for (const char *at = strstr(page, open); at; at = strstr(rest, open)) {
        const char *end = strstr(at, close);
        rest = end ? end + strlen(close) : at + strlen(at);
        add_object(listing, arena_text(listing->arena, at, (size_t)(rest - at)));
    }
    listing->token = element(page, "NextContinuationToken", listing->arena);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct remote_object *)a)->path, ((const struct remote_object *)b)->path);
}

enum status remote_list(struct remote *remote, const char *path, const struct workers *workers, struct span span,
                        struct remote_list *list, struct diags *diags)
{
    struct listing listing = {.remote = remote, .arena = diags->arena, .list = list};
    *list = (struct remote_list){.hash = hash_init()};
    if (!remote_begin(remote))
        return curl_library_missing(span, diags);
    if (address_parse_list(path, &listing.address, &listing.pattern, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    listing.folder = !strpbrk(listing.pattern, wildcards);
    enum status status;
    do {
        struct transfer transfer = {.remote = remote,
                                    .address = &listing.address,
                                    .workers = workers,
                                    .span = span,
                                    .diags = diags,
                                    .first = !listing.token,
                                    .total = -1,
                                    .context = &listing,
                                    .answered = answered,
                                    .received = received};
        struct piece piece = {.end = -1, .whole = true};
        address_set_list(&listing.address, listing.pattern, listing.token, listing.arena);
        status = transfer_run(&transfer, &piece, 1);
        if (status == STATUS_OK)
            take_page(&listing);
    } while (status == STATUS_OK && listing.token);
    strbuf_free(&listing.page);
    if (list->count > 1)
        qsort(list->objects, list->count, sizeof *list->objects, compare_paths);
    return status;
}
