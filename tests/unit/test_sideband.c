/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of the running kernel, with a stub in the place of processes. Needs the right to open
 * perf events. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "collector/clock.h"
#include "collector/perf_ring.h"
#include "collector/sideband.h"

static struct {
	uint64_t last;
	uint64_t events;
	uint64_t disorder;
	uint64_t losses;
	pid_t pid;	  /* the process that is watched */
	uint64_t watched; /* an address, and how many events told of one page of anonymous memory
			     there */
	uint64_t told;
	char steps[64]; /* what it did: F, E, M (the file), A (anonymous), V (vdso), X */
} seen;

static void step(char what)
{
	size_t n = strlen(seen.steps);

	if (n + 1 < sizeof(seen.steps))
		seen.steps[n] = what;
}

void processes_event(struct processes *p, const struct sideband_event *e)
{
	(void)p;
	seen.events++;
	seen.disorder += e->time < seen.last;
	seen.last = e->time;
	seen.told += e->type == SIDEBAND_MMAP && e->start == seen.watched && e->length == 4096 &&
		     e->path_len == 6 && memcmp(e->path, "//anon", 6) == 0 &&
		     e->tgid == (uint32_t)getpid();
	if (e->tgid != (uint32_t)seen.pid)
		return;
	if (e->type == SIDEBAND_FORK && e->parent_tgid == (uint32_t)getpid())
		step('F');
	else if (e->type == SIDEBAND_EXEC)
		step('E');
	else if (e->type == SIDEBAND_EXIT)
		step('X');
	else if (e->type == SIDEBAND_MMAP && e->inode && e->path_len && e->path[0] == '/')
		step('M');
	else if (e->type == SIDEBAND_MMAP && e->path_len == 6 && memcmp(e->path, "[vdso]", 6) == 0)
		step('V');
	else if (e->type == SIDEBAND_MMAP)
		step('A');
}

void processes_events_lost(struct processes *p, uint64_t count)
{
	(void)p, (void)count;
	seen.losses++;
}

static struct sideband *s;
static uint32_t cpus;

static int set_up(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(sideband_new(&s, cpus, NULL), 0);
	for (uint32_t i = 0; i < cpus; i++)
		sideband_open_cpu(s, i);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sideband_free(s);
	return 0;
}

static void fork_exec_map_and_exit_arrive_in_order(void **state)
{
	uint64_t from = clock_ns();

	(void)state;
	seen.pid = fork();
	if (seen.pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(seen.pid, NULL, 0);
	sideband_drain(s);
	/* Fork, exec, the program and its loader, the vdso, libc (in whatever order the kernel lays
	 * them), exit. */
	assert_int_equal(seen.steps[0], 'F');
	assert_int_equal(seen.steps[1], 'E');
	assert_int_equal(seen.steps[strlen(seen.steps) - 1], 'X');
	assert_non_null(strchr(seen.steps, 'V'));
	assert_non_null(strchr(seen.steps, 'M'));
	assert_int_equal(seen.disorder, 0);
	assert_int_equal(sideband_counters(s)->bad, 0);
	assert_int_equal(seen.losses, 0);
	assert_true(seen.last > from && seen.last < clock_ns()); /* CLOCK_MONOTONIC */
}

static void memory_made_executable_is_told(void **state)
{
	void *at;

	(void)state;
	seen.pid = getpid();
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sideband_drain(s);
	assert_string_equal(seen.steps, "");
	mprotect(at, 4096, PROT_READ | PROT_EXEC); /* as JIT compilers do */
	sideband_drain(s);
	assert_string_equal(seen.steps, "A");
	munmap(at, 4096);
}

static void a_burst_beyond_the_ring_is_counted_and_the_rest_stays_readable(void **state)
{
	char *at = mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	/* About 100 bytes each: 20,000 are several rings. */
	for (int i = 0; i < 20000; i++)
		mprotect(at, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC);
	for (int i = 0; i < 20000; i++)
		mprotect(at, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC);
	sideband_drain(s);
	/* The loss is told by the kernel with the first record that fits again. */
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	sideband_drain(s);
	assert_true(seen.losses > 0);
	assert_true(sideband_counters(s)->lost > 0);
	assert_int_equal(sideband_counters(s)->bad, 0);
	assert_int_equal(seen.disorder, 0);
	munmap(at, 2 * 4096);
}

static void many_turns_of_the_ring_lose_nothing(void **state)
{
	char *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	seen.watched = (uint64_t)(uintptr_t)at;
	for (int turn = 0; turn < 100; turn++) {
		for (int i = 0; i < 200; i++)
			mprotect(at, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC);
		sideband_drain(s);
		assert_int_equal(seen.told, 100 * (turn + 1));
	}
	assert_int_equal(sideband_counters(s)->bad, 0);
	assert_int_equal(sideband_counters(s)->lost, 0);
	munmap(at, 4096);
}

static void a_cpu_that_comes_back_makes_mappings_doubtful(void **state)
{
	(void)state;
	sideband_drain(s);
	assert_int_equal(seen.losses, 0);
	sideband_close_cpu(s, 0);
	assert_int_equal(sideband_poll_fd(s, 0), -1);
	sideband_close_cpu(s, 0);
	sideband_drain(s);
	assert_int_equal(sideband_open_cpu(s, 0), 0);
	assert_true(sideband_poll_fd(s, 0) >= 0);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(sideband_open_cpu(s, 0), 0); /* open already */
	assert_int_equal(seen.losses, 1);
	assert_true(sideband_open_cpu(s, cpus) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fork_exec_map_and_exit_arrive_in_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(memory_made_executable_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_burst_beyond_the_ring_is_counted_and_the_rest_stays_readable, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(many_turns_of_the_ring_lose_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_cpu_that_comes_back_makes_mappings_doubtful,
						set_up, tear_down),
	};
	struct perf_ring *ring;

	if (perf_ring_open(&ring, 0)) {
		printf("perf events of all processes need root or CAP_PERFMON: skipped\n");
		return 0;
	}
	perf_ring_close(ring);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
