/* What the answers for an object say, and where their bytes go. */
#include "engine/remote/object.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { OK = 200, PARTIAL = 206, NOT_MODIFIED = 304, NO_RANGE = 416, STABLE_SECONDS = 2 };

static struct validators validators_of(const struct answer *answer)
{
    struct validators validators = {.size = answer->status == PARTIAL ? answer->total : answer->length};
    memcpy(validators.etag, answer->etag, sizeof validators.etag);
    memcpy(validators.modified, answer->modified, sizeof validators.modified);
    return validators;
}

static enum verdict fail_by_errno(const struct object *object, const struct piece *piece)
{
    const struct transfer *transfer = piece->transfer;
    const int error = errno;
    (void)diag_error(transfer->diags, transfer->span, "cannot keep what is received of `%s`: %s", object->address.shown,
                     strerror(error));
    if (error == ENOSPC || error == EDQUOT)
        diag_hint(transfer->diags, "it is kept in ~/.cache/rql, which `.cache clear` empties");
    return VERDICT_FAILED;
}

bool object_received(void *context, struct piece *piece, const char *bytes, size_t length)
{
    struct object *object = context;
    const int64_t begin = piece->at - piece->at % BLOCK_BYTES;
    if (!block_file_write(object->file, piece->at, bytes, length)) {
        (void)fail_by_errno(object, piece);
        return false;
    }
    piece->at += (int64_t)length;
    block_file_mark(object->file, begin > piece->from ? begin : piece->from, piece->at);
    if (block_file_validators(object->file)->size < 0)
        object->size = piece->at;
    return true;
}

/* Where the bytes of an answer belong; false: they are none of the piece. */
static bool place(struct piece *piece)
{
    const struct answer *answer = &piece->answer;
    piece->whole = answer->status == OK;
    if (!piece->whole &&
        (answer->first < 0 || answer->last < answer->first || (!piece->suffix && answer->first != piece->at)))
        return false;
    piece->at = piece->whole ? 0 : answer->first;
    piece->from = piece->at;
    return true;
}

enum verdict object_answered(void *context, struct piece *piece)
{
    struct object *object = context;
    const struct answer *answer = &piece->answer;
    const struct validators now = validators_of(answer);
    if (answer->status != OK && answer->status != PARTIAL && answer->status != NO_RANGE)
        return VERDICT_STATUS;
    if (answer->status != NO_RANGE && validators_equal(block_file_validators(object->file), &now) && place(piece))
        return VERDICT_BODY;
    object->changed = true;
    (void)diag_error(piece->transfer->diags, piece->transfer->span, "`%s` changed while it was read: load it again",
                     object->address.shown);
    return VERDICT_FAILED;
}

/* Whether the validators are those of just this content. A time does not tell changes within the same second, nor does
 * a tag that is made of the time and the size. */
static bool are_strong(const struct object *object, const struct answer *answer)
{
    const struct curl_library *curl = &object->remote->curl;
    if (!*answer->modified)
        return *answer->etag;
    const time_t modified = curl->getdate(answer->modified, NULL), date = curl->getdate(answer->date, NULL);
    return modified >= 0 && date >= 0 && date - modified >= STABLE_SECONDS;
}

static enum verdict refuse_page(const struct object *object, const struct transfer *transfer)
{
    (void)diag_error(transfer->diags, transfer->span, "`%s` is a web page, not a data file", object->address.shown);
    if (strcasecmp(object->address.host, "github.com") == 0)
        diag_hint(transfer->diags, "files are at https://raw.githubusercontent.com/OWNER/NAME/BRANCH/PATH");
    else
        diag_hint(transfer->diags, "the server may want a login, or the file has another address");
    return VERDICT_FAILED;
}

/* A bucket of another region answers with its name. */
static bool moves(struct object *object, const struct answer *answer)
{
    if (!object->address.s3 || object->address.aws.endpoint || object->moved || !*answer->region ||
        strcmp(answer->region, object->address.aws.region) == 0)
        return false;
    object->moved = true;
    address_set_region(&object->address, object->path, answer->region, object->arena);
    return true;
}

/* Makes the file for what comes, unless that is the one which is there. */
static enum verdict take_file(struct object *object, struct piece *piece)
{
    const struct answer *answer = &piece->answer;
    const struct validators now = validators_of(answer);
    object->strong = are_strong(object, answer);
    const bool known = object->file && (*now.etag || *now.modified) && now.size >= 0 &&
                       validators_equal(block_file_validators(object->file), &now) && object->strong;
    if (!known) {
        block_file_free(object->file);
        object->file = block_file_new(object->directory, object->address.url, &now, object->kept && object->strong);
    }
    if (!object->file)
        return fail_by_errno(object, piece);
    object->size = now.size;
    piece->transfer->total = answer->status == PARTIAL ? answer->last - answer->first + 1 : now.size;
    return VERDICT_BODY;
}

enum verdict object_answered_first(void *context, struct piece *piece)
{
    struct object *object = context;
    const struct answer *answer = &piece->answer;
    if (moves(object, answer))
        return VERDICT_AGAIN;
    if (answer->status == NOT_MODIFIED && object->file) {
        object->size = block_file_validators(object->file)->size;
        object->strong = true; /* only those are kept */
        return VERDICT_DONE;
    }
    /* Some servers refuse to give more than there is. */
    if ((answer->status == NO_RANGE || (answer->status == PARTIAL && (answer->total < 0 || answer->last < 0))) &&
        !piece->whole) {
        piece->whole = true;
        return VERDICT_AGAIN;
    }
    if (answer->status != OK && answer->status != PARTIAL)
        return VERDICT_STATUS;
    const bool page = strncasecmp(answer->type, "text/html", strlen("text/html")) == 0;
    if (page && !object->any_type)
        return refuse_page(object, piece->transfer);
    object->kept = object->kept && !page; /* or the next load would not know that it is one */
    object->encoded = *answer->encoding && strcasecmp(answer->encoding, "identity") != 0;
    if (object->encoded && !strcasestr(answer->encoding, "gzip") && !strcasestr(answer->encoding, "zstd")) {
        (void)diag_error(piece->transfer->diags, piece->transfer->span,
                         "`%s` comes in an encoding that cannot be read: %s", object->address.shown, answer->encoding);
        return VERDICT_FAILED;
    }
    if (!place(piece))
        return VERDICT_STATUS;
    if (!piece->whole) {
        piece->suffix = false; /* another try continues */
        piece->end = answer->last + 1;
    }
    return take_file(object, piece);
}
