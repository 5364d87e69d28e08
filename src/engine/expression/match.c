/* Rows found by their keys. */
#include "engine/expression/match.h"
#include "engine/lists/lists.h"

#include "base/memory_size.h"
#include "engine/bind/facts.h"
#include "engine/expression/evaluated.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/source/bind_source.h"

#include <math.h>
#include <string.h>

/* Decimals that differ in their digits after the point: adding zeroes makes them alike. */
static void refuse_scales(struct binder *binder, const struct logical_type *left, const char *left_name,
                          const struct slot *right, const char *right_name, struct span span)
{
    const bool first = left->scale < right->logical.scale;
    const char *name = name_written(first ? left_name : right->name, binder->arena);
    const int most = first ? right->logical.scale : left->scale;
    bind_error(binder, span,
               arena_printf(binder->arena, "give both as many digits, as by `derive %s = %s + 0.%0*d`%s", name, name,
                            most, 0, first ? "" : " within the source"),
               "`%s` is decimal(%d), but `%s` is decimal(%d)", left_name, left->scale, right_name,
               right->logical.scale);
}

bool match_check(struct scope *scope, struct term term, const char *left_name, const struct slot *right,
                 const char *right_name, struct span span)
{
    if (!term_is_known(term) || !right->known)
        return false;
    struct binder *binder = scope->binder;
    const enum kind kind = scope->code->at[term.value].kind, other = type_table[right->type].kind;
    const struct logical_type *a = &term.logical, *b = &right->logical;
    const bool months_or_missing = term.months || term.missing;
    if (!months_or_missing && kind == other && a->kind == b->kind && a->scale == b->scale && !a->zone == !b->zone)
        return a->kind != LOGICAL_LIST || list_refuse_key(binder, right->name, "join", span);
    if (a->kind == LOGICAL_DECIMAL && b->kind == LOGICAL_DECIMAL) {
        refuse_scales(binder, a, left_name, right, right_name, span);
        return false;
    }
    const struct slot left = slot_of_term(scope, term);
    const char *left_type = logical_type_name(left.logical, left.type);
    left_type = arena_text(binder->arena, left_type, strlen(left_type));
    const char *column = !scope->flow || name_is_taken(scope, left_name) ? left_name : NULL;
    const char *zones = zoned_advice(binder->arena, column, a, right->name, b);
    return bind_error(binder, span,
                      zones ? zones : "convert one of them with `derive` first, as by int(), float(), date(), round()",
                      "`%s` is %s, but `%s` is %s: they have no values in common", left_name, left_type, right_name,
                      logical_type_name(right->logical, right->type));
}

void match_refuse_index(struct binder *binder, const struct join_index *index, struct span span)
{
    if (index->refused > 0)
        bind_error(binder, span, "keep fewer rows with `select` within the source, or fewer keys",
                   "an index of the source's %lld rows takes %.3g GB of memory, more than the %.3g GB that are free",
                   (long long)index->rows, (double)index->refused / 1e9, (double)system_memory_free_bytes() / 1e9);
    else
        bind_error(binder, span, NULL, "not enough memory for an index of %lld rows", (long long)index->rows);
}

value match_table(struct scope *scope, struct column *table, enum kind kind, value id, const char *name,
                  struct span span)
{
    queue_hold(scope->binder->queue, column_ref(table));
    const struct input input = {.column = table, .type = table->type, .name = name, .whole = true};
    const size_t number = task_add_input(scope->task, &input, scope->binder->arena);
    return code_lookup(scope->code, (int64_t)number, kind, id, span);
}

static value both(struct scope *scope, value a, value b, struct span span)
{
    return a == NO_VALUE ? b : code_binary(scope->code, OP_AND, a, b, span);
}

/* What of a string of one dictionary the codes of another are compared with: whether they are equal, by == ; whether
 * they are less, by BINARY_GT or BINARY_LE with the number of strings that are; or less or equal. */
static bool map_codes(const struct scope *scope, const struct dictionary *from, const struct dictionary *to,
                      enum binary_op compared, int32_t *map)
{
    const struct workers *workers = scope->binder->facts->workers;
    if (compared == BINARY_EQ)
        return dictionary_map(from, to, workers, map);
    const bool equal = compared == BINARY_GE || compared == BINARY_LT;
    if (!dictionary_map_order(from, to, equal, workers, map))
        return false;
    for (int64_t code = 0; code < from->count && equal; code++)
        map[code]--; /* the last of them */
    return true;
}

/* The code that each string has in the other dictionary, or is compared with there; -1: none. */
static value recode(struct scope *scope, struct term term, const struct dictionary *to, enum binary_op compared,
                    struct span span)
{
    const struct dictionary *from = term.logical.dictionary;
    if (texts_need_order(scope->binder, from) || texts_need_order(scope->binder, to))
        return term.value;
    if (from != to && (!from || !to))
        scope->binder->queue->unknown_values = true;
    if (from == to || !from || !to)
        return term.value;
    const int64_t rows = from->count > 0 ? from->count : 1;
    struct column *column = column_reserve(TYPE_I32, TYPE_I32, rows);
    if (!column) {
        bind_error(scope->binder, span, NULL, "not enough memory for the codes of %lld strings", (long long)rows);
        return term.value;
    }
    if (!map_codes(scope, from, to, compared, column_at(column, 0)))
        scope->binder->cancelled = true;
    column_finish(column, rows);
    column_set_range(column, true, -1, to->count); /* beyond the last, for what is greater than all */
    return text_lookup(scope, term, column, "codes", span);
}

value match_key(struct scope *scope, struct term term, const struct logical_type *logical, struct span span)
{
    if (logical->kind == LOGICAL_TEXT)
        return recode(scope, term_as_column(scope->binder, term), logical->dictionary, BINARY_EQ, span);
    if (scope->code->at[term.value].kind == KIND_FLOAT)
        return code_binary(scope->code, OP_FLOAT_BITS, term.value, NO_VALUE, span);
    return bind_number(scope->code, term.value, span);
}

value match_ordered(struct scope *scope, struct term term, const struct logical_type *logical, enum binary_op compared,
                    value *present, struct span span)
{
    if (term.present != NO_VALUE)
        *present = both(scope, *present, term.present, span);
    if (logical->kind == LOGICAL_TEXT)
        return recode(scope, term_as_column(scope->binder, term), logical->dictionary, compared, span);
    if (scope->code->at[term.value].kind != KIND_FLOAT)
        return bind_number(scope->code, term.value, span);
    /* As join_ordered_bits has it. */
    const value bits = code_binary(scope->code, OP_FLOAT_BITS, term.value, NO_VALUE, span);
    const value nan = code_exact_int(scope->code, float_bits(NAN), span);
    *present = both(scope, *present, code_binary(scope->code, OP_NE, bits, nan, span), span);
    const value sign = code_with(scope->code, OP_SHR, bits, 63, span);
    const value others = code_with(scope->code, OP_BITAND, sign, INT64_MAX, span);
    return code_binary(scope->code, OP_XOR, bits, others, span);
}

/* The place among all combinations of the ranges, but of key `left_out`, and whether it is in them. */
static value dense_id(struct scope *scope, const struct join_index *index, const value *keys, size_t left_out,
                      value *found, struct span span)
{
    value id = NO_VALUE;
    for (size_t k = 0; k < index->key_count; k++) {
        const struct join_key *key = &index->keys[k];
        if (k == left_out)
            continue;
        /* A key beyond its range would overflow, and must not be an address. */
        value clamped = code_binary(scope->code, OP_MAX, keys[k], code_int(scope->code, key->lo, span), span);
        clamped = code_binary(scope->code, OP_MIN, clamped, code_int(scope->code, key->hi, span), span);
        *found = both(scope, *found, code_binary(scope->code, OP_EQ, clamped, keys[k], span), span);
        const value place = code_binary(scope->code, OP_SUB, clamped, code_int(scope->code, key->lo, span), span);
        const value extent = code_int(scope->code, key->hi - key->lo + 1, span);
        id = id == NO_VALUE
                 ? place
                 : code_binary(scope->code, OP_ADD, code_binary(scope->code, OP_MUL, id, extent, span), place, span);
    }
    return id;
}

static value low_bits(struct scope *scope, value v, int bits, struct span span)
{
    return code_with(scope->code, OP_BITAND, v, (INT64_C(1) << bits) - 1, span);
}

static value shifted(struct scope *scope, value v, int bits, struct span span)
{
    return code_with(scope->code, OP_SHR, v, bits, span);
}

/* The rank of the combination, and whether its bit is set: otherwise the rank may be that of the next one, or `ids`. */
static value ranked_id(struct scope *scope, const struct join_index *index, const value *keys, value *found,
                       struct span span)
{
    const value place = dense_id(scope, index, keys, SIZE_MAX, found, span);
    const value word = match_table(scope, index->words, KIND_INT, shifted(scope, place, 5, span), "ranks", span);
    const value from =
        code_binary(scope->code, OP_SHR, low_bits(scope, word, 32, span), low_bits(scope, place, 5, span), span);
    const value one = code_exact_int(scope->code, 1, span);
    *found = both(scope, *found, code_binary(scope->code, OP_EQ, low_bits(scope, from, 1, span), one, span), span);
    const value following = code_binary(scope->code, OP_POPCOUNT, from, NO_VALUE, span);
    return code_binary(scope->code, OP_SUB, shifted(scope, word, 32, span), following, span);
}

/* The product of a part of a hash and a factor; fits 63 bits. */
static value product(struct scope *scope, value part, int64_t factor, struct span span)
{
    return code_binary(scope->code, OP_MUL, part, code_int(scope->code, factor, span), span);
}

static value mixed_hash(struct scope *scope, const struct join_index *index, const value *keys, struct span span)
{
    value hash = NO_VALUE;
    for (size_t k = 0; k < index->key_count; k++) {
        const value low = product(scope, low_bits(scope, keys[k], 32, span), index->keys[k].low_factor, span);
        const value high = low_bits(scope, shifted(scope, keys[k], 32, span), 32, span);
        const value part =
            code_binary(scope->code, OP_XOR, low, product(scope, high, index->keys[k].high_factor, span), span);
        hash = hash == NO_VALUE ? part : code_binary(scope->code, OP_XOR, hash, part, span);
    }
    const value high = low_bits(scope, shifted(scope, hash, JOIN_HASH_BITS, span), 32, span);
    const value low = low_bits(scope, hash, JOIN_HASH_BITS, span);
    return code_binary(scope->code, OP_XOR, product(scope, high, index->hash.mix[0], span),
                       product(scope, low, index->hash.mix[1], span), span);
}

/* The slot that the hash gives, and whether it holds these keys. */
static value sparse_id(struct scope *scope, const struct join_index *index, const value *keys, value *found,
                       struct span span)
{
    const struct join_hash *hash = &index->hash;
    const value mixed = mixed_hash(scope, index, keys, span);
    const value high = low_bits(scope, shifted(scope, mixed, JOIN_HASH_BITS, span), 32, span);
    const value bucket = shifted(scope, product(scope, high, hash->buckets, span), 32, span);
    const value multiplier = match_table(scope, hash->displacements, KIND_INT, bucket, "displacements", span);
    value y = code_binary(scope->code, OP_MUL, low_bits(scope, mixed, JOIN_HASH_BITS, span), multiplier, span);
    y = low_bits(scope, shifted(scope, y, 15, span), JOIN_HASH_BITS, span);
    const value slot = shifted(scope, product(scope, y, hash->partition_slots, span), JOIN_HASH_BITS, span);
    const value partition = shifted(scope, bucket, hash->partition_shift, span);
    const value id =
        code_binary(scope->code, OP_ADD, product(scope, partition, hash->partition_slots, span), slot, span);
    for (size_t k = 0; k < index->key_count; k++) {
        const value held = match_table(scope, hash->keys[k], KIND_INT, id, "keys", span);
        *found = both(scope, *found, code_binary(scope->code, OP_EQ, held, keys[k], span), span);
    }
    return id;
}

value match_last(struct scope *scope, struct column *table, int64_t most, value begin, value end, enum op below,
                 value limit, struct span span)
{
    struct code *code = scope->code;
    const value last = code_int(scope->code, table->rows - 1, span);
    value at = code_binary(scope->code, OP_SUB, begin, code_exact_int(code, 1, span), span);
    int64_t step = 1;
    while (step <= most)
        step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        const value next = code_binary(scope->code, OP_ADD, at, code_exact_int(code, step, span), span);
        const value inside = code_binary(scope->code, OP_LT, next, end, span);
        const value place = code_binary(scope->code, OP_MIN, next, last, span);
        const value other = match_table(scope, table, KIND_INT, place, "order", span);
        const value taken =
            code_binary(scope->code, OP_AND, inside, code_binary(scope->code, below, other, limit, span), span);
        at = code_op(code, OP_SELECT, taken, next, at, span);
    }
    return at;
}

/* The place of the first row with these keys, and whether there is one. */
static value searched_id(struct scope *scope, const struct join_index *index, const value *keys, value *found,
                         struct span span)
{
    const struct join_search *search = &index->search;
    struct code *code = scope->code;
    value one = code_exact_int(code, 1, span), key = keys[search->key];
    const value place = dense_id(scope, index, keys, search->key, found, span);
    const value begin = match_table(scope, search->starts, KIND_INT, place, "starts", span);
    const value end = match_table(scope, search->starts, KIND_INT, code_binary(scope->code, OP_ADD, place, one, span),
                                  "starts", span);
    const value before = match_last(scope, search->values, search->most, begin, end, OP_LT, key, span);
    const value id = code_binary(scope->code, OP_ADD, before, one, span);
    *found = both(scope, *found, code_binary(scope->code, OP_LT, id, end, span), span);
    const value inside =
        code_binary(scope->code, OP_MIN, id, code_int(scope->code, search->values->rows - 1, span), span);
    const value held = match_table(scope, search->values, KIND_INT, inside, "order", span);
    *found = both(scope, *found, code_binary(scope->code, OP_EQ, held, key, span), span);
    return id;
}

static value id_of(struct scope *scope, const struct join_index *index, const value *keys, value *found,
                   struct span span)
{
    switch (index->method) {
    case JOIN_DENSE:
        return dense_id(scope, index, keys, SIZE_MAX, found, span);
    case JOIN_RANKED:
        return ranked_id(scope, index, keys, found, span);
    case JOIN_SEARCHED:
        return searched_id(scope, index, keys, found, span);
    default:
        return sparse_id(scope, index, keys, found, span);
    }
}

value match_place(struct scope *scope, const struct join_index *index, const struct term *keys,
                  const struct logical_type *logical, value *found, struct span span)
{
    struct arena *arena = scope->binder->arena;
    value *integers = arena_array(arena, index->key_count, sizeof *integers);
    *found = NO_VALUE;
    for (size_t k = 0; k < index->key_count; k++) {
        integers[k] = match_key(scope, keys[k], &logical[k], span);
        if (keys[k].present != NO_VALUE)
            *found = both(scope, *found, keys[k].present, span);
    }
    return id_of(scope, index, integers, found, span);
}

value match_id(struct scope *scope, const struct join_index *index, const struct term *keys,
               const struct logical_type *logical, struct span span)
{
    value found;
    const value none = code_int(scope->code, index->ids, span);
    if (index->ids == 0)
        return none;
    if (index->key_count == 0)
        return code_exact_int(scope->code, 0, span);
    const value id = match_place(scope, index, keys, logical, &found, span);
    return code_op(scope->code, OP_SELECT, found, id, none, span);
}

value match_member(struct scope *scope, const struct join_index *index, const struct term *keys,
                   const struct logical_type *logical, struct span span)
{
    value found;
    if (index->members)
        return match_table(scope, index->members, KIND_BOOL, match_id(scope, index, keys, logical, span), "members",
                           span);
    (void)match_place(scope, index, keys, logical, &found, span);
    return found;
}

/* The only column of the source; false after an error, or if it is unknown. */
static bool only_column(struct scope *scope, const struct expr *expr, const struct evaluated *evaluated)
{
    if (evaluated->count == 1)
        return true;
    if (!evaluated->open)
        bind_error(scope->binder, expr->source->span, "`pick` chooses one: `(SOURCE | pick NAME)`",
                   "`in` takes a relation of one column, but this has %zu", evaluated->count);
    return false;
}

/* Binds the source for a server: its tasks come before the one that reads them. */
static void bind_in_front(struct scope *scope, const struct source_node *source, struct flow *flow)
{
    struct binder *binder = scope->binder;
    struct queue *queue = binder->queue;
    const size_t begin = scope->task->number, end = queue->count;
    bind_members(binder, source, flow);
    const size_t added = queue->count - end;
    struct task **tasks = arena_array(binder->arena, added + 1, sizeof(struct task *));
    memcpy(tasks, queue->tasks + end, added * sizeof *tasks);
    memmove(queue->tasks + begin + added, queue->tasks + begin, (end - begin) * sizeof *tasks);
    memcpy(queue->tasks + begin, tasks, added * sizeof *tasks);
    for (size_t k = begin; k < queue->count; k++)
        queue->tasks[k]->number = k;
}

/* Finds the source, or binds it as *flow and requests it, unless a server is to run it. NULL: it is unknown. */
static struct evaluated *find_source(struct scope *scope, const struct expr *expr, struct flow *flow)
{
    struct binder *binder = scope->binder;
    struct evaluated *evaluated = binder->facts->remote ? NULL : evaluated_find(binder, expr->source);
    if (evaluated && evaluated->relation)
        return evaluated;
    const bool wanted = true;
    if (binder->facts->remote)
        bind_in_front(scope, expr->source, flow);
    else
        bind_source(binder, expr->source, flow);
    if (bind_gave_up(binder))
        return NULL;
    if (binder->facts->remote)
        return evaluated_never(binder, flow);
    return evaluated_request(binder, expr->source, pipeline_of_source(binder->arena, expr->source), flow,
                             flow->count == 1 ? &wanted : NULL);
}

/* For a server, which looks in the source, bound as `flow`. */
static value member_for_server(struct scope *scope, const struct flow *flow, value key, struct span span)
{
    const struct input input = {.task = flow->task,
                                .type = flow->columns[0].type,
                                .name = flow->columns[0].name,
                                .whole = true,
                                .side = JOIN_MEMBER};
    const size_t number = task_add_input(scope->task, &input, scope->binder->arena);
    return code_lookup(scope->code, (int64_t)number, KIND_BOOL, key, span);
}

/* Whether a source can be bound where the expression stands. */
static bool may_have_source(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (!expr->source)
        return bind_error(binder, expr->args[1]->span,
                          expr->args[1]->kind == EXPR_TEXT
                              ? "only timestamps and dates are in a time zone; `timestamp(s)` is what a text writes"
                              : "as in `x in 1..9`, `x in [1, 2]`, `x in NAME`, `x in (load PATH | pick k)`",
                          "`in` is followed by a range, a list or a relation");
    const char *argument = expr->source->kind == SOURCE_NAME ? name_argument(&expr->source->name) : NULL;
    const char *text = argument ? env_argument(binder->env, argument, strlen(argument)) : NULL;
    if (text && !env_find(binder->env, argument) && !sources_find(&binder->facts->sources, &expr->source->name))
        return bind_error(binder, expr->source->span, "only timestamps and dates are in a time zone",
                          "no such file: `%s`", text);
    /* The stages of a definition are bound where it is used. */
    const bool called = binder->call && !binder->call->stage;
    const bool defined = binder->defining && !binder->defining->stages;
    if (expr->source->kind != SOURCE_NAME && (called || defined))
        return bind_error(binder, expr->source->span, "name the relation: `let NAME = PIPELINE`, then `x in NAME`",
                          "a function cannot contain a pipeline");
    if (binder->defining)
        return false;
    if (scope->task)
        return true;
    return bind_error(binder, expr->span,
                      "it can be used in stages that see each row: `select`, `map`, `derive`, `count`",
                      "`in` with a relation needs rows");
}

struct term bind_in_source(struct scope *scope, const struct expr *expr, struct term term)
{
    struct binder *binder = scope->binder;
    const struct span span = expr->span;
    struct flow flow;
    struct evaluated *evaluated = may_have_source(scope, expr) ? find_source(scope, expr, &flow) : NULL;
    if (!evaluated || !only_column(scope, expr, evaluated))
        return unknown_term;
    const struct slot *column = &evaluated->columns[0];
    if (!match_check(scope, term, text_of_span(binder->arena, expr->args[0]->span, 40), column,
                     text_of_span(binder->arena, expr->source->span, 40), span))
        return unknown_term;
    if (binder->facts->remote) {
        if (!term_is_known(term) || !column->known)
            return unknown_term;
        struct term result = term_of(member_for_server(scope, &flow, term.value, span));
        if (term.present != NO_VALUE)
            result.value = code_binary(scope->code, OP_AND, term.present, result.value, span);
        result.present = term.present;
        result.settled = true;
        return result;
    }
    if (!evaluated->relation) /* never run: anything that reads the row */
        return term_of(
            code_binary(scope->code, OP_EQ, code_row(scope->code, span), code_int(scope->code, 0, span), span));
    const struct join_keys keys = {
        .columns = evaluated->relation->columns, .count = 1, .members_only = true, .rows = evaluated->relation->rows};
    const enum status status = evaluated_make_index(binder, evaluated, &keys);
    if (status != STATUS_OK) {
        binder->cancelled = binder->cancelled || status == STATUS_CANCELLED;
        if (status == STATUS_FAILED)
            match_refuse_index(binder, evaluated->index, span);
        join_index_unref(evaluated->index);
        evaluated->index = NULL; /* the statement may be bound once more */
        return unknown_term;
    }
    struct term result = term_of(match_member(scope, evaluated->index, &term, &column->logical, span));
    result.present = term.present;
    result.settled = true; /* a missing key is no member */
    return result;
}
