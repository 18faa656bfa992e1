/* SPDX-License-Identifier: Apache-2.0 */
/* pprof_speed: encodes 100,000 samples of 60 frames out of 20,000 locations; prints the milliseconds and the memory above the input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "symbolizer/pprof.h"

#define SAMPLES 100000
#define FRAMES 60
#define LOCATIONS 20000

static double milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static long peak_kib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_maxrss;
}

int main(void)
{
	struct pprof_header header = { .time = 1700000000000000000u, .duration = 10000000000u, .period = 10101010 };
	struct pprof_mapping mapping = { .start = 0x400000, .limit = 0x40000000, .file = "/usr/bin/program",
					 .build_id = "0123456789abcdef", .has_functions = true };
	static uint64_t ids[LOCATIONS];
	static uint64_t stack[FRAMES];
	struct pprof_encoder *e;
	const uint8_t *data;
	size_t len = 0;
	long before = peak_kib();
	double start = milliseconds();
	enum pprof_result result;
	uint64_t map;
	char name[64];

	e = encoder_new(&header, 64 << 20);
	if (!e)
		return 1;
	map = encoder_mapping(e, &mapping);
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		snprintf(name, sizeof(name), "namespace_%u::function_number_%u", i % 97, i);
		ids[i] = encoder_location(e, map, 0x400000 + 64u * i, encoder_function(e, name, name, ""));
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		/* Stacks share their roots, as real ones do. */
		for (uint32_t k = 0; k < FRAMES; k++)
			stack[k] = ids[k < 20 ? (i * 2654435761u + k * 40503u) % LOCATIONS : (i % 500 + k * 37) % LOCATIONS];
		encoder_sample(e, stack, FRAMES, 1, i % 64 + 1, "worker");
	}
	result = encoder_finish(e, &data, &len);
	printf("pprof samples=%d frames=%d ms=%.0f bytes=%zu memory_kib=%ld result=%d\n", SAMPLES, FRAMES,
	       milliseconds() - start, len, peak_kib() - before, (int)result);
	encoder_free(e);
	return result == PPROF_DONE ? 0 : 1;
}
