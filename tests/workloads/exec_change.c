/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec-change SECONDS PROGRAM ARGS...: burns in before_exec, then becomes PROGRAM under the same pid: its
 * addresses must be named by the new program, and those before the exec by this one.
 */
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

static volatile uint64_t sink;

__attribute__((noinline, noclone)) void before_exec(double seconds);
__attribute__((noinline, noclone)) void before_exec(double seconds)
{
	double deadline = seconds_now() + seconds;
	uint64_t x = 5;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	before_exec(atof(argv[1]));
	execv(argv[2], argv + 2);
	return 127;
}
