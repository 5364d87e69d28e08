#include "cl/operators/sort_text.h"

#include "cl/codegen/template.h"

#include <string.h>

extern const char kernel_radix_tiles[], kernel_radix_onesweep[], kernel_gather[];

static const char *const role_names[SORT_ROLE_COUNT] = {
    "count_first", "count", "offsets", "move_only", "move_first", "move_between", "move_last",
};

static const char *const templates[] = {
    [SORT_TILES] = kernel_radix_tiles,
    [SORT_ONESWEEP] = kernel_radix_onesweep,
};

static const char *unsigned_of(size_t size)
{
    return size == 1 ? "uchar" : size == 2 ? "ushort" : size == 4 ? "uint" : "ulong";
}

/* Parameters of all counting and moving kernels; unused ones are NULL. */
static const char *parameters(const struct sort_word *word, struct arena *arena)
{
    struct strbuf text = {0};
    strbuf_puts(&text, "    __global const $code *codes, __global const $payload *payloads,\n"
                       "    __global $code *newcodes, __global $payload *newpayloads,\n"
                       "    __global const $position *order, __constant ulong *keys,\n");
    for (size_t k = 0; k < word->key_count; k++)
        strbuf_printf(&text, "    __global const %s *key%zu, ulong keyat%zu,\n",
                      key_encodings[word->keys[k].column->store].cl_type, k, k);
    for (size_t k = 0; k < word->result_count; k++) {
        const struct sort_result *result = &word->results[k];
        const char *type = unsigned_of(type_table[result->to->store].size);
        if (!result->key)
            strbuf_printf(&text, "    __global const %s *from%zu, ulong fromat%zu,\n", type, k, k);
        strbuf_printf(&text, "    __global %s *to%zu, ulong toat%zu,\n", type, k, k);
    }
    strbuf_puts(&text, "    ulong rows, ulong chunk, uint shift, uint mask, __global $position *counts,\n"
                       "    uint pass, uint tiles, __global uint *next, __global $position *states");
    return text_in_arena(arena, &text);
}

static void add_code_of_key(struct strbuf *text, const struct sort_word *word, size_t k)
{
    const struct key_encoding *encoding = &key_encodings[word->keys[k].column->store];
    const char *type = encoding->wide ? "ulong" : "uint";
    const size_t at = k * SORT_KEY_CONSTANTS;
    strbuf_printf(text, "{\n    const %s key = %s(key%zu[keyat%zu + row]);\n    code |= ($code)(", type,
                  encoding->function, k, k);
    if (encoding->is_float)
        strbuf_printf(text, "key == ~(%s)0 ? (%s)keys[%zu] : ", type, type, at + SORT_KEY_NAN);
    strbuf_printf(text, "(key ^ (%s)keys[%zu]) - (%s)keys[%zu]) << (uint)keys[%zu];\n}\n", type, at + SORT_KEY_FLIP,
                  type, at + SORT_KEY_BASE, at + SORT_KEY_SHIFT);
}

static const char row_of_ordered[] = "const $position row = order[i];\n";
static const char row_of_itself[] = "const $position row = i;\n";

/* Computes `code` of row i. */
static const char *first_code(const struct sort_word *word, struct arena *arena)
{
    struct strbuf text = {0};
    strbuf_puts(&text, "{\n");
    strbuf_puts(&text, word->ordered ? row_of_ordered : row_of_itself);
    for (size_t k = 0; k < word->key_count; k++)
        add_code_of_key(&text, word, k);
    strbuf_puts(&text, "}\n");
    return text_in_arena(arena, &text);
}

/* Computes `payload` of row i. */
static const char *first_payload(const struct sort_word *word, struct arena *arena)
{
    struct strbuf text = {0};
    if (word->payload == SORT_PAYLOAD_ROW)
        return word->ordered ? "const $payload payload = order[i];\n" : "const $payload payload = i;\n";
    strbuf_puts(&text, "const $payload payload = 0");
    for (size_t k = 0; k < word->result_count; k++) {
        if (!word->results[k].key)
            strbuf_printf(&text, " | ($payload)from%zu[fromat%zu + i] << %d", k, k, word->results[k].shift);
    }
    strbuf_puts(&text, ";\n");
    return text_in_arena(arena, &text);
}

static const char *last_code(const struct sort_word *word, struct arena *arena)
{
    struct strbuf text = {0};
    for (size_t k = 0; k < word->result_count; k++) {
        const struct sort_result *result = &word->results[k];
        if (!result->key)
            continue;
        const struct key_encoding *encoding = &key_encodings[result->from->store];
        const char *type = encoding->wide ? "ulong" : "uint";
        const size_t at = (size_t)(result->key - word->keys) * SORT_KEY_CONSTANTS;
        strbuf_printf(&text,
                      "to%zu[toat%zu + p] = (%s)decode_%s((((%s)(code >> (uint)keys[%zu]) & (%s)keys[%zu]) + "
                      "(%s)keys[%zu]) ^ (%s)keys[%zu]);\n",
                      k, k, unsigned_of(type_table[result->to->store].size), encoding->function + strlen("encode_"),
                      type, at + SORT_KEY_SHIFT, type, at + SORT_KEY_MASK, type, at + SORT_KEY_BASE, type,
                      at + SORT_KEY_FLIP);
    }
    return text_in_arena(arena, &text);
}

static const char *last_payload(const struct sort_word *word, struct arena *arena)
{
    struct strbuf text = {0};
    if (word->payload == SORT_PAYLOAD_ROW)
        return "newpayloads[p] = payload;\n";
    for (size_t k = 0; k < word->result_count; k++) {
        if (!word->results[k].key)
            strbuf_printf(&text, "to%zu[toat%zu + p] = (%s)(payload >> %d);\n", k, k,
                          unsigned_of(type_table[word->results[k].to->store].size), word->results[k].shift);
    }
    return text_in_arena(arena, &text);
}

static bool is_first(enum sort_role role)
{
    return role == SORT_COUNT_FIRST || role == SORT_MOVE_ONLY || role == SORT_MOVE_FIRST;
}

static bool is_last(enum sort_role role)
{
    return role == SORT_MOVE_ONLY || role == SORT_MOVE_LAST;
}

/* Appends one kernel of the template; with SORT_ROLE_COUNT, its helper functions. */
static void add_section(struct strbuf *out, const struct sort_word *word, const struct sort_layout *layout,
                        enum sort_role role, struct arena *arena)
{
    bool payload = word->payload != SORT_NO_PAYLOAD, first = is_first(role), last = is_last(role),
         wide = layout->wide_positions;
    const size_t wider = payload && word->payload_size > word->code_size ? word->payload_size : word->code_size;
    const struct hole holes[] = {
        {"helpers", role == SORT_ROLE_COUNT ? "1" : ""},
        {"count", role <= SORT_COUNT ? "1" : ""},
        {"offsets", role == SORT_OFFSETS ? "1" : ""},
        {"move", role > SORT_OFFSETS && role < SORT_ROLE_COUNT ? "1" : ""},
        {"name", role < SORT_ROLE_COUNT ? role_names[role] : ""},
        {"parameters", parameters(word, arena)},
        {"readcode", first ? first_code(word, arena) : "code = codes[i];\n"},
        {"writecode", last ? last_code(word, arena) : "newcodes[p] = code;\n"},
        {"haspayload", payload ? "1" : ""},
        {"readpayload", !payload ? ""
                        : first  ? first_payload(word, arena)
                                 : "const $payload payload = payloads[i];\n"},
        {"writepayload", !payload ? ""
                         : last   ? last_payload(word, arena)
                                  : "newpayloads[p] = payload;\n"},
        {"code", unsigned_of(word->code_size)},
        {"payload", unsigned_of(word->payload_size)},
        {"wide", unsigned_of(wider)},
        {"position", wide ? "ulong" : "uint"},
        {"add", wide ? "atom_add" : "atomic_add"},
        {"group", arena_printf(arena, "%zu", layout->group)},
        {"items", arena_printf(arena, "%zu", layout->items)},
        {"passes", arena_printf(arena, "%zu", word->passes)},
        /* The upper two bits of a state are the kind of count in the others. */
        {"share", wide ? "(1ul << 62)" : "(1u << 30)"},
        {"sum", wide ? "(1ul << 63)" : "(1u << 31)"},
        {NULL, NULL},
    };
    template_expand(out, templates[layout->method], holes);
}

/* Whether a sort of this many passes has this kernel. */
static bool has_role(enum sort_role role, size_t passes, enum sort_method method)
{
    switch (role) {
    case SORT_COUNT_FIRST:
    case SORT_OFFSETS:
        return true;
    case SORT_COUNT:
        return passes > 1 && method != SORT_ONESWEEP;
    case SORT_MOVE_ONLY:
        return passes == 1;
    case SORT_MOVE_FIRST:
    case SORT_MOVE_LAST:
        return passes > 1;
    case SORT_MOVE:
        return passes > 2;
    case SORT_ROLE_COUNT:
        break;
    }
    return false;
}

void sort_add_text(struct strbuf *out, const struct sort_word *word, const struct sort_layout *layout,
                   const char **names, struct arena *arena)
{
    if (layout->wide_positions && layout->method == SORT_ONESWEEP)
        strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
    key_encoding_functions(out, true);
    add_section(out, word, layout, SORT_ROLE_COUNT, arena);
    for (enum sort_role role = 0; role < SORT_ROLE_COUNT; role++) {
        names[role] = has_role(role, word->passes, layout->method) ? role_names[role] : NULL;
        if (names[role])
            add_section(out, word, layout, role, arena);
    }
}

void sort_add_gather(struct strbuf *out, size_t size, bool wide_positions, const struct kernel_config *config,
                     struct arena *arena)
{
    const struct hole holes[] = {
        {"store", unsigned_of(size)},
        {"position", wide_positions ? "ulong" : "uint"},
        {"group", arena_printf(arena, "%zu", config->group)},
        {"unroll", arena_printf(arena, "%zu", config->unroll)},
        {NULL, NULL},
    };
    template_expand(out, kernel_gather, holes);
}
