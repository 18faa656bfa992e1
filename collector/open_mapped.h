/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_mapped: the one way in which the collector opens a target's file:
 * /proc/PID/map_files/START-END, which leads to the mapped inode whatever became of its path. In
 * two steps: look (O_PATH: the file's own code does not run), then open for reading.
 */
#ifndef BELFRY_COLLECTOR_OPEN_MAPPED_H
#define BELFRY_COLLECTOR_OPEN_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/broker.h"
#include "collector/mount_types.h"

struct file_identity {
	uint64_t device; /* st_dev */
	uint64_t inode;
	uint64_t size;
	uint64_t change_time; /* ns since 1970 */
	bool layered; /* on overlayfs: its mappings can show other numbers. Known once it was
			 opened. */
};

enum open_result {
	OPEN_OK = 0,
	OPEN_GONE,	  /* the process has gone, or has no mapping of exactly this range */
	OPEN_DENIED,	  /* a capability is missing */
	OPEN_FAILED,	  /* another error */
	OPEN_NOT_REGULAR, /* a device, a socket ... */
	OPEN_OTHER_FILE,  /* the range maps another file than was told */
	OPEN_REMOTE,	  /* on FUSE, a network file system or one that cannot be told */
	OPEN_RESULTS
};

struct mapped_range {
	pid_t pid;
	uint64_t start;
	uint64_t end;
};

#define OPEN_STORY_MAX 160

/*
 * btrfs gives a mapping another device than stat gives its file; overlayfs another inode number as
 * well. Such a file is the mapped one all the same, and is known by what stat says.
 */
bool mapped_is_expected(const struct file_identity *id, const struct mapped_file *expected);

/* Opens with O_PATH and tells the identity; *path_fd is owned by the caller. On failure `story`
 * says what failed on what. */
enum open_result mapped_look(const struct mapped_range *r, const struct mapped_file *expected,
			     int *path_fd, struct file_identity *id, char story[OPEN_STORY_MAX]);

/* Opens for reading what `path_fd` stands for; *fd is owned by the caller. */
enum open_result mapped_open(const struct mapped_range *r, const struct mapped_file *expected,
			     int path_fd, struct mount_types *mounts, bool allow_remote, int *fd,
			     struct file_identity *id, char story[OPEN_STORY_MAX]);

#endif
