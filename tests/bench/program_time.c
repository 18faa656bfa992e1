/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_time OBJECT HZ SECONDS: attaches the yardstick (baseline.bpf.o) to every CPU's clock beside the running
 * sampler, switches the kernel's run time statistics on, waits, and prints what a run of each program took.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct run {
	uint64_t count;
	uint64_t ns;
};

static struct run run_of(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) != 0)
		return (struct run){ 0 };
	return (struct run){ info.run_cnt, info.run_time_ns };
}

/* The newest loaded program of that name, -1 where there is none. */
static int program_named(const char *name)
{
	uint32_t id = 0;
	int found = -1;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && strcmp(info.name, name) == 0) {
			if (found >= 0)
				close(found);
			found = fd;
		} else {
			close(fd);
		}
	}
	return found;
}

static int attach(int program, int cpu, uint64_t frequency)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK, .sample_freq = frequency, .freq = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return -errno;
	return fd;
}

static double print(const char *name, struct run before, struct run after)
{
	uint64_t count = after.count - before.count;
	double each = count ? (double)(after.ns - before.ns) / (double)count : 0;

	printf("%s runs=%llu ns_per_run=%.0f\n", name, (unsigned long long)count, each);
	return each;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 4 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct run own_before, base_before;
	struct bpf_program *program;
	int own, base;

	if (!object || bpf_object__load(object) != 0) {
		fprintf(stderr, "program_time: %s: cannot be loaded\n", argc > 1 ? argv[1] : "no object");
		return 1;
	}
	program = bpf_object__find_program_by_name(object, "baseline_stack");
	base = bpf_program__fd(program);
	own = program_named("take_sample");
	if (own < 0) {
		fprintf(stderr, "program_time: no program take_sample is loaded: is a recording running?\n");
		return 1;
	}
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		if (attach(base, cpu, strtoull(argv[2], NULL, 10)) < 0)
			fprintf(stderr, "program_time: cpu %d: %s\n", cpu, strerror(errno));
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		fprintf(stderr, "program_time: run time statistics: %s\n", strerror(errno));
		return 1;
	}
	own_before = run_of(own);
	base_before = run_of(base);
	sleep((unsigned int)atoi(argv[3]));
	print("sampler", own_before, run_of(own));
	print("baseline", base_before, run_of(base));
	return 0;
}
