/* SPDX-License-Identifier: Apache-2.0 */
/* odd-name SECONDS: a thread name that is not UTF-8 and has a newline and quotes: no output may break on it. */
#include <stdlib.h>
#include <sys/prctl.h>

#include "burn.h"

static volatile uint64_t sink;

__attribute__((noinline, noclone)) void odd_work(double seconds);
__attribute__((noinline, noclone)) void odd_work(double seconds)
{
	double deadline = seconds_now() + seconds;
	uint64_t x = 13;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, "o\xff\xfe\n\"d\\;{d");
	odd_work(argc > 1 ? atof(argv[1]) : 3.0);
	return 0;
}
