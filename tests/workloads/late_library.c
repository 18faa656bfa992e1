/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late-library LIBRARY SECONDS: half of the time in wait_outside, then a library is mapped and the other
 * half is spent in it: a mapping that was not there at the first sample.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

static volatile uint64_t sink;

__attribute__((noinline, noclone)) uint64_t wait_outside(double seconds);
__attribute__((noinline, noclone)) uint64_t wait_outside(double seconds)
{
	double deadline = seconds_now() + seconds;
	uint64_t x = 3;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
	return x;
}

int main(int argc, char **argv)
{
	double half = argc > 2 ? atof(argv[2]) / 2 : 1.5;
	uint64_t (*ring)(double);
	void *library;

	if (argc < 2)
		return 2;
	sink = wait_outside(half);
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&ring = dlsym(library, "bell_ring");
	if (!ring)
		return 1;
	sink = ring(half);
	return 0;
}
