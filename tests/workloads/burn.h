/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burn: CPU time that is spent in one place. The loop makes no call, so that a sample
 * almost never falls into a prologue, where a frame-pointer walk misses the caller.
 */
#ifndef BELFRY_WORKLOADS_BURN_H
#define BELFRY_WORKLOADS_BURN_H

#include <stdint.h>
#include <time.h>

/* CPU time of this thread: a busy host makes a workload last longer, not give fewer samples. */
static inline double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* About a millisecond of arithmetic. Inlined: the caller is the leaf of the stack. */
static inline __attribute__((always_inline)) uint64_t burn_step(uint64_t x)
{
	for (int i = 0; i < 400000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

#endif
