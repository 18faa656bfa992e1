/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_labels: what the text of /proc/PID/cgroup (cgroups(7)) says about where a process belongs: its cgroup, its
 * container, its systemd unit. The names in it are chosen by whoever made the cgroup.
 */
#ifndef BELFRY_SYMBOLIZER_CGROUP_LABELS_H
#define BELFRY_SYMBOLIZER_CGROUP_LABELS_H

#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH_MAX 512
#define CONTAINER_ID_MAX 80
#define SYSTEMD_UNIT_MAX 256

struct cgroup_labels {
	char path[CGROUP_PATH_MAX];          /* "" where the text says nothing */
	char container_id[CONTAINER_ID_MAX]; /* "" where it is in no container that we know */
	char systemd_unit[SYSTEMD_UNIT_MAX]; /* "" where it is in no unit */
};

/* Never fails: a line that cannot be read is passed over. */
void cgroup_labels_read(const void *text, size_t len, struct cgroup_labels *out);

#endif
