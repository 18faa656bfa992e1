/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup: from what an operator calls a cgroup to the kernel's number of it. */
#ifndef BELFRY_COLLECTOR_CGROUP_H
#define BELFRY_COLLECTOR_CGROUP_H

#include <stdint.h>

/*
 * `text` is a number, a directory of a cgroup v2 file system, or a path below its root
 * ("/system.slice/x.service"). Returns 0, or -ENOENT when there is no such cgroup.
 */
int cgroup_id(const char *text, uint64_t *out);

#endif
