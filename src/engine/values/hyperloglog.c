#include "engine/values/hyperloglog.h"

#include <math.h>

enum { RANKS = 64 - SKETCH_BITS }; /* a register holds 0 to RANKS + 1 */

/* The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit of the result depends on every bit. */
static uint64_t scramble(uint64_t bits)
{
    bits += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

void hyperloglog_add(struct hyperloglog *sketch, uint64_t bits)
{
    const uint64_t hash = scramble(bits);
    const uint64_t rest = hash >> SKETCH_BITS;
    const int rank = rest ? __builtin_clzll(rest) - SKETCH_BITS + 1 : RANKS + 1;
    uint8_t *place = &sketch->registers[hash & (SKETCH_REGISTERS - 1)];
    if (rank > *place)
        *place = (uint8_t)rank;
}

void hyperloglog_merge(struct hyperloglog *into, const struct hyperloglog *from)
{
    for (int i = 0; i < SKETCH_REGISTERS; i++) {
        if (from->registers[i] > into->registers[i])
            into->registers[i] = from->registers[i];
    }
}

/* x + the sum of x^(2^k) 2^(k-1) over k from 1, for x < 1. */
static double sigma(double x)
{
    double sum = x, weight = 1, before;
    do {
        x *= x;
        before = sum;
        sum += x * weight;
        weight += weight;
    } while (sum != before);
    return sum;
}

/* A third of 1 - x - the sum of (1 - x^(2^-k))^2 2^-k over k from 1, for 0 <= x <= 1. */
static double tau(double x)
{
    if (x == 0 || x == 1)
        return 0;
    double sum = 1 - x, weight = 1, before;
    do {
        x = sqrt(x);
        before = sum;
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    } while (sum != before);
    return sum / 3;
}

double hyperloglog_estimate(const struct hyperloglog *sketch)
{
    const double alpha = 0.5 / log(2), registers = SKETCH_REGISTERS;
    int64_t counts[RANKS + 2] = {0};
    for (int i = 0; i < SKETCH_REGISTERS; i++)
        counts[sketch->registers[i]]++;
    if (counts[0] == SKETCH_REGISTERS)
        return 0;
    double sum = registers * tau(1 - (double)counts[RANKS + 1] / registers);
    for (int k = RANKS; k >= 1; k--)
        sum = (sum + (double)counts[k]) / 2;
    sum += registers * sigma((double)counts[0] / registers);
    return alpha * registers * registers / sum;
}
