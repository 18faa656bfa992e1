/* SPDX-License-Identifier: Apache-2.0 */
/* library-user SECONDS: main -> visit_tower -> libbell.so's bell_ring -> bell_strike. */
#include <stdint.h>
#include <stdlib.h>

uint64_t bell_ring(double seconds);

static volatile uint64_t sink;

__attribute__((noinline, noclone)) uint64_t visit_tower(double seconds);
__attribute__((noinline, noclone)) uint64_t visit_tower(double seconds)
{
	uint64_t x = bell_ring(seconds);

	sink = x;
	return x + 1;
}

int main(int argc, char **argv)
{
	sink = visit_tower(argc > 1 ? atof(argv[1]) : 3.0);
	return 0;
}
