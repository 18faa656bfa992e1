/* SPDX-License-Identifier: Apache-2.0 */
/* threads SECONDS: four threads named ringer-0 .. ringer-3, all in thread_work; main only waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define THREADS 4

static volatile uint64_t sink;

static double deadline;

__attribute__((noinline, noclone)) void *thread_work(void *arg);
__attribute__((noinline, noclone)) void *thread_work(void *arg)
{
	uint64_t x = (uint64_t)(uintptr_t)arg + 1;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	deadline = seconds_now() + (argc > 1 ? atof(argv[1]) : 3.0);
	for (int i = 0; i < THREADS; i++) {
		char name[16];

		if (pthread_create(&thread[i], NULL, thread_work, (void *)(uintptr_t)i) != 0)
			return 1;
		snprintf(name, sizeof(name), "ringer-%d", i);
		pthread_setname_np(thread[i], name);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
