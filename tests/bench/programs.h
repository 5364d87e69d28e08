/* The programs of tests/bench/programs.py in C; each is described where it is defined. */
#ifndef RQL_TESTS_BENCH_PROGRAMS_H
#define RQL_TESTS_BENCH_PROGRAMS_H

#include <stdint.h>

/* programs.c */
void mandelbrot(int64_t n, int32_t *grey);
void julia(int64_t n, double cr, double ci, int64_t cutoff, int32_t *count);
void collatz(int64_t n, int64_t *best);
void diffusion(int64_t n, int64_t rounds, double *u);
int64_t jacobi(int64_t n, int64_t most, double bound, double *u);
void life(int64_t n, int64_t rounds, uint8_t *board);
void k_means(int64_t n, int64_t columns, int64_t k, int64_t rounds, const double *points, double *centroids);
void product_integers(int64_t n, const int32_t *a, const int32_t *b, int64_t *c);
void product_floats(int64_t n, const double *a, const double *b, double *c);
void product_compensated(int64_t n, const double *a, const double *b, double *c);
void traffic(int64_t agents, int64_t ticks, const int8_t *kind, const double *top, const double *fastest,
             const double *length, const int64_t *dice, const int64_t *first, const int64_t *degree, const int64_t *to,
             int64_t *street, double *progress);
int64_t page_rank(int64_t n, double bound, const int64_t *first, const int32_t *from, const int32_t *degree,
                  double *rank);
void n_body(int64_t n, int64_t rounds, double dt, const double *m, double *state);
void shortest_paths(int64_t n, int64_t *d);
void black_scholes(int64_t n, const int8_t *call, const double *spot, const double *strike, const double *years,
                   double r, double v, double *price);
int64_t dot_product(int64_t n);

/* programs_ikra.c */
void ikra_map(int64_t i, int64_t j, int64_t k, int32_t *cells);
void ikra_iterate(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
void ikra_map_simple(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
void ikra_iterate_simple(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
void ikra_iterate_five(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
void ikra_iterate_complex(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
void ikra_stencil(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells);
int64_t ikra_host_section(int64_t n, int64_t bound, int64_t *a);

#endif
