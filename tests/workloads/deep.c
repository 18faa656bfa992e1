/* SPDX-License-Identifier: Apache-2.0 */
/* deep DEPTH SECONDS: `descend` calls itself DEPTH times, then burns: stacks longer than any usual limit. */
#include <stdlib.h>

#include "burn.h"

static volatile uint64_t sink;

static double deadline;

__attribute__((noinline, noclone)) uint64_t descend(int left);
__attribute__((noinline, noclone)) uint64_t descend(int left)
{
	uint64_t x = (uint64_t)left + 1;

	if (left > 1)
		x = descend(left - 1);
	else
		while (seconds_now() < deadline)
			x = burn_step(x);
	sink = x;
	return x + 1;
}

int main(int argc, char **argv)
{
	deadline = seconds_now() + (argc > 2 ? atof(argv[2]) : 3.0);
	sink = descend(argc > 1 ? atoi(argv[1]) : 900);
	return 0;
}
