/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_version: which upstream release the running kernel is. Distributions put an ABI number
 * where the patch level was ("6.1.0-57-amd64" is Debian's 6.1.192), and say the real one elsewhere.
 */
#ifndef BELFRY_COLLECTOR_KERNEL_VERSION_H
#define BELFRY_COLLECTOR_KERNEL_VERSION_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_version {
	uint32_t major;
	uint32_t minor;
	uint32_t patch;
};

/*
 * `release` and `build` are uname(2)'s release and version; `signature` is the text of Ubuntu's
 * /proc/version_signature, or NULL. Returns false when the release is not a version at all.
 */
bool kernel_version_parse(const char *release, const char *build, const char *signature,
			  struct kernel_version *out);

/* Of the running kernel. Returns 0 or -errno. */
int kernel_version_running(struct kernel_version *out);

bool kernel_version_before(const struct kernel_version *v, uint32_t major, uint32_t minor,
			   uint32_t patch);

#endif
