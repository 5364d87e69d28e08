/* Loops compiled for several generations of processors, of which the program takes the best that it finds itself on. */
#ifndef RQL_BASE_CPU_DISPATCH_H
#define RQL_BASE_CPU_DISPATCH_H

#include <limits.h> /* defines __GLIBC__ */

/* Before the definition of a function that spends its time in vector loops. What it calls has to be inlined to be
 * cloned with it. Results are the same in all of them: nothing is reassociated, and nothing is contracted to a fused
 * multiply-add. Elsewhere there is one version: other loaders than glibc's do not choose, clang 14 takes a level for
 * granted on any processor of a vendor, and the thread sanitizer is not there yet when the loader asks. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && __GNUC__ >= 12
#define CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CPU_CLONES
#endif

#endif
