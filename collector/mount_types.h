/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_types: whether the file behind an O_PATH descriptor lies on a file system of this host, or
 * on one that another process or host serves and that can block for ever. Answered from mount lists
 * alone: the file system is not asked.
 */
#ifndef BELFRY_COLLECTOR_MOUNT_TYPES_H
#define BELFRY_COLLECTOR_MOUNT_TYPES_H

#include <stdint.h>
#include <sys/types.h>

#include "collector/procfs.h"

struct mount_types;

enum mount_verdict {
	MOUNT_LOCAL = 0,
	MOUNT_REMOTE,
	MOUNT_UNKNOWN, /* in no list, and without a device of its own: could be anything */
};

int mount_types_new(struct mount_types **out);

/*
 * `path_fd`: O_PATH descriptor of a file that `pid` has mapped. `device_major`/`device_minor`: what
 * statx says of it; `below_major`/`below_minor`: what the mapping says, which on overlayfs is the
 * layer below. Writes the type's name to `type`.
 */
enum mount_verdict mount_types_judge(struct mount_types *m, pid_t pid, int path_fd,
				     uint32_t device_major, uint32_t device_minor,
				     uint32_t below_major, uint32_t below_minor,
				     char type[PROC_MOUNT_TYPE_LEN]);

void mount_types_free(struct mount_types *m);

#endif
