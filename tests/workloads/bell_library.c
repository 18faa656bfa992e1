/* SPDX-License-Identifier: Apache-2.0 */
/* libbell.so: bell_ring -> bell_strike (not exported: only .symtab names it). */
#include "burn.h"

uint64_t bell_ring(double seconds);

static volatile uint64_t sink;

static __attribute__((noinline, noclone)) uint64_t bell_strike(double deadline)
{
	uint64_t x = 9;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
	return x;
}

__attribute__((noinline, noclone)) uint64_t bell_ring(double seconds)
{
	uint64_t x = bell_strike(seconds_now() + seconds);

	sink = x;
	return x + 1;
}
