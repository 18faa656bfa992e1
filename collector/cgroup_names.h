/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_names: the text of /proc/PID/cgroup by cgroup id, so that a process which is gone before
 * it could be read still has a name for its cgroup. Only for hosts with the one hierarchy of cgroup
 * v2: elsewhere one id stands for many texts.
 */
#ifndef BELFRY_COLLECTOR_CGROUP_NAMES_H
#define BELFRY_COLLECTOR_CGROUP_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "ipc/sample_channel.h"

struct cgroup_names;

int cgroup_names_new(struct cgroup_names **out);

/*
 * The text of a process's cgroups, as raw bytes, valid until the next call; *len 0 where it cannot
 * be had. `alive` says whether there is a point in reading it.
 */
const uint8_t *cgroup_names_get(struct cgroup_names *c, pid_t pid, bool alive, uint64_t cgroup_id,
				uint16_t *len);

void cgroup_names_free(struct cgroup_names *c);

#endif
