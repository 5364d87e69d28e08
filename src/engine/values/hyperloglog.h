/* Estimates the number of distinct values: HyperLogLog (P. Flajolet, E. Fusy, O. Gandouet, F. Meunier, 2007) with the
 * improved raw estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), which
 * needs no bias correction for few or many values. The standard error is 0.8 %. */
#ifndef RQL_ENGINE_VALUES_HYPERLOGLOG_H
#define RQL_ENGINE_VALUES_HYPERLOGLOG_H

#include <stdint.h>

enum { SKETCH_BITS = 14, SKETCH_REGISTERS = 1 << SKETCH_BITS };

/* Initially all zeroes. */
struct hyperloglog {
    uint8_t registers[SKETCH_REGISTERS];
};

/* `bits` represents a value; equal values have equal bits. */
void hyperloglog_add(struct hyperloglog *sketch, uint64_t bits);

/* Adds the values of `from` to `into`: as if both had been added to one. */
void hyperloglog_merge(struct hyperloglog *into, const struct hyperloglog *from);

/* About how many distinct values were added; 0 of none. */
double hyperloglog_estimate(const struct hyperloglog *sketch);

#endif
