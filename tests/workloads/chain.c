/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain DEPTH SECONDS: main calls level_1, which calls level_2 ... level_DEPTH, which burns
 * all the time. Every sample must show level_DEPTH .. level_1, main.
 */
#include <stdlib.h>

#include "burn.h"

#define NOINLINE __attribute__((noinline, noclone))

/* FAR puts every second function into another executable segment (chain-segments). */
#ifdef FAR_SECTION
#define FAR __attribute__((section(".far")))
#else
#define FAR
#endif

static volatile uint64_t sink;

static double deadline;

#define LAST(n, place)                                                                            \
	NOINLINE place uint64_t level_##n(int depth);                                              \
	NOINLINE place uint64_t level_##n(int depth)                                               \
	{                                                                                          \
		uint64_t x = (uint64_t)depth + 1;                                                  \
                                                                                                   \
		while (seconds_now() < deadline)                                                   \
			x = burn_step(x);                                                          \
		sink = x;                                                                          \
		return x;                                                                          \
	}

#define LEVEL(n, next, place)                                                                     \
	NOINLINE place uint64_t level_##n(int depth);                                              \
	NOINLINE place uint64_t level_##n(int depth)                                               \
	{                                                                                          \
		uint64_t x = (uint64_t)depth + 1;                                                  \
                                                                                                   \
		if (depth > n)                                                                     \
			x = level_##next(depth);                                                   \
		else                                                                               \
			while (seconds_now() < deadline)                                           \
				x = burn_step(x);                                                  \
		sink = x; /* work after the call: no tail call */                                  \
		return x + n;                                                                      \
	}

LAST(16, FAR)
LEVEL(15, 16, )
LEVEL(14, 15, FAR)
LEVEL(13, 14, )
LEVEL(12, 13, FAR)
LEVEL(11, 12, )
LEVEL(10, 11, FAR)
LEVEL(9, 10, )
LEVEL(8, 9, FAR)
LEVEL(7, 8, )
LEVEL(6, 7, FAR)
LEVEL(5, 6, )
LEVEL(4, 5, FAR)
LEVEL(3, 4, )
LEVEL(2, 3, FAR)
LEVEL(1, 2, )

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 8;

	deadline = seconds_now() + (argc > 2 ? atof(argv[2]) : 3.0);
	sink = level_1(depth);
	return 0;
}
