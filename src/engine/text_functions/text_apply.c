/* Applies a function of text to a dictionary. */
#include "engine/text_functions/text_functions.h"

#include "engine/text_functions/text_call.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/time/time_zone.h"
#include "engine/values/text_writer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void text_lookup_free(struct text_lookup *lookup)
{
    free(lookup->values);
    free(lookup->present);
    dictionary_unref(lookup->logical.dictionary);
    *lookup = (struct text_lookup){0};
}

/* Sets *regex, to be freed by the caller. */
static enum status compile_regex(struct text pattern, struct span span, struct diags *diags, struct regex **regex)
{
    char message[REGEX_MESSAGE];
    size_t offset = 0;
    *regex = regex_new(pattern, message, &offset);
    if (*regex)
        return STATUS_OK;
    long long place = count_code_points((struct text){pattern.at, offset < pattern.length ? offset : pattern.length});
    return diag_error(diags, span, "regular expression: %s, at character %lld", message, place);
}

enum status text_function_check(const struct text_function *function, const struct text_argument *args, int count,
                                struct span span, struct diags *diags)
{
    const char *wrong = function->check ? function->check(args, count) : NULL;
    if (wrong)
        return diag_error(diags, span, "`%s`: %s", function->name, wrong);
    if (!text_takes_regex(function))
        return STATUS_OK;
    struct regex *regex;
    const enum status status = compile_regex(args[0].text, span, diags, &regex);
    wrong = regex ? check_groups(function, regex, args, count) : NULL;
    regex_free(regex);
    return wrong ? diag_error(diags, span, "`%s`: %s", function->name, wrong) : status;
}

enum { PIECE = 2048 }; /* strings that a thread takes at once */

/* Results that are text, to be interned together. */
struct results {
    size_t count;
    int64_t codes[INTERNER_BATCH];
    size_t ends[INTERNER_BATCH]; /* in the bytes */
    char *bytes;
    size_t capacity;
};

/* One thread's part of a call. */
struct member {
    struct text_call call;
    struct interner *interner; /* of results that are text; NULL until it has one */
    struct results results;
    struct text_writer writer; /* of results that are not interned */
    struct text_batch batch;
    struct text_argument args[TEXT_ARGUMENTS]; /* the constants, and those of the item */
    int64_t missing;
};

struct application {
    const struct text_function *function;
    const struct text_items *items;
    const struct dictionary *dictionary; /* whose strings are the items; NULL: they are others */
    struct text part;                    /* that a string has to contain to give true; empty: none */
    const struct workers *workers;
    struct text_argument args[TEXT_ARGUMENTS];
    int count;
    struct regex *regex;
    struct member *members;
    atomic_bool too_long;
    struct text_lookup *lookup;

    uint32_t *numbers;   /* of results that are text, by code, in the interner of: */
    uint16_t *member_of; /* each piece */
    uint32_t **maps;     /* of each member, to codes */
    const char **places; /* where the results are in an unsorted dictionary, the lookup's. NULL: they are interned */
    atomic_bool no_memory;
};

static void member_start(struct application *application, struct member *member)
{
    memcpy(member->args, application->args, sizeof member->args);
    member->call.args = member->args;
    member->call.count = application->count;
    if (application->regex && !member->call.matcher)
        member->call.matcher = regex_matcher_new(application->regex);
    member->writer.pool = application->workers->pool;
    if (application->function->result == TEXT_TO_TEXT && !application->places && !member->interner)
        member->interner = interner_new();
}

static void intern_results(const struct application *application, struct member *member)
{
    struct results *results = &member->results;
    struct text texts[INTERNER_BATCH];
    uint32_t numbers[INTERNER_BATCH];
    for (size_t i = 0; i < results->count; i++) {
        const size_t begin = i > 0 ? results->ends[i - 1] : 0;
        texts[i] = (struct text){results->bytes + begin, results->ends[i] - begin};
    }
    interner_add_batch(member->interner, texts, results->count, numbers);
    for (size_t i = 0; i < results->count; i++)
        application->numbers[results->codes[i]] = numbers[i];
    results->count = 0;
}

/* Writes the result of an item, or what stands for none. */
static void place_result(struct application *application, struct member *member, struct text text, bool present,
                         int64_t code)
{
    const char *place = NULL;
    if (!present || text.length <= TEXT_MAX)
        place = present ? text_writer_add(&member->writer, text) : text_nowhere();
    if (!place)
        application->no_memory = true;
    application->places[code] = place;
}

static void add_result(const struct application *application, struct member *member, struct text text, int64_t code)
{
    struct results *results = &member->results;
    const size_t begin = results->count > 0 ? results->ends[results->count - 1] : 0, end = begin + text.length;
    if (end >= results->capacity) {
        results->capacity = 2 * end + 1;
        results->bytes = heap_resize(results->bytes, results->capacity, 1);
    }
    if (text.length > 0)
        memcpy(results->bytes + begin, text.at, text.length);
    results->codes[results->count] = code;
    results->ends[results->count++] = end;
    if (results->count == INTERNER_BATCH)
        intern_results(application, member);
}

/* Sets the result of one item. Returns whether there is one. */
static bool apply_one(struct application *application, struct member *member, struct text text, int64_t code)
{
    const struct text_function *function = application->function;
    struct text_call *call = &member->call;
    struct text result = {0};
    void *values = application->lookup->values;
    int64_t number = 0;
    double real = 0;
    bool present;
    switch (function->result) {
    case TEXT_TO_TEXT:
        result = text;
        present = !function->edit || function->edit(call, text, &result);
        if (application->places)
            place_result(application, member, result, present, code);
        else if (present)
            add_result(application, member, result, code);
        return present;
    case TEXT_TO_FLOAT:
        present = function->real(call, text, &real);
        ((double *)values)[code] = present ? real : 0;
        return present;
    case TEXT_TO_BOOL:
        present = function->number(call, text, &number);
        ((uint8_t *)values)[code] = present ? (uint8_t)number : 0;
        return present;
    case TEXT_TO_DATE:
        present = function->number(call, text, &number);
        ((int32_t *)values)[code] = present ? (int32_t)number : 0;
        return present;
    case TEXT_TO_INT:
    case TEXT_TO_TIMESTAMP:
    case TEXT_TO_DURATION:
        break;
    }
    present = function->number(call, text, &number);
    ((int64_t *)values)[code] = present ? number : 0;
    return present;
}

static int64_t piece_end(const struct application *application, int64_t piece)
{
    return min_int64((piece + 1) * PIECE, application->items->count);
}

/* False: the items are not to be found by a search. */
static bool search_piece(const struct application *application, struct member *member, int64_t begin, int64_t end)
{
    if (!application->dictionary || application->part.length == 0 ||
        !text_search_strings(application->function, &member->call, application->dictionary, application->part, begin,
                             end, application->lookup->values))
        return false;
    memset(application->lookup->present + begin, true, (size_t)(end - begin));
    return true;
}

/* Makes items and applies the function to them. */
static void apply_batch(struct application *application, int index, int64_t begin, int64_t count)
{
    struct member *member = &application->members[index];
    const struct text_items *items = application->items;
    struct text_batch *batch = &member->batch;
    uint8_t *present = application->lookup->present + begin;
    items->make(items->context, index, begin, count, batch);
    member->call.ahead = NULL;
    member->call.run = application->function->edit == text_replace && !items->varies[0] ? text_batch_run(batch, count)
                                                                                        : (struct text){0};
    for (int64_t i = 0; i < count; i++) {
        /* A regular expression may take milliseconds for each string. */
        if (member->call.too_long || (member->call.matcher && workers_cancelled(application->workers)))
            break;
        for (int k = 0; k < application->count; k++) {
            if (items->varies[k])
                member->args[k] = batch->args[k][i];
        }
        present[i] = batch->present[i] && apply_one(application, member, batch->texts[i], begin + i);
        member->missing += !present[i];
        if (!batch->present[i] && application->places)
            application->places[begin + i] = text_nowhere();
    }
    if (member->call.too_long)
        application->too_long = true;
}

static void apply_piece(void *context, int index, int64_t piece)
{
    struct application *application = context;
    struct member *member = &application->members[index];
    member_start(application, member);
    if (search_piece(application, member, piece * PIECE, piece_end(application, piece)))
        return;
    if (application->member_of)
        application->member_of[piece] = (uint16_t)index;
    const int64_t end = piece_end(application, piece);
    for (int64_t code = piece * PIECE; code < end; code += TEXT_BATCH) {
        if (application->too_long || application->no_memory || workers_cancelled(application->workers))
            return;
        apply_batch(application, index, code, min_int64(TEXT_BATCH, end - code));
    }
    if (member->results.count > 0)
        intern_results(application, member);
}

static void map_piece(void *context, int index, int64_t piece)
{
    (void)index;
    struct application *application = context;
    struct text_lookup *lookup = application->lookup;
    const uint32_t *map = application->maps[application->member_of[piece]];
    const int64_t end = piece_end(application, piece);
    for (int64_t code = piece * PIECE; code < end; code++) {
        const uint32_t result = lookup->present[code] ? map[application->numbers[code]] : 0;
        if (lookup->type == TYPE_U8)
            ((uint8_t *)lookup->values)[code] = (uint8_t)result;
        else if (lookup->type == TYPE_U16)
            ((uint16_t *)lookup->values)[code] = (uint16_t)result;
        else
            ((uint32_t *)lookup->values)[code] = result;
    }
}

static int64_t piece_count(const struct application *application)
{
    return (application->items->count + PIECE - 1) / PIECE;
}

/* False if cancelled. */
static bool run_pieces(const struct application *application, part_fn *run)
{
    const int64_t pieces = piece_count(application);
    return pieces == 0 || (workers_run(application->workers, pieces, run, (void *)application) &&
                           !workers_cancelled(application->workers));
}

/* Joins the members' results into one dictionary. */
static enum status join_results(struct application *application, struct span span, struct diags *diags)
{
    struct text_lookup *lookup = application->lookup;
    const size_t threads = (size_t)application->workers->threads;
    struct interner **interners = heap_array(threads, sizeof *interners);
    for (size_t k = 0; k < threads; k++)
        interners[k] = application->members[k].interner;
    lookup->logical.dictionary = dictionary_of_interners(interners, threads, application->maps, application->workers);
    free(interners);
    if (!lookup->logical.dictionary) {
        if (workers_cancelled(application->workers))
            return STATUS_CANCELLED;
        return diag_error(diags, span, "`%s` gives a text longer than 4 GB, or more than %d different ones",
                          application->function->name, DICTIONARY_MAX);
    }
    lookup->type = dictionary_code_type(lookup->logical.dictionary->count);
    lookup->values = heap_array((size_t)application->items->count, type_table[lookup->type].size);
    return run_pieces(application, map_piece) ? STATUS_OK : STATUS_CANCELLED;
}

/* Timestamps with and without a zone cannot be in one column: if some have one, those without are missing. */
static bool find_zones(struct application *application)
{
    int64_t zoned = 0, unzoned = 0;
    struct text_lookup *lookup = application->lookup;
    for (int k = 0; k < application->workers->threads; k++) {
        zoned += application->members[k].call.zoned;
        unzoned += application->members[k].call.unzoned;
    }
    lookup->logical.zone = zoned > 0 ? &time_zone_utc : NULL;
    if (zoned == 0 || unzoned == 0)
        return true;
    for (int k = 0; k < application->workers->threads; k++) {
        struct member *member = &application->members[k];
        member->missing = member->call.cut = 0;
        member->call.zoned_only = true;
    }
    return run_pieces(application, apply_piece);
}

/* Whether most results seem to differ, so that interning them would pay nothing. Builds with assertions try what does
 * not need an order with all results. */
static bool results_differ(struct application *application)
{
#ifdef NDEBUG
    enum { MANY = 1 << 15, SAMPLE = 1 << 10 };
    const struct text_items *items = application->items;
    struct member *member = &application->members[0];
    int64_t made = 0;
    if (items->count < MANY || items->count > DICTIONARY_MAX)
        return false;
    member_start(application, member);
    for (int64_t k = 0; k < SAMPLE; k++) {
        const int64_t missing = member->missing;
        apply_batch(application, 0, k * (items->count / SAMPLE), 1);
        made += missing == member->missing;
    }
    member->missing = 0;
    intern_results(application, member);
    const bool differ = 2 * interner_count(member->interner) > made;
    interner_free(member->interner);
    member->interner = NULL;
    return differ;
#else
    return application->items->count <= DICTIONARY_MAX;
#endif
}

/* Has results be written as they are. False: no memory. */
static bool place_results(struct application *application)
{
    char *bytes;
    struct text_lookup *lookup = application->lookup;
    lookup->logical.dictionary = dictionary_unsorted(application->workers->pool, (size_t)application->items->count, 0,
                                                     &application->places, &bytes);
    return lookup->logical.dictionary;
}

static enum status apply(struct application *application, struct span span, struct diags *diags)
{
    struct text_lookup *lookup = application->lookup;
    if (text_takes_regex(application->function)) {
        const enum status status = compile_regex(application->args[0].text, span, diags, &application->regex);
        if (status != STATUS_OK)
            return status;
    }
    if (application->items->any_order && application->function->result == TEXT_TO_TEXT && results_differ(application) &&
        !place_results(application))
        return diag_no_memory(diags, span, "not enough memory");
    if (!run_pieces(application, apply_piece))
        return STATUS_CANCELLED;
    if (application->no_memory)
        return diag_no_memory(diags, span, "not enough memory");
    if (application->too_long)
        return diag_error_hint(
            diags, span, "nested repetition as in (a+)+ is slow; a possessive (a++)+ or an atomic group (?>a+) is not",
            "this regular expression takes too many steps to match");
    if (application->function->result == TEXT_TO_TIMESTAMP && !find_zones(application))
        return STATUS_CANCELLED;
    for (int k = 0; k < application->workers->threads; k++) {
        lookup->missing += application->members[k].missing;
        lookup->cut += application->members[k].call.cut;
        lookup->wrong = lookup->wrong ? lookup->wrong : application->members[k].call.wrong;
    }
    if (application->function->result != TEXT_TO_TEXT || application->places)
        return STATUS_OK;
    return join_results(application, span, diags);
}

/* The memory of results, and what they stand for. */
static void prepare(struct application *application)
{
    static const struct {
        enum type type;
        enum logical logical;
    } results[] = {[TEXT_TO_BOOL] = {TYPE_BOOL, LOGICAL_NUMBER},
                   [TEXT_TO_INT] = {TYPE_I64, LOGICAL_NUMBER},
                   [TEXT_TO_FLOAT] = {TYPE_F64, LOGICAL_NUMBER},
                   [TEXT_TO_DATE] = {TYPE_I32, LOGICAL_DATE},
                   [TEXT_TO_TIMESTAMP] = {TYPE_I64, LOGICAL_TIMESTAMP},
                   [TEXT_TO_DURATION] = {TYPE_I64, LOGICAL_DURATION},
                   [TEXT_TO_TEXT] = {TYPE_U32, LOGICAL_TEXT}};
    struct text_lookup *lookup = application->lookup;
    size_t count = (size_t)application->items->count, threads = (size_t)application->workers->threads;
    const enum text_result result = application->function->result;
    lookup->count = application->items->count;
    lookup->type = results[result].type;
    lookup->logical.kind = results[result].logical;
    lookup->present = heap_array(count, 1);
    application->members = heap_array(threads, sizeof *application->members);
    if (result != TEXT_TO_TEXT) {
        lookup->values = heap_array(count, type_table[lookup->type].size);
        return;
    }
    application->numbers = heap_array(count, sizeof *application->numbers);
    application->member_of = heap_array((size_t)piece_count(application), sizeof *application->member_of);
    application->maps = heap_array(threads, sizeof *application->maps);
}

static void release(struct application *application)
{
    for (int k = 0; k < application->workers->threads; k++) {
        regex_matcher_free(application->members[k].call.matcher);
        free(application->members[k].call.buffer);
        free(application->members[k].results.bytes);
        interner_free(application->members[k].interner);
        text_writer_finish(&application->members[k].writer,
                           application->places ? application->lookup->logical.dictionary : NULL);
        if (application->maps)
            free(application->maps[k]);
    }
    regex_free(application->regex);
    free(application->members);
    free(application->numbers);
    free(application->member_of);
    free(application->maps);
}

/* The items are the strings of the dictionary, unless that is NULL. */
static enum status apply_items(const struct text_function *function, const struct text_items *items,
                               const struct dictionary *dictionary, const struct text_argument *args, int count,
                               const struct workers *workers, struct span span, struct diags *diags,
                               struct text_lookup *lookup)
{
    /* Progress counts the caller's own parts. */
    struct workers own = workers ? *workers : (struct workers){.threads = 1};
    own.progress = NULL;
    struct application application = {.function = function,
                                      .items = items,
                                      .dictionary = dictionary,
                                      .workers = &own,
                                      .count = count,
                                      .lookup = lookup};
    for (int k = 0; k < count; k++) {
        application.args[k] = args[k];
        if (function->kinds[k] == ARGUMENT_TEXT && args[k].text.length == 0)
            application.args[k].text.at = ""; /* never NULL */
    }
    application.part = text_needed_part(function, application.args);
    prepare(&application);
    const enum status status = apply(&application, span, diags);
    release(&application);
    if (lookup->missing == 0) {
        free(lookup->present);
        lookup->present = NULL;
    }
    if (status != STATUS_OK)
        text_lookup_free(lookup);
    return status;
}

enum status text_items_apply(const struct text_function *function, const struct text_items *items,
                             const struct text_argument *args, int count, const struct workers *workers,
                             struct span span, struct diags *diags, struct text_lookup *lookup)
{
    return apply_items(function, items, NULL, args, count, workers, span, diags, lookup);
}

static void texts_of_codes(void *dictionary, int member, int64_t begin, int64_t count, struct text_batch *batch)
{
    (void)member;
    for (int64_t k = 0; k < count; k++) {
        batch->present[k] = true;
        batch->texts[k] = dictionary_text(dictionary, begin + k);
    }
}

enum status text_function_apply(const struct text_function *function, const struct dictionary *dictionary,
                                const struct text_argument *args, int count, const struct workers *workers,
                                struct span span, struct diags *diags, struct text_lookup *lookup)
{
    const struct text_items items = {.count = dictionary->count, .make = texts_of_codes, .context = (void *)dictionary};
    const char *wrong = function->check ? function->check(args, count) : NULL;
    if (wrong)
        return diag_error(diags, span, "`%s`: %s", function->name, wrong);
    return apply_items(function, &items, dictionary, args, count, workers, span, diags, lookup);
}
