/* SPDX-License-Identifier: Apache-2.0 */
/* load: phase P1, everything that needs the rights that the collector starts with. */
#ifndef BELFRY_COLLECTOR_LOAD_H
#define BELFRY_COLLECTOR_LOAD_H

#include <stdint.h>
#include <sys/types.h>

#include "collector/kernel_version.h"
#include "collector/loop.h"
#include "collector/options.h"

/* What the phases hand on. */
struct collector {
	struct options options;
	struct loop loop;
	struct kernel_version kernel;
	uint64_t stream_id;
	uid_t symbolizer_uid;
	char samples_path[100];
	char files_path[100];
};

/*
 * Pre-flight, sampler, filters, /proc/kallsyms, clock and side-band events (opened disabled), the
 * modules between them. Needs CAP_BPF, CAP_PERFMON and CAP_SYSLOG. Returns 0 or -errno (logged).
 */
int load(struct collector *c);

#endif
