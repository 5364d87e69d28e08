#include "cl/operators/scan_text.h"

#include "cl/codegen/emit.h"
#include "cl/codegen/literal.h"
#include "cl/codegen/template.h"

extern const char kernel_scan_state[], kernel_float_sum[], kernel_scan_tiles[], kernel_scan_lookback[];

/* A product that does not fit is 0 in x and not 0 in y; multiplied by 0 it is 0 again. */
#define PRODUCT_JOIN                                                                                                   \
    "    const long r = as_long(as_ulong(a.x) * as_ulong(b.x));\n"                                                     \
    "    const long bad = a.y | b.y | (mul_hi(a.x, b.x) != (r >> 63) ? 1 : 0);\n"                                      \
    "    const int zero = (a.x == 0 && a.y == 0) || (b.x == 0 && b.y == 0);\n"                                         \
    "    return zero ? (long2)(0, 0) : (long2)(r, bad);\n"

/* Parts of scan_state.cl for each function. */
struct combiner {
    size_t bytes; /* of a state */
    const char *state;
    const char *none;
    const char *lift; /* of a long or double x */
    const char *join;
    const char *finish;
    const char *start; /* from `integer` or `number` */
};

/* States that are more than a value. */
static const struct combiner checked_sum = {8,
                                            "long",
                                            "0",
                                            "x",
                                            "    const long r = as_long(as_ulong(a) + as_ulong(b));\n"
                                            "    *err |= ((a ^ r) & (b ^ r)) < 0;\n"
                                            "    return r;\n",
                                            "    return s;\n",
                                            "integer"},
                             product = {16,
                                        "long2",
                                        "(long2)(1, 0)",
                                        "(long2)(x, 0)",
                                        PRODUCT_JOIN,
                                        "    *err |= s.y != 0;\n    return s.x;\n",
                                        "(long2)(integer, 0)"},
                             /* A value, and whether it is set. */
    fold = {16,
            "long2",
            "(long2)(0, 0)",
            "(long2)(x, 1)",
            "    if (a.y == 0 || b.y == 0)\n"
            "        return a.y == 0 ? b : a;\n"
            "    return (long2)($call, 1);\n",
            "    return s.x;\n",
            "(long2)(integer, 1)"},
                             float_sum = {40,
                                          "",
                                          "(state){0.0, 0.0, 0.0, 0.0, 0.0}",
                                          "fabs(x) <= DBL_MAX ? (state){x, 0.0, 0.0, 0.0, 0.0} "
                                          ": (state){0.0, 0.0, 0.0, 0.0, x}",
                                          "",
                                          "",
                                          "lift_value(number)"};

/* False: there is none. */
static bool combiner_of(enum aggregate_kind kind, bool number, bool checked, struct combiner *form, struct arena *arena)
{
    const struct aggregate_info *info = &aggregate_table[kind];
    const char *joined = number ? info->numbers : info->integers;
    if (kind == AGG_SUM && (number || checked)) {
        *form = number ? float_sum : checked_sum;
        return true;
    }
    if ((kind == AGG_PRODUCT || kind == AGG_FOLD) && !number) {
        *form = kind == AGG_FOLD ? fold : product;
        return true;
    }
    if (!joined || kind == AGG_PRODUCT)
        return false;
    *form = (struct combiner){.bytes = 8,
                              .state = number ? "double" : "long",
                              .none = aggregate_none_text(kind, number ? LANE_F64 : LANE_I64, arena),
                              .lift = "x",
                              .join = arena_printf(arena, "    return %s;\n", joined),
                              .finish = number ? "    return s + 0.0;\n" : "    return s;\n",
                              .start = number ? "number" : "integer"};
    return true;
}

static const char *parameters_of(const struct scan_text *text, struct arena *arena)
{
    struct strbuf out = {0};
    strbuf_puts(&out,
                text->is_float ? "    double number, int given, double terms,\n" : "    long integer, int given,\n");
    if (text->has_function)
        literal_parameters(&text->function.emitter, &out);
    return text_in_arena(arena, &out);
}

static const char *pass_of(const struct scan_text *text, struct arena *arena)
{
    struct strbuf out = {0};
    strbuf_puts(&out, text->is_float ? "number, given, terms, " : "integer, given, ");
    for (size_t k = 0; k < text->literals; k++)
        strbuf_printf(&out, "c%zu, ", k);
    return text_in_arena(arena, &out);
}

static void name_kernels(struct scan_text *text, bool columns)
{
    if (text->lookback) {
        text->names[SCAN_LOOKBACK] = "scan_lookback";
        return;
    }
    if (!columns) {
        text->names[SCAN_TOTALS] = "scan_totals";
        text->names[SCAN_CARRIES] = "scan_carries";
        text->names[SCAN_ROWS] = "scan_rows";
        return;
    }
    text->names[SCAN_COLUMN_TOTALS] = "scan_column_totals";
    text->names[SCAN_COLUMN_CARRIES] = "scan_column_carries";
    text->names[SCAN_COLUMN_ROWS] = "scan_column_rows";
}

/* Rows of a work-item in a tile: odd, and within the 32 KiB of local memory that every device has. */
static size_t items_of(size_t bytes, bool segmented, size_t element)
{
    enum { MOST_ITEMS = 15, LOCAL_BYTES = 124 /* per work-item, of 256 */ };
    const size_t state = !segmented ? bytes : bytes == 16 ? 32 : bytes + 8;
    const size_t items = (LOCAL_BYTES - 2 * state) / element;
    return items >= MOST_ITEMS ? MOST_ITEMS : items % 2 == 1 ? items : items - 1;
}

/* Work-items of a group that looks back, and rows of each (scan_lookback.cl). */
enum { LOOKBACK_GROUP = 128, LOOKBACK_ITEMS = 31 };

bool scan_text_make(struct scan_text *text, const struct operator_job *job, const struct accelerator *accelerator,
                    bool checked)
{
    const struct kernel_config *config = accelerator->config;
    const struct column_operator *column_op = job->task->column_op;
    const struct aggregate *aggregate = &job->task->aggregates[0];
    struct arena *arena = job->diags->arena;
    enum type from = job->inputs[column_op->keys[0]]->store, to = job->results[0]->store;
    const bool number = type_table[from].kind == KIND_FLOAT, folds = aggregate->kind == AGG_FOLD;
    const bool compensated = number && aggregate->kind == AGG_SUM;
    struct combiner form;
    *text = (struct scan_text){.is_float = number, .has_function = folds};
    if (!combiner_of(aggregate->kind, number, checked, &form, arena) ||
        (folds && !function_init(&text->function, aggregate->reducer, 0, 0, arena)))
        return false;
    const bool segmented = column_op->segment > 0;
    const size_t staged = type_table[from].size > 4 || type_table[to].size > 4 ? 8 : 4;
    text->literals = text->has_function ? text->function.emitter.literal_count : 0;
    text->lookback = accelerator->device.warps && form.bytes == 8 && !segmented && column_op->stride <= 1;
    text->group = text->lookback ? LOOKBACK_GROUP : config->group;
    text->items = text->lookback ? LOOKBACK_ITEMS : items_of(form.bytes, segmented, staged);
    name_kernels(text, column_op->stride > 1);

    const struct hole holes[] = {
        {"V", type_table[from].cl},
        {"R", type_table[to].cl},
        {"X", number ? "double" : "long"},
        {"stage", staged > 4 ? "ulong" : "uint"},
        {"group", arena_printf(arena, "%zu", text->group)},
        {"items", arena_printf(arena, "%zu", text->items)},
        {"parameters", parameters_of(text, arena)},
        {"pass", pass_of(text, arena)},
        {"compensated", compensated ? "1" : ""},
        {"state", form.state},
        {"none", form.none},
        {"lift", form.lift},
        {"join", form.join},
        {"finish", form.finish},
        {"call", text->has_function ? function_call(&text->function, "a.x", "b.x", "err") : ""},
        {"start", arena_printf(arena, "(given ? %s : none())", form.start)},
        {"exclusive", column_op->exclusive ? "1" : "0"},
        {"segmented", segmented ? "1" : "0"},
        {"commutes", !folds && !segmented ? "1" : "0"},
        {NULL, NULL},
    };
    struct strbuf out = {0};
    strbuf_puts(&out, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (text->is_float || (text->has_function && text->function.emitter.floats))
        strbuf_puts(&out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    if (text->has_function)
        function_emit(&text->function, &out);
    if (compensated)
        template_expand(&out, kernel_float_sum, holes);
    template_expand(&out, kernel_scan_state, holes);
    template_expand(&out, text->lookback ? kernel_scan_lookback : kernel_scan_tiles, holes);
    text->text = text_in_arena(arena, &out);
    return true;
}
