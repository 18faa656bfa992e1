/* SPDX-License-Identifier: Apache-2.0 */
/* labels: the series labels of one process's profile, under the names that Prometheus-like stores accept. */
#ifndef BELFRY_SYMBOLIZER_LABELS_H
#define BELFRY_SYMBOLIZER_LABELS_H

#include "ipc/profile_channel.h"
#include "symbolizer/targets.h"

#define LABELS_PROFILE_NAME "belfry_cpu"

/* What is the same for all processes of a host. */
struct host_labels {
	char node[256];
	char kernel_release[128];
};

struct labels {
	struct profile_label items[PROFILE_LABELS_MAX];
	uint32_t count;
	char pid[16];
};

/* Values point into `t` and `h` and stay valid as long as they do. Empty ones are left out. */
void labels_of(struct labels *l, const struct target *t, const struct host_labels *h);

#endif
