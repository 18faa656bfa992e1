/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock through raw calls: the C library has no wrappers, and the kernel headers of the build
 * host may be older than the host's kernel. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "policy/single_thread.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH      1

#define FS_EXECUTE     (1u << 0)
#define FS_WRITE_FILE  (1u << 1)
#define FS_READ_FILE   (1u << 2)
#define FS_READ_DIR    (1u << 3)
#define FS_REMOVE_DIR  (1u << 4)
#define FS_REMOVE_FILE (1u << 5)
#define FS_MAKE_DIR    (1u << 7)
#define FS_MAKE_REG    (1u << 8)
#define FS_MAKE_SOCK   (1u << 9)
#define FS_REFER       (1u << 13)
#define FS_TRUNCATE    (1u << 14)
#define FS_IOCTL_DEV   (1u << 15)

/* Ordinary files and folders: no device nodes, no links, no sockets, nothing to execute. */
#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_WRITE                                                                                   \
	(FS_READ | FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG | FS_MAKE_DIR | FS_REMOVE_FILE |      \
	 FS_REMOVE_DIR | FS_REFER)
#define FS_FILE_RIGHTS (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attributes {
	uint64_t fs;	 /* ABI 1 */
	uint64_t net;	 /* ABI 4 */
	uint64_t scoped; /* ABI 6 */
};

struct path_beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

/* Every file system right that this ABI knows: what is handled and not allowed is denied. */
static uint64_t fs_rights(int abi)
{
	uint64_t rights = (1u << 13) - 1;

	if (abi >= 2)
		rights |= FS_REFER;
	if (abi >= 3)
		rights |= FS_TRUNCATE;
	if (abi >= 5)
		rights |= FS_IOCTL_DEV;
	return rights;
}

static size_t attributes_size(int abi)
{
	if (abi >= 6)
		return sizeof(struct ruleset_attributes);
	return abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

static int add_path(int ruleset, int abi, const struct landlock_path *path)
{
	struct path_beneath rule = { .parent_fd = path->fd };
	struct stat s;

	if (fstat(path->fd, &s) != 0)
		return -errno;
	if (path->sockets)
		rule.allowed = FS_MAKE_SOCK | FS_REMOVE_FILE;
	else
		rule.allowed = path->write ? FS_WRITE : FS_READ;
	rule.allowed &= fs_rights(abi);
	if (!S_ISDIR(s.st_mode))
		rule.allowed &= FS_FILE_RIGHTS;
	return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0 ? 0
											 : -errno;
}

static int restrict_self(const struct policy *p, int abi, const struct landlock_path *paths,
			 uint32_t count)
{
	struct ruleset_attributes a = {
		.fs = fs_rights(abi),
		.net = abi >= 4 && !p->network ? 3 : 0, /* bind and connect of TCP */
		.scoped = 3, /* abstract sockets and signals stay inside */
	};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &a, attributes_size(abi), 0);
	int error = 0;

	if (ruleset < 0)
		return -errno;
	for (uint32_t i = 0; i < count && !error; i++)
		error = add_path(ruleset, abi, &paths[i]);
	if (!error && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
		error = -errno;
	close(ruleset);
	return error;
}

int landlock_abi(void)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi > 0 ? abi : 0;
}

int confine_landlock(const struct policy *p, const struct landlock_path *paths, uint32_t count)
{
	int abi;
	int error = single_thread_require("Landlock");

	if (error)
		return error;
	if (!p->landlock)
		return 0;
	abi = landlock_abi();
	if (abi < 1) {
		log_info("landlock",
			 "this kernel has no Landlock (or it is not enabled): going on without");
		return 0;
	}
	error = restrict_self(p, abi, paths, count);
	if (error) {
		log_error("landlock", "Landlock ABI %d: %s", abi, strerror(-error));
		return error;
	}
	return abi;
}
