/* About how many different values there are, in little memory: HyperLogLog (Flajolet, Fusy, Gandouet and Meunier 2007)
 * with the estimator of Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), which needs no
 * tables for few or many values. The standard error is 0.8 %. */
#ifndef RQL_ENGINE_VALUES_HYPERLOGLOG_H
#define RQL_ENGINE_VALUES_HYPERLOGLOG_H

#include <stdint.h>

enum { SKETCH_BITS = 14, SKETCH_REGISTERS = 1 << SKETCH_BITS };

/* All zeroes: nothing was added. */
struct hyperloglog {
    uint8_t registers[SKETCH_REGISTERS];
};

/* Equal values are added as equal bits. */
void hyperloglog_add(struct hyperloglog *sketch, uint64_t bits);
void hyperloglog_merge(struct hyperloglog *into, const struct hyperloglog *from);
double hyperloglog_estimate(const struct hyperloglog *sketch);

#endif
