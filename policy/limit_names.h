/* SPDX-License-Identifier: Apache-2.0 */
/* limit_names: resource limits by their name in a policy, their number, and their row in
 * /proc/PID/limits. */
#ifndef BELFRY_POLICY_LIMIT_NAMES_H
#define BELFRY_POLICY_LIMIT_NAMES_H

#include <sys/resource.h>

struct limit_name {
	const char *name;
	int resource;
	const char *proc_row;
};

static const struct limit_name limit_names[] = {
	{ "AS", RLIMIT_AS, "Max address space" },
	{ "CORE", RLIMIT_CORE, "Max core file size" },
	{ "CPU", RLIMIT_CPU, "Max cpu time" },
	{ "DATA", RLIMIT_DATA, "Max data size" },
	{ "FSIZE", RLIMIT_FSIZE, "Max file size" },
	{ "MEMLOCK", RLIMIT_MEMLOCK, "Max locked memory" },
	{ "MSGQUEUE", RLIMIT_MSGQUEUE, "Max msgqueue size" },
	{ "NOFILE", RLIMIT_NOFILE, "Max open files" },
	{ "NPROC", RLIMIT_NPROC, "Max processes" },
	{ "RTPRIO", RLIMIT_RTPRIO, "Max realtime priority" },
	{ "SIGPENDING", RLIMIT_SIGPENDING, "Max pending signals" },
	{ "STACK", RLIMIT_STACK, "Max stack size" },
};

#define LIMIT_NAME_COUNT (sizeof(limit_names) / sizeof(limit_names[0]))

#endif
