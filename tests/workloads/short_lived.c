/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-lived COUNT MILLISECONDS: runs COUNT children one after another, each a fresh exec of this program that
 * lives for MILLISECONDS and spends them in brief_work. Prints how many CPU seconds the children used.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "burn.h"

extern char **environ;

static volatile uint64_t sink;

__attribute__((noinline, noclone)) uint64_t brief_work(double seconds);
__attribute__((noinline, noclone)) uint64_t brief_work(double seconds)
{
	double deadline = seconds_now() + seconds;
	uint64_t x = 11;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
	return x;
}

__attribute__((noinline, noclone)) uint64_t brief_life(double seconds);
__attribute__((noinline, noclone)) uint64_t brief_life(double seconds)
{
	uint64_t x = brief_work(seconds);

	sink = x;
	return x + 1;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int count = argc > 1 ? atoi(argv[1]) : 200;
	char *milliseconds = argc > 2 ? argv[2] : "50";
	char *child[] = { argv[0], "child", milliseconds, NULL };

	if (argc > 2 && strcmp(argv[1], "child") == 0) {
		sink = brief_life(atof(argv[2]) / 1000.0);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		pid_t pid;

		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child, environ) != 0)
			return 1;
		waitpid(pid, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.3f\n", (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec * 1e-6);
	return 0;
}
