/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/log.h"

/* Of the initial pid namespace: fixed since namespaces have inodes (PROC_PID_INIT_INO). */
#define INITIAL_PID_NAMESPACE 4026531836u

/* Kernels before 5.11 charge BPF memory to RLIMIT_MEMLOCK: ring, counters and filters need this
 * much. */
#define MEMORY_LOCKED_NEEDED (2u << 20)

struct check {
	const char *id;
	bool (*fails)(const struct preflight_facts *f, char *sentence, size_t size);
};

static bool kernel_too_old(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size, "kernel %u.%u is too old: Belfry needs Linux 5.10 or later",
		 f->kernel.major, f->kernel.minor);
	return kernel_version_before(&f->kernel, 5, 10, 0);
}

/*
 * A BPF program that reads user memory from an interrupt can dead-lock these kernels: the fix went
 * into 6.4, 6.3.10 and 6.1.36.
 */
static bool freeze_bug(const struct preflight_facts *f, char *sentence, size_t size)
{
	const struct kernel_version *k = &f->kernel;
	bool affected = !kernel_version_before(k, 5, 19, 0) && kernel_version_before(k, 6, 3, 10) &&
			!(k->major == 6 && k->minor == 1 && k->patch >= 36);

	snprintf(sentence, size,
		 "kernel %u.%u.%u can freeze when a BPF program reads user memory (mended in "
		 "6.1.36, 6.3.10 and "
		 "6.4): update it, or pass --accept-freeze-bug if its maker has mended it",
		 k->major, k->minor, k->patch);
	return affected && !f->accept_freeze_bug;
}

static bool big_endian(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size, "this machine is big-endian: Belfry's layouts are little-endian");
	return !f->little_endian;
}

static bool no_btf(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size,
		 "/sys/kernel/btf/vmlinux cannot be read: mount sysfs, or use a kernel "
		 "built with CONFIG_DEBUG_INFO_BTF=y");
	return !f->btf;
}

static bool locked_down(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size,
		 "kernel lockdown is in confidentiality mode, which closes kernel memory to BPF: "
		 "boot with lockdown=integrity or without it");
	return f->confidential;
}

static bool other_namespace(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size,
		 "not in the initial pid namespace, whose process ids the kernel reports: start "
		 "the collector with the host's pid namespace (--pid=host, hostPID: true)");
	return !f->initial_namespace;
}

static bool perf_closed(const struct preflight_facts *f, char *sentence, size_t size)
{
	/* Level 3 is a distribution's addition (Debian, Ubuntu): CAP_PERFMON does not open events
	 * there. */
	if (f->perf_paranoid >= 3)
		snprintf(sentence, size,
			 "perf events are closed to CAP_PERFMON by kernel.perf_event_paranoid=%d: "
			 "run sysctl "
			 "kernel.perf_event_paranoid=2 (and put it into /etc/sysctl.d to keep it)",
			 f->perf_paranoid);
	else
		snprintf(sentence, size,
			 "perf_event_open: %s: the collector needs CAP_PERFMON, and a container's "
			 "seccomp profile must "
			 "allow the call",
			 strerror(f->perf_errno));
	return f->perf_errno != 0;
}

static bool memory_locked_small(const struct preflight_facts *f, char *sentence, size_t size)
{
	snprintf(sentence, size,
		 "kernels before 5.11 charge BPF memory to RLIMIT_MEMLOCK, which is %llu KiB: "
		 "raise it to 64 MiB "
		 "or more (LimitMEMLOCK= in the unit, ulimit -l)",
		 (unsigned long long)(f->memory_locked >> 10));
	return kernel_version_before(&f->kernel, 5, 11, 0) &&
	       f->memory_locked < MEMORY_LOCKED_NEEDED;
}

static const struct check checks[] = {
	{ "kernel_too_old", kernel_too_old }, { "freeze_bug", freeze_bug },
	{ "big_endian", big_endian },	      { "no_btf", no_btf },
	{ "lockdown", locked_down },	      { "pid_namespace", other_namespace },
	{ "perf_event_closed", perf_closed }, { "memory_locked", memory_locked_small },
};

uint32_t preflight_judge(const struct preflight_facts *f, uint32_t n,
			 char sentence[PREFLIGHT_SENTENCE], const char **id)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		char candidate[PREFLIGHT_SENTENCE];

		if (!checks[i].fails(f, candidate, sizeof(candidate)))
			continue;
		if (found++ == n) {
			memcpy(sentence, candidate, sizeof(candidate));
			*id = checks[i].id;
		}
	}
	return found;
}

/* Text of a small file, "" when it cannot be read. */
static void read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Opens the harmless dummy event the way the real ones are opened: for a CPU, all processes. */
static int try_perf_event(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	/* Without CPU 0 (it can be offline) nothing was learnt; opening the real events will tell.
	 */
	return errno == ENODEV || errno == EINVAL ? 0 : errno;
}

void preflight_gather(struct preflight_facts *out, bool accept_freeze_bug)
{
	struct rlimit memory = { 0 };
	struct stat namespace;
	char text[128];

	*out = (struct preflight_facts){
		.little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		.btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
		.perf_errno = try_perf_event(),
		.accept_freeze_bug = accept_freeze_bug,
	};
	if (kernel_version_running(&out->kernel) != 0)
		log_warn("kernel_version", "uname: the release is not a version");
	read_text("/sys/kernel/security/lockdown", text, sizeof(text));
	out->confidential = strstr(text, "[confidentiality]") != NULL;
	read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	out->perf_paranoid = (int)strtol(text, NULL, 10);
	out->initial_namespace = stat("/proc/self/ns/pid", &namespace) == 0 &&
				 namespace.st_ino == INITIAL_PID_NAMESPACE;
	if (getrlimit(RLIMIT_MEMLOCK, &memory) == 0)
		out->memory_locked = memory.rlim_cur;
}

int preflight(bool accept_freeze_bug, struct kernel_version *kernel)
{
	char sentence[PREFLIGHT_SENTENCE];
	struct preflight_facts facts;
	const char *id;

	preflight_gather(&facts, accept_freeze_bug);
	*kernel = facts.kernel;
	for (uint32_t n = 0; n < preflight_judge(&facts, n, sentence, &id); n++)
		log_error(id, "%s", sentence);
	return preflight_judge(&facts, 0, sentence, &id) ? -ENOTSUP : 0;
}
