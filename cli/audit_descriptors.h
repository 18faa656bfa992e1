/* SPDX-License-Identifier: Apache-2.0 */
/* audit_descriptors: the open descriptors of a process, each named by its kind as a policy's
 * descriptor lines name them. */
#ifndef BELFRY_CLI_AUDIT_DESCRIPTORS_H
#define BELFRY_CLI_AUDIT_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/report.h"

#define AUDIT_KIND_MAX	      512
#define AUDIT_DESCRIPTORS_MAX 65536

struct audit_descriptor {
	int fd;
	uint64_t socket_inode;	   /* 0 = not a socket */
	char kind[AUDIT_KIND_MAX]; /* fit for a terminal */
};

struct audit_descriptors {
	struct audit_descriptor *list; /* owned */
	uint32_t count;
	bool has_report;
	struct report report;
	const char *report_problem; /* constant sentence, NULL = fine or absent */
};

/* Reads /proc/PID/fd and the socket tables of its network namespace. Returns 0 or -errno. */
int audit_descriptors_read(pid_t pid, struct audit_descriptors *out);

void audit_descriptors_free(struct audit_descriptors *d);

#endif
