/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/cpu_list.h"
#include "ipc/log.h"

/* An event that has not ticked for so long (and three periods) is taken for dead. A busy hypervisor
 * pauses us for less. */
#define STALL_MS 1500

struct cpu_state {
	uint64_t events;      /* ticks seen at the last look */
	uint64_t progress_ms; /* when they last grew */
};

struct cpus {
	struct cpus_parts parts;
	int online_fd;
	struct cpu_state states[];
};

static int open_list(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	log_error("cpu_list", "%s: %s: sysfs must be mounted", path, strerror(errno));
	return -errno;
}

uint32_t cpus_possible(void)
{
	struct cpu_list list = { 0 };
	int fd = open_list("/sys/devices/system/cpu/possible");

	if (fd < 0)
		return 0;
	if (cpu_list_read(fd, &list) != 0)
		log_error("cpu_list", "/sys/devices/system/cpu/possible: not a CPU list");
	close(fd);
	return list.end;
}

static void close_cpu(struct cpus *c, uint32_t cpu)
{
	perf_events_close_cpu(c->parts.events, cpu);
	sideband_close_cpu(c->parts.sideband, cpu);
}

/* The side band first: what happens before the first sample is then known. */
static int open_cpu(struct cpus *c, uint32_t cpu, uint64_t now_ms)
{
	c->states[cpu].progress_ms = now_ms;
	c->states[cpu].events = sampler_cpu_events(c->parts.sampler, cpu);
	(void)sideband_open_cpu(c->parts.sideband, cpu);
	return perf_events_open_cpu(c->parts.events, cpu);
}

int cpus_open(struct cpus **out, const struct cpus_parts *parts)
{
	struct cpus *c = calloc(1, sizeof(*c) + parts->count * sizeof(c->states[0]));
	struct cpu_list online;
	uint32_t opened = 0;
	int error;

	if (!c)
		return -ENOMEM;
	c->parts = *parts;
	c->online_fd = open_list("/sys/devices/system/cpu/online");
	error = c->online_fd < 0 ? c->online_fd : cpu_list_read(c->online_fd, &online);
	for (uint32_t cpu = 0; !error && cpu < parts->count; cpu++) {
		if (cpu_list_has(&online, cpu) && open_cpu(c, cpu, 0) == 0)
			opened++;
	}
	if (!error && opened == 0) {
		log_error("no_clock_event",
			  "not one clock event could be opened: nothing to sample with");
		error = -ENODEV;
	}
	if (error) {
		cpus_free(c);
		return error;
	}
	*out = c;
	return 0;
}

/* Slots above BELFRY_CPUS_MAX are shared, so they tell nothing about one CPU. */
static bool has_stalled(struct cpus *c, uint32_t cpu, uint64_t now_ms)
{
	struct cpu_state *state = &c->states[cpu];
	uint64_t events = sampler_cpu_events(c->parts.sampler, cpu);

	if (events != state->events || cpu >= BELFRY_CPUS_MAX) {
		state->events = events;
		state->progress_ms = now_ms;
	}
	return now_ms - state->progress_ms > STALL_MS + 3000 / c->parts.frequency;
}

static void follow_online(struct cpus *c, uint32_t cpu, uint64_t now_ms, bool sampling)
{
	bool was_open = perf_events_is_open(c->parts.events, cpu);

	if (!sampling)
		c->states[cpu].progress_ms = now_ms;
	if (was_open && !has_stalled(c, cpu, now_ms))
		return;
	if (was_open)
		close_cpu(c, cpu);
	if (open_cpu(c, cpu, now_ms) != 0)
		return;
	log_info("cpu_opened", "CPU %u is sampled (again)", cpu);
	/* What ran there before the ring was open has told us nothing. */
	processes_events_lost(c->parts.processes, 1);
}

void cpus_follow(struct cpus *c, uint64_t now_ms, bool sampling)
{
	struct cpu_list online;

	if (cpu_list_read(c->online_fd, &online) != 0)
		return;
	for (uint32_t cpu = 0; cpu < c->parts.count; cpu++) {
		if (cpu_list_has(&online, cpu)) {
			follow_online(c, cpu, now_ms, sampling);
		} else if (perf_events_is_open(c->parts.events, cpu)) {
			close_cpu(c, cpu);
			log_info("cpu_closed", "CPU %u has gone offline", cpu);
		}
	}
}

void cpus_free(struct cpus *c)
{
	if (!c)
		return;
	if (c->online_fd >= 0)
		close(c->online_fd);
	free(c);
}
