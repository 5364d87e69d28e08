#include "engine/vector/compare_wide.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define WITH_WIDE     __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define ALWAYS_INLINE WITH_WIDE __attribute__((always_inline))

static bool has_wide(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

/* One bit for each element of a vector. */
typedef __mmask32 rows_16;
typedef __mmask16 rows_32;
typedef __mmask8 rows_64;

/* Their bytes. */
typedef __m256i bytes_16;
typedef __m128i bytes_32, bytes_64;

/* What is tested: x with constants (compare_const.h), or x and y. */
enum test {
    TEST_BITS,
    TEST_LESS,
    TEST_LESS_UNSIGNED,
    TEST_MULTIPLE,
    TEST_EQ,
    TEST_NE,
    TEST_LT,
    TEST_LE,
    TEST_EQ_FLOAT,
    TEST_NE_FLOAT,
    TEST_LT_FLOAT,
    TEST_LE_FLOAT
};

#define NO_FLOATS(bits)                                                                                                \
    ALWAYS_INLINE static inline rows_##bits test_floats_##bits(enum test test, __m512i x, __m512i y)                   \
    {                                                                                                                  \
        (void)test;                                                                                                    \
        (void)x;                                                                                                       \
        (void)y;                                                                                                       \
        return 0;                                                                                                      \
    }
NO_FLOATS(16)
NO_FLOATS(32)

ALWAYS_INLINE static inline rows_64 test_floats_64(enum test test, __m512i x, __m512i y)
{
    const __m512d a = _mm512_castsi512_pd(x), b = _mm512_castsi512_pd(y);
    switch (test) {
    case TEST_EQ_FLOAT:
        return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
    case TEST_NE_FLOAT:
        return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ);
    case TEST_LT_FLOAT:
        return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
    default:
        return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
    }
}

ALWAYS_INLINE static inline __m512i rotated_16(__m512i x, __m512i right, __m512i left)
{
    return _mm512_or_si512(_mm512_srlv_epi16(x, right), _mm512_sllv_epi16(x, left));
}

ALWAYS_INLINE static inline __m512i rotated_32(__m512i x, __m512i right, __m512i left)
{
    (void)left;
    return _mm512_rorv_epi32(x, right);
}

ALWAYS_INLINE static inline __m512i rotated_64(__m512i x, __m512i right, __m512i left)
{
    (void)left;
    return _mm512_rorv_epi64(x, right);
}

ALWAYS_INLINE static inline void store_16(uint8_t *out, bytes_16 bytes)
{
    _mm256_storeu_si256((void *)out, bytes);
}

ALWAYS_INLINE static inline void store_32(uint8_t *out, bytes_32 bytes)
{
    _mm_storeu_si128((void *)out, bytes);
}

ALWAYS_INLINE static inline void store_64(uint8_t *out, bytes_64 bytes)
{
    _mm_storel_epi64((void *)out, bytes);
}

/* Vectors of the constants of a comparison. */
struct constants {
    __m512i mask, against, inverse, shift, most;
    __m512i right, left; /* bits of a rotation */
};

/* A loop for elements of so many bits. The bytes of its result fill `part`, a part of a vector. `test` is a constant
 * where it is called. */
#define RUN(bits, set, part)                                                                                           \
    ALWAYS_INLINE static inline rows_##bits test_##bits(enum test test, __m512i x, __m512i y,                          \
                                                        const struct constants *with)                                  \
    {                                                                                                                  \
        __m512i product;                                                                                               \
        switch (test) {                                                                                                \
        case TEST_BITS:                                                                                                \
            return _mm512_cmpeq_epi##bits##_mask(_mm512_and_si512(x, with->mask), with->against);                      \
        case TEST_LESS:                                                                                                \
            return _mm512_cmplt_epi##bits##_mask(x, with->against);                                                    \
        case TEST_LESS_UNSIGNED:                                                                                       \
            return _mm512_cmplt_epu##bits##_mask(x, with->against);                                                    \
        case TEST_MULTIPLE:                                                                                            \
            product = _mm512_add_epi##bits(_mm512_mullo_epi##bits(x, with->inverse), with->shift);                     \
            product = rotated_##bits(product, with->right, with->left);                                                \
            return _mm512_cmple_epu##bits##_mask(product, with->most);                                                 \
        case TEST_EQ:                                                                                                  \
            return _mm512_cmpeq_epi##bits##_mask(x, y);                                                                \
        case TEST_NE:                                                                                                  \
            return _mm512_cmpneq_epi##bits##_mask(x, y);                                                               \
        case TEST_LT:                                                                                                  \
            return _mm512_cmplt_epi##bits##_mask(x, y);                                                                \
        case TEST_LE:                                                                                                  \
            return _mm512_cmple_epi##bits##_mask(x, y);                                                                \
        default:                                                                                                       \
            return test_floats_##bits(test, x, y);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE static inline bool run_##bits(const struct operands *o, int count, enum test test)                   \
    {                                                                                                                  \
        enum { AT_ONCE = 512 / bits };                                                                                 \
        static const struct compare_const none;                                                                        \
        const struct compare_const *compare = test < TEST_EQ ? o->compare : &none;                                     \
        const int##bits##_t *a = o->a, *b = test < TEST_EQ ? NULL : o->b;                                              \
        uint8_t *restrict out = o->out;                                                                                \
        const struct constants with = {                                                                                \
            .mask = set((int##bits##_t)compare->mask),                                                                 \
            .against = set((int##bits##_t)compare->against),                                                           \
            .inverse = set((int##bits##_t)compare->inverse),                                                           \
            .shift = set((int##bits##_t)compare->shift),                                                               \
            .most = set((int##bits##_t)compare->most),                                                                 \
            .right = set((int##bits##_t)compare->rotate),                                                              \
            .left = set((int##bits##_t)(bits - compare->rotate)),                                                      \
        };                                                                                                             \
        const __m512i first = set(b ? b[0] : 0);                                                                       \
        const bool varying = b && !o->uniform;                                                                         \
        const bytes_##bits no = part##_set1_epi8((char)compare->flip),                                                 \
                           yes = part##_set1_epi8((char)(compare->flip ^ 1));                                          \
        int i = 0;                                                                                                     \
        for (int strip; i + AT_ONCE <= count;) {                                                                       \
            strip = strip_end(&o->ahead, i, count);                                                                    \
            for (; i + AT_ONCE <= strip; i += AT_ONCE) {                                                               \
                const rows_##bits passed =                                                                             \
                    test_##bits(test, _mm512_loadu_si512(a + i), varying ? _mm512_loadu_si512(b + i) : first, &with);  \
                store_##bits(out + i, part##_mask_blend_epi8(passed, no, yes));                                        \
            }                                                                                                          \
        }                                                                                                              \
        const rows_##bits rest = (rows_##bits)((1u << (count - i)) - 1);                                               \
        const __m512i x = _mm512_maskz_loadu_epi##bits(rest, a + i);                                                   \
        const rows_##bits passed =                                                                                     \
            test_##bits(test, x, varying ? _mm512_maskz_loadu_epi##bits(rest, b + i) : first, &with);                  \
        part##_mask_storeu_epi8(out + i, rest, part##_mask_blend_epi8(passed, no, yes));                               \
        return false;                                                                                                  \
    }
RUN(16, _mm512_set1_epi16, _mm256)
RUN(32, _mm512_set1_epi32, _mm)
RUN(64, _mm512_set1_epi64, _mm)

#define LOOP(name, bits, test)                                                                                         \
    WITH_WIDE static bool name(const struct operands *o, int count)                                                    \
    {                                                                                                                  \
        return run_##bits(o, count, test);                                                                             \
    }
LOOP(bits_16, 16, TEST_BITS)
LOOP(bits_32, 32, TEST_BITS)
LOOP(bits_64, 64, TEST_BITS)
LOOP(less_i16, 16, TEST_LESS)
LOOP(less_i32, 32, TEST_LESS)
LOOP(less_i64, 64, TEST_LESS)
LOOP(less_u16, 16, TEST_LESS_UNSIGNED)
LOOP(less_u32, 32, TEST_LESS_UNSIGNED)
LOOP(multiple_16, 16, TEST_MULTIPLE)
LOOP(multiple_32, 32, TEST_MULTIPLE)
LOOP(multiple_64, 64, TEST_MULTIPLE)
LOOP(eq_i32, 32, TEST_EQ)
LOOP(ne_i32, 32, TEST_NE)
LOOP(lt_i32, 32, TEST_LT)
LOOP(le_i32, 32, TEST_LE)
LOOP(eq_i64, 64, TEST_EQ)
LOOP(ne_i64, 64, TEST_NE)
LOOP(lt_i64, 64, TEST_LT)
LOOP(le_i64, 64, TEST_LE)
LOOP(eq_f64, 64, TEST_EQ_FLOAT)
LOOP(ne_f64, 64, TEST_NE_FLOAT)
LOOP(lt_f64, 64, TEST_LT_FLOAT)
LOOP(le_f64, 64, TEST_LE_FLOAT)

vector_fn *compare_const_wide(enum compare_const_kind kind, enum type type)
{
    static vector_fn *const table[TYPE_COUNT][3] = {
        [TYPE_I16] = {bits_16, less_i16, multiple_16}, [TYPE_U16] = {bits_16, less_u16, multiple_16},
        [TYPE_I32] = {bits_32, less_i32, multiple_32}, [TYPE_U32] = {bits_32, less_u32, multiple_32},
        [TYPE_I64] = {bits_64, less_i64, multiple_64},
    };
    return has_wide() ? table[type][kind] : NULL;
}

vector_fn *compare_wide(enum op op, enum lane lane)
{
    static vector_fn *const table[OP_COUNT][4] = {
        [OP_EQ] = {NULL, eq_i32, eq_i64, eq_f64},
        [OP_NE] = {NULL, ne_i32, ne_i64, ne_f64},
        [OP_LT] = {NULL, lt_i32, lt_i64, lt_f64},
        [OP_LE] = {NULL, le_i32, le_i64, le_f64},
    };
    return has_wide() ? table[op][lane] : NULL;
}

#else

vector_fn *compare_const_wide(enum compare_const_kind kind, enum type type)
{
    (void)kind;
    (void)type;
    return NULL;
}

vector_fn *compare_wide(enum op op, enum lane lane)
{
    (void)op;
    (void)lane;
    return NULL;
}

#endif
