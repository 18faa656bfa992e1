/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo SECONDS: what `make run` records. A little server that handles requests: about two thirds of its time go into
 * handle_request -> check_signature -> mix_block, a sixth into sorting, a sixth into the kernel.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

#define ROWS 20000
#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static uint32_t rows[ROWS];

NOINLINE uint64_t mix_block(uint64_t x);
NOINLINE uint64_t mix_block(uint64_t x)
{
	for (int i = 0; i < 16; i++)
		x = burn_step(x);
	return x;
}

NOINLINE uint64_t check_signature(uint64_t x);
NOINLINE uint64_t check_signature(uint64_t x)
{
	x = mix_block(x);
	sink = x;
	return x ^ 1;
}

NOINLINE int compare_rows(const void *a, const void *b);
NOINLINE int compare_rows(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

NOINLINE void sort_rows(uint64_t seed);
NOINLINE void sort_rows(uint64_t seed)
{
	for (int i = 0; i < ROWS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		rows[i] = (uint32_t)(seed >> 32);
	}
	qsort(rows, ROWS, sizeof(rows[0]), compare_rows);
}

NOINLINE void send_answer(int from, char *buffer, size_t size);
NOINLINE void send_answer(int from, char *buffer, size_t size)
{
	for (int i = 0; i < 16; i++)
		if (read(from, buffer, size) < 0)
			_exit(1);
}

NOINLINE void handle_request(uint64_t id, int from, char *buffer, size_t size);
NOINLINE void handle_request(uint64_t id, int from, char *buffer, size_t size)
{
	sink = check_signature(id + 1);
	sort_rows(id);
	send_answer(from, buffer, size);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 20];
	double deadline = seconds_now() + (argc > 1 ? atof(argv[1]) : 5.0);
	int from = open("/dev/zero", O_RDONLY);

	for (uint64_t id = 1; seconds_now() < deadline; id++)
		handle_request(id, from, buffer, sizeof(buffer));
	return 0;
}
