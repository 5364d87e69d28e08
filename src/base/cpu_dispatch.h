/* Functions compiled for several x86-64 levels, dispatched when the program is loaded. */
#ifndef RQL_BASE_CPU_DISPATCH_H
#define RQL_BASE_CPU_DISPATCH_H

#include <limits.h> /* for __GLIBC__ */

/* Put before the definition of a function dominated by vector loops; its callees must be inlined to be cloned as well.
 * All clones compute the same results: no reassociation and no contraction to fused multiply-add. Only one version is
 * compiled elsewhere: only glibc's loader dispatches, clang 14 assumes a level for every processor of a vendor, and the
 * thread sanitizer is not initialised when the loader resolves the clones. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && __GNUC__ >= 12
#define CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CPU_CLONES
#endif

#endif
