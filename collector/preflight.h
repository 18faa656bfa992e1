/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight: what this host lacks for sampling, and how to mend it, one sentence each, before
 * anything is tried. It runs with the capabilities with which the load will run, since some answers
 * depend on them.
 */
#ifndef BELFRY_COLLECTOR_PREFLIGHT_H
#define BELFRY_COLLECTOR_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/kernel_version.h"

#define PREFLIGHT_SENTENCE 400

/* What was found out about the host. */
struct preflight_facts {
	struct kernel_version kernel;
	bool little_endian;
	bool btf;		/* /sys/kernel/btf/vmlinux can be read */
	bool confidential;	/* lockdown mode "confidentiality" */
	bool initial_namespace; /* we are in the initial pid namespace, as BPF's process ids are */
	int perf_errno;		/* errno of opening a perf event for a CPU, 0 = it opens */
	int perf_paranoid;	/* kernel.perf_event_paranoid */
	uint64_t memory_locked; /* RLIMIT_MEMLOCK, bytes */
	bool accept_freeze_bug; /* --accept-freeze-bug */
};

void preflight_gather(struct preflight_facts *out, bool accept_freeze_bug);

/*
 * The number of things that stand in the way; the sentence about the nth of them (0, 1 ...) goes to
 * `sentence`, and its stable word to *id.
 */
uint32_t preflight_judge(const struct preflight_facts *f, uint32_t n,
			 char sentence[PREFLIGHT_SENTENCE], const char **id);

/* Gathers, judges and logs. Returns 0, or -ENOTSUP when something stands in the way. */
int preflight(bool accept_freeze_bug, struct kernel_version *kernel);

#endif
