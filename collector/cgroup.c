/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* The id is the inode number of the cgroup's directory (cgroup v2, 64-bit kernels since 5.5). */
static int id_of_directory(const char *prefix, const char *path, uint64_t *out)
{
	char full[PATH_MAX];
	struct statfs fs;
	struct stat st;

	if ((size_t)snprintf(full, sizeof(full), "%s/%s", prefix, path) >= sizeof(full))
		return -ENAMETOOLONG;
	if (statfs(full, &fs) != 0 || fs.f_type != CGROUP2_SUPER_MAGIC || stat(full, &st) != 0)
		return -ENOENT;
	*out = st.st_ino;
	return 0;
}

int cgroup_id(const char *text, uint64_t *out)
{
	/* Unified hierarchy; hybrid hierarchy; or the path is whole already. */
	static const char *const prefixes[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "" };
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
		return 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (id_of_directory(prefixes[i], text, out) == 0)
			return 0;
	}
	return -ENOENT;
}
