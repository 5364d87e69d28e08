/* Scans on the host against naive definitions. */
#include "operator_rig.h"

static const enum aggregate_kind scans[] = {AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_BITAND, AGG_XOR, AGG_BITOR};
enum { SCANS = sizeof scans / sizeof *scans };

struct expected {
    int128 integer;
    double number;
    struct exact_sum sum;
    bool none; /* no value combined yet */
};

static struct expected begin_scan(const struct rig *rig)
{
    static const int identities[] = {[AGG_PRODUCT] = 1, [AGG_BITAND] = -1};
    const struct aggregate *aggregate = &rig->task.aggregates[0];
    struct expected state = {.none = !aggregate->has_initial};
    exact_sum_init(&state.sum);
    if (aggregate->kind != AGG_MIN && aggregate->kind != AGG_MAX && aggregate->kind <= AGG_BITAND)
        state.integer = identities[aggregate->kind];
    state.number = aggregate->kind == AGG_PRODUCT ? 1 : NAN;
    if (aggregate->has_initial) {
        state.integer = aggregate->initial.integer;
        state.number = aggregate->initial.number;
        exact_sum_add(&state.sum, state.number);
    }
    return state;
}

/* False on overflow. */
static bool advance_int(enum aggregate_kind kind, struct expected *state, int64_t v)
{
    bool none = state->none;
    state->none = false;
    switch (kind) {
    case AGG_SUM:
        state->integer += v;
        break;
    case AGG_PRODUCT:
        state->integer *= v;
        break;
    case AGG_MIN:
        state->integer = none || v < state->integer ? v : state->integer;
        break;
    case AGG_MAX:
        state->integer = none || v > state->integer ? v : state->integer;
        break;
    case AGG_BITAND:
        state->integer &= v;
        break;
    case AGG_XOR:
        state->integer ^= v;
        break;
    default:
        state->integer |= v;
    }
    return state->integer >= INT64_MIN && state->integer <= INT64_MAX;
}

static void advance_float(enum aggregate_kind kind, struct expected *state, double v)
{
    if (kind == AGG_SUM)
        exact_sum_add(&state->sum, v);
    else if (kind == AGG_PRODUCT)
        state->number *= v;
    else if (isnan(state->number) || (kind == AGG_MIN ? v < state->number : v > state->number))
        state->number = v;
}

static void assert_scanned(const struct rig *rig, int64_t row, const struct expected *state)
{
    struct scalar expected = scalar_int(state->integer);
    if (rig->results[0]->store == TYPE_F64) {
        bool certain;
        bool sum = rig->task.aggregates[0].kind == AGG_SUM;
        expected = scalar_float((sum ? exact_sum_result(&state->sum, &certain) : state->number) + 0.0);
    }
    assert_scalar(rig->results[0], row, &expected);
}

/* Recomputes every chain by definition. */
static void assert_scan(const struct rig *rig, int64_t rows)
{
    const struct column_operator *column_op = &rig->column_op;
    const struct column *column = rig->inputs[0];
    enum aggregate_kind kind = rig->task.aggregates[0].kind;
    bool number = rig->results[0]->store == TYPE_F64, fits = true;
    int64_t segment = column_op->segment > 0 ? column_op->segment : rows;
    for (int64_t first = 0; first < rows; first++) {
        if (first % segment >= column_op->stride)
            continue;
        struct expected state = begin_scan(rig);
        for (int64_t i = first; i < rows && i / segment == first / segment && fits; i += column_op->stride) {
            if (column_op->exclusive && !rig->flagged)
                assert_scanned(rig, i, &state);
            if (number)
                advance_float(kind, &state, column_get_float(column, i));
            else
                fits = advance_int(kind, &state, column_get_int(column, i));
            if (!column_op->exclusive && !rig->flagged && fits)
                assert_scanned(rig, i, &state);
        }
    }
    assert_int_equal(rig->flagged, !fits);
}

static void scan_of(enum aggregate_kind kind, enum type type, int64_t rows, enum content content, int variant,
                    int threads)
{
    static const struct {
        bool exclusive, initial;
        int64_t segment, stride;
    } variants[] = {{false, false, 0, 1},   {true, true, 0, 1},   {false, true, 1000, 1},  {true, true, 3, 1},
                    {false, false, 0, 400}, {true, true, 600, 3}, {false, false, 40000, 1}};
    bool number = type_table[type].kind == KIND_FLOAT;
    struct rig *rig = rig_new((uint64_t)rows + (uint64_t)variant);
    rig->column_op.kind = OPERATOR_SCAN;
    rig->column_op.key_count = 1;
    rig->column_op.exclusive = variants[variant].exclusive;
    rig->column_op.segment = variants[variant].segment;
    rig->column_op.stride = variants[variant].stride;
    add_column(rig, type, rows, content);
    rig->task.aggregates[0] = (struct aggregate){.kind = kind,
                                                 .value = input_of(rig, 0),
                                                 .has_initial = variants[variant].initial,
                                                 .initial = number ? scalar_float(2.5) : scalar_int(5)};
    rig->task.aggregate_count = 1;
    add_output(rig, 0, number ? TYPE_F64 : TYPE_I64);
    run_into(rig, rows, rows, threads);
    assert_scan(rig, rows);
    rig_free(rig);
}

enum { VARIANTS = 7 };

static void scans_integers(void **unused)
{
    (void)unused;
    static const enum type types[] = {TYPE_BOOL, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_U8, TYPE_U16, TYPE_U32};
    for (int k = 0; k < LENGTHS; k++) {
        for (int i = 0; i < SCANS; i++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                enum type type = types[(k + i + variant) % 7];
                scan_of(scans[i], type, lengths[k], scans[i] == AGG_PRODUCT ? EQUAL : ANYTHING, variant, 1);
                scan_of(scans[i], type, lengths[k], scans[i] == AGG_PRODUCT ? EQUAL : FEW, variant, THREADS);
                if (scans[i] != AGG_SUM && scans[i] != AGG_PRODUCT)
                    scan_of(scans[i], TYPE_I64, lengths[k], EXTREMES, variant, THREADS);
            }
        }
    }
    scan_of(AGG_SUM, TYPE_I32, 300000, ANYTHING, 0, THREADS);
    scan_of(AGG_MAX, TYPE_I64, 300000, ANYTHING, 6, THREADS);
    for (int beside = -1; beside <= 1; beside++) { /* results written past the caches */
        scan_of(AGG_SUM, TYPE_I32, (1 << 19) + beside, ANYTHING, 0, THREADS);
        scan_of(AGG_MIN, TYPE_I8, (1 << 19) + beside, ANYTHING, 1, THREADS);
        scan_of(AGG_XOR, TYPE_I16, (1 << 19) + 17 * 256 + beside, ANYTHING, 0, THREADS);
    }
}

/* Sums and products overflowing 64 bits. */
static void scans_that_overflow(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < VARIANTS; variant++) {
        scan_of(AGG_SUM, TYPE_I64, 4096, ANYTHING, variant, 1);
        scan_of(AGG_SUM, TYPE_I64, 1, ANYTHING, variant, 1);
        scan_of(AGG_PRODUCT, TYPE_I32, 2, ANYTHING, variant, 1);
        scan_of(AGG_PRODUCT, TYPE_I32, 777, ANYTHING, 0, 1);
    }
}

static void scans_floats(void **unused)
{
    (void)unused;
    static const enum aggregate_kind kinds[] = {AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX};
    for (int k = 0; k < LENGTHS; k++) {
        for (int i = 0; i < 4; i++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                enum type type = (k + i + variant) % 2 ? TYPE_F32 : TYPE_F64;
                scan_of(kinds[i], type, lengths[k], ANYTHING, variant, THREADS);
                scan_of(kinds[i], type, lengths[k], FEW, variant, 1);
                if (kinds[i] == AGG_MIN || kinds[i] == AGG_MAX)
                    scan_of(kinds[i], type, lengths[k], EXTREMES, variant, THREADS);
            }
        }
    }
    scan_of(AGG_SUM, TYPE_F64, 300000, ANYTHING, 0, THREADS);
}

/* (a, b) -> a + b of integers, which must not overflow. */
static void scans_by_a_function(void **unused)
{
    (void)unused;
    for (int overflows = 0; overflows < 2; overflows++) {
        struct rig *rig = rig_new(3);
        struct task body = {0};
        code_init(&body.code, rig->arena);
        value a = code_input(&body.code, 0, KIND_INT, (struct span){0});
        value b = code_input(&body.code, 1, KIND_INT, (struct span){0});
        struct input body_inputs[2] = {{.type = TYPE_I64}, {.type = TYPE_I64}};
        struct output sum = {
            .value = code_op(&body.code, OP_ADD, a, b, NO_VALUE, (struct span){0}), .type = TYPE_I64, .needed = true};
        body.inputs = body_inputs;
        body.input_count = 2;
        body.outputs = &sum;
        body.output_count = 1;
        struct user_reduce reducer = {.kind = KIND_INT, .body = &body};
        rig->column_op.kind = OPERATOR_SCAN;
        rig->column_op.key_count = 1;
        add_column(rig, overflows ? TYPE_I64 : TYPE_I16, 500, overflows ? EXTREMES : ANYTHING);
        rig->task.aggregates[0] = (struct aggregate){.kind = AGG_FOLD, .value = input_of(rig, 0), .reducer = &reducer};
        rig->task.aggregate_count = 1;
        add_output(rig, 0, TYPE_I64);
        run_into(rig, 500, 500, THREADS);
        assert_int_equal(rig->flagged, overflows);
        int64_t expected = 0;
        for (int64_t i = 0; i < 500 && !overflows; i++) {
            expected += column_get_int(rig->inputs[0], i);
            assert_true(column_get_int(rig->results[0], i) == expected);
        }
        rig_free(rig);
    }
}

/* A compensated sum is correct or flagged uncertain, however far apart its terms. */
static void cascades(void **unused)
{
    (void)unused;
    struct rig *rig = rig_new(7);
    int certain_ones = 0;
    for (int round = 0; round < 20000; round++) {
        struct compensated_sum parts[2] = {{.count = 0}, {.count = 0}};
        struct exact_sum exact;
        exact_sum_init(&exact);
        int terms = 1 + (int)(next(rig) % 12), spread = 1 + (int)(next(rig) % 300);
        for (int i = 0; i < terms; i++) {
            double term = ldexp((double)(int64_t)(next(rig) % 3) - 1, -(int)(next(rig) % (uint64_t)spread));
            compensated_sum_add(&parts[next(rig) % 2], term);
            exact_sum_add(&exact, term);
        }
        compensated_sum_merge(&parts[0], &parts[1]);
        bool uncertain = false, certain;
        double result = compensated_sum_result(&parts[0], &uncertain),
               expected = exact_sum_result(&exact, &certain) + 0.0;
        assert_true(uncertain || result == expected);
        certain_ones += !uncertain;
    }
    assert_true(certain_ones > 15000);
    /* Just above a rounding midpoint, by too little for three doubles to hold. */
    struct compensated_sum sum = {0};
    bool uncertain = false;
    const double hairy[] = {1, 0x1p-53, 0x1p-110, 0x1p-170, -0x1p-110};
    for (size_t i = 0; i < sizeof hairy / sizeof *hairy; i++)
        compensated_sum_add(&sum, hairy[i]);
    compensated_sum_result(&sum, &uncertain);
    assert_true(uncertain);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_integers), cmocka_unit_test(scans_that_overflow),
        cmocka_unit_test(scans_floats),   cmocka_unit_test(scans_by_a_function),
        cmocka_unit_test(cascades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
