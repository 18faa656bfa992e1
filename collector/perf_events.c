/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/log.h"

struct perf_events {
	uint32_t cpus;
	uint32_t frequency;
	int program_fd;
	bool enabled;
	int fds[]; /* by CPU, -1 where not open */
};

static uint32_t highest_frequency(void)
{
	char text[32];
	int fd = open("/proc/sys/kernel/perf_event_max_sample_rate", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return UINT32_MAX; /* the open will tell */
	text[n] = '\0';
	return (uint32_t)strtoul(text, NULL, 10);
}

uint32_t perf_events_frequency(uint32_t wanted)
{
	uint32_t highest = highest_frequency();

	if (wanted <= highest || highest == 0)
		return wanted;
	log_warn("frequency_clamped",
		 "%u Hz is above kernel.perf_event_max_sample_rate: sampling at %u Hz", wanted,
		 highest);
	return highest;
}

int perf_events_new(struct perf_events **out, uint32_t cpus, uint32_t frequency, int program_fd)
{
	struct perf_events *e = malloc(sizeof(*e) + cpus * sizeof(e->fds[0]));

	if (!e)
		return -ENOMEM;
	*e = (struct perf_events){ .cpus = cpus, .frequency = frequency, .program_fd = program_fd };
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		e->fds[cpu] = -1;
	*out = e;
	return 0;
}

/* Software clock: there is one on every machine, and it ticks with interrupts on, so reading user
 * memory is allowed. */
static int open_clock(const struct perf_events *e, uint32_t cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.freq = 1,
					.sample_freq = e->frequency,
					.disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 ? fd : -errno;
}

int perf_events_open_cpu(struct perf_events *e, uint32_t cpu)
{
	int fd;

	if (cpu >= e->cpus || e->fds[cpu] >= 0)
		return 0;
	fd = open_clock(e, cpu);
	if (fd < 0) {
		log_warn("perf_event_open", "clock event of CPU %u at %u Hz: %s", cpu, e->frequency,
			 strerror(-fd));
		return fd;
	}
	/* The ioctl, not a BPF link: kernels before 5.15 have no link for perf events. */
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, e->program_fd) != 0 ||
	    (e->enabled && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)) {
		int error = -errno;

		log_warn("perf_event_attach", "sampler on the clock event of CPU %u: %s", cpu,
			 strerror(errno));
		close(fd);
		return error;
	}
	e->fds[cpu] = fd;
	return 0;
}

void perf_events_close_cpu(struct perf_events *e, uint32_t cpu)
{
	if (cpu >= e->cpus || e->fds[cpu] < 0)
		return;
	close(e->fds[cpu]);
	e->fds[cpu] = -1;
}

bool perf_events_is_open(const struct perf_events *e, uint32_t cpu)
{
	return cpu < e->cpus && e->fds[cpu] >= 0;
}

static void for_all(struct perf_events *e, unsigned long request, const char *what)
{
	for (uint32_t cpu = 0; cpu < e->cpus; cpu++) {
		if (e->fds[cpu] >= 0 && ioctl(e->fds[cpu], request, 0) != 0)
			log_warn("perf_event_ioctl", "%s the clock event of CPU %u: %s", what, cpu,
				 strerror(errno));
	}
}

void perf_events_enable(struct perf_events *e)
{
	e->enabled = true;
	for_all(e, PERF_EVENT_IOC_ENABLE, "enable");
}

void perf_events_disable(struct perf_events *e)
{
	e->enabled = false;
	for_all(e, PERF_EVENT_IOC_DISABLE, "disable");
}

void perf_events_free(struct perf_events *e)
{
	if (!e)
		return;
	for (uint32_t cpu = 0; cpu < e->cpus; cpu++)
		perf_events_close_cpu(e, cpu);
	free(e);
}
