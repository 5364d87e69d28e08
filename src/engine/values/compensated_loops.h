/* The inner loops of compensated_scan.c, included there once for each level of a processor, with these defined: LEVEL,
 * the level's name; WITH_LEVEL, the attribute of its functions; LANES, the doubles of a vector, at most SCAN_RUNS. */

#define LOOP_NAME(name, level) name##_##level
#define LOOP_OF(name, level)   LOOP_NAME(name, level)
#define LOOP(name)             LOOP_OF(name, LEVEL)
#define INLINED                WITH_LEVEL static inline __attribute__((always_inline))
#define doubles                LOOP(doubles)
#define integers               LOOP(integers)

typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t integers __attribute__((vector_size(LANES * sizeof(int64_t))));

struct LOOP(state) {
    doubles high, low, rest, weight;
};

INLINED doubles LOOP(load)(const double *from)
{
    doubles values;
    memcpy(&values, from, sizeof values);
    return values;
}

INLINED void LOOP(store)(double *to, doubles values)
{
    memcpy(to, &values, sizeof values);
}

INLINED struct LOOP(state) LOOP(state_of)(const struct compensated_lanes *lanes, int first)
{
    return (struct LOOP(state)){LOOP(load)(lanes->high + first), LOOP(load)(lanes->low + first),
                                LOOP(load)(lanes->rest + first), LOOP(load)(lanes->weight + first)};
}

INLINED void LOOP(keep_state)(struct compensated_lanes *lanes, int first, const struct LOOP(state) * state)
{
    LOOP(store)(lanes->high + first, state->high);
    LOOP(store)(lanes->low + first, state->low);
    LOOP(store)(lanes->rest + first, state->rest);
    LOOP(store)(lanes->weight + first, state->weight);
}

INLINED doubles LOOP(magnitude)(doubles values)
{
    return (doubles)((integers)values & magnitude_mask);
}

/* Sets *a to the rounded sums and returns the rounding errors, as compensated_sum_two_sum. */
INLINED doubles LOOP(two_sum)(doubles *a, doubles b)
{
    const doubles sum = *a + b, part = sum - *a, error = (*a - (sum - part)) + (b - part);
    *a = sum;
    return error;
}

/* Returns what the sum of two doubles loses. */
INLINED doubles LOOP(advance)(struct LOOP(state) * state, doubles values)
{
    return LOOP(two_sum)(&state->low, LOOP(two_sum)(&state->high, values));
}

INLINED void LOOP(add_lost)(struct LOOP(state) * state, doubles lost)
{
    state->rest += lost;
    state->weight += LOOP(magnitude)(lost);
}

/* compensated_sum_round of finite sums. Sets *uncertain to ones where a result may be wrong. */
INLINED doubles LOOP(rounded)(const struct LOOP(state) * state, double scale, integers *uncertain)
{
    doubles result = state->high;
    doubles small = LOOP(two_sum)(&result, state->low);
    const doubles smaller = LOOP(magnitude)(LOOP(two_sum)(&small, state->rest));
    const doubles offset = LOOP(two_sum)(&result, small), bound = smaller + state->weight * scale;
    doubles most = offset + bound, least = offset - bound;
    most += LOOP(magnitude)(most) * 0x1p-50 + DBL_TRUE_MIN;
    least -= LOOP(magnitude)(least) * 0x1p-50 + DBL_TRUE_MIN;
    const integers swallowed = (result + most == result) & (result + least == result);
    const integers exact = (smaller + state->weight == 0) & (LOOP(magnitude)(result) <= DBL_MAX);
    *uncertain |= ~(swallowed | exact);
    return result;
}

#if defined(__clang__)
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLED(a, b, ...) __builtin_shuffle(a, b, (integers){__VA_ARGS__})
#endif
#if LANES == 8
#define EACH_LANE(F, step)                                                                                             \
    F(0, step), F(1, step), F(2, step), F(3, step), F(4, step), F(5, step), F(6, step), F(7, step)
#elif LANES == 4
#define EACH_LANE(F, step) F(0, step), F(1, step), F(2, step), F(3, step)
#else
#define EACH_LANE(F, step) F(0, step), F(1, step)
#endif
/* The source of each lane of a shuffle: lanes are numbered through both vectors, one after the other. */
#define LANE_BELOW(lane, step) ((lane) + (lane) / (step) % 2 * (LANES - (step)))
#define LANE_ABOVE(lane, step) (LANE_BELOW(lane, step) + (step))

/* Exchanges the upper part of each 2 * `step` lanes of a vector with the lower part of the vector `step` behind it. */
#define EXCHANGE(v, step)                                                                                              \
    for (int i = 0; i < LANES; i++) {                                                                                  \
        if ((i & (step)) == 0) {                                                                                       \
            const doubles a = v[i], b = v[i + (step)];                                                                 \
            v[i] = SHUFFLED(a, b, EACH_LANE(LANE_BELOW, step));                                                        \
            v[i + (step)] = SHUFFLED(a, b, EACH_LANE(LANE_ABOVE, step));                                               \
        }                                                                                                              \
    }

INLINED void LOOP(transpose)(doubles *v)
{
    EXCHANGE(v, 1)
#if LANES >= 4
    EXCHANGE(v, 2)
#endif
#if LANES >= 8
    EXCHANGE(v, 4)
#endif
}

/* Lanes from `first` on; true if nothing was lost, or if all is certain although. */
INLINED bool LOOP(scan_lanes)(struct compensated_lanes *lanes, int first, const double *values, int64_t apart,
                              int64_t ahead, int rows, bool exclusive, bool lossy, double scale, double *sums)
{
    struct LOOP(state) state = LOOP(state_of)(lanes, first);
    integers failed = {0};
    for (int row = 0; row < rows; row += LANES) {
        doubles v[LANES];
        for (int k = 0; k < LANES; k++) {
            v[k] = LOOP(load)(values + (first + k) * apart + row);
            if (row % SCAN_RUNS == 0)
                __builtin_prefetch(values + (first + k) * apart + row + ahead, 0, SECOND_LEVEL);
        }
        LOOP(transpose)(v);
        for (int k = 0; k < LANES; k++) {
            const struct LOOP(state) before = state;
            const doubles lost = LOOP(advance)(&state, v[k]);
            if (lossy)
                LOOP(add_lost)(&state, lost);
            else
                failed |= (integers)lost;
            const struct LOOP(state) *shown = exclusive ? &before : &state;
            v[k] = lossy ? LOOP(rounded)(shown, scale, &failed) : shown->high + shown->low;
        }
        LOOP(transpose)(v);
        for (int k = 0; k < LANES; k++)
            LOOP(store)(sums + (first + k) * SCAN_STEP + row, v[k]);
    }
    LOOP(keep_state)(lanes, first, &state);
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane++)
        any |= failed[lane];
    return any == 0;
}

INLINED bool LOOP(scan_all)(struct compensated_lanes *lanes, const double *values, int64_t apart, int64_t ahead,
                            int rows, bool exclusive, bool lossy, double scale, double *sums)
{
    bool certain = true;
    for (int first = 0; first < SCAN_RUNS; first += LANES)
        certain &= LOOP(scan_lanes)(lanes, first, values, apart, ahead, rows, exclusive, lossy, scale, sums);
    return certain;
}

WITH_LEVEL static bool LOOP(scan)(struct compensated_lanes *lanes, const double *values, int64_t apart, int64_t ahead,
                                  int rows, bool exclusive, bool lossy, double scale, double *sums)
{
    if (lossy)
        return exclusive ? LOOP(scan_all)(lanes, values, apart, ahead, rows, true, true, scale, sums)
                         : LOOP(scan_all)(lanes, values, apart, ahead, rows, false, true, scale, sums);
    return exclusive ? LOOP(scan_all)(lanes, values, apart, ahead, rows, true, false, scale, sums)
                     : LOOP(scan_all)(lanes, values, apart, ahead, rows, false, false, scale, sums);
}

WITH_LEVEL static bool LOOP(scan_beside)(struct compensated_lanes *lanes, const double *values, int64_t apart, int rows,
                                         bool exclusive, bool lossy, double scale, double *sums)
{
    integers failed = {0};
    for (int first = 0; first < SCAN_RUNS; first += LANES) {
        struct LOOP(state) state = LOOP(state_of)(lanes, first);
        for (int row = 0; row < rows; row++) {
            const struct LOOP(state) before = state;
            const doubles lost = LOOP(advance)(&state, LOOP(load)(values + row * apart + first));
            LOOP(add_lost)(&state, lost);
            const struct LOOP(state) *shown = exclusive ? &before : &state;
            failed |= lossy ? failed : (integers)lost;
            LOOP(store)
            (sums + row * apart + first, lossy ? LOOP(rounded)(shown, scale, &failed) : shown->high + shown->low);
        }
        LOOP(keep_state)(lanes, first, &state);
    }
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane++)
        any |= failed[lane];
    return any == 0;
}

WITH_LEVEL static void LOOP(add)(struct compensated_lanes *lanes, const double *values, int64_t count)
{
    struct LOOP(state) states[SCAN_RUNS / LANES];
    for (int k = 0; k < SCAN_RUNS / LANES; k++)
        states[k] = LOOP(state_of)(lanes, k * LANES);
    for (int64_t i = 0; i < count; i += SCAN_RUNS) {
        __builtin_prefetch(values + i + PREFETCHED, 0, SECOND_LEVEL);
        for (int k = 0; k < SCAN_RUNS / LANES; k++) {
            const doubles lost = LOOP(advance)(&states[k], LOOP(load)(values + i + k * LANES));
            LOOP(add_lost)(&states[k], lost);
        }
    }
    for (int k = 0; k < SCAN_RUNS / LANES; k++)
        LOOP(keep_state)(lanes, k * LANES, &states[k]);
}

#undef LEVEL
#undef WITH_LEVEL
#undef LANES
#undef LOOP_NAME
#undef LOOP_OF
#undef LOOP
#undef INLINED
#undef doubles
#undef integers
#undef SHUFFLED
#undef EACH_LANE
#undef LANE_BELOW
#undef LANE_ABOVE
#undef EXCHANGE
