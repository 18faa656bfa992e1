/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"

int confine_report(const struct policy *p, const char *process, int landlock_abi, uint64_t given_up,
		   bool old_kernel)
{
	char text[256];
	int len = snprintf(text, sizeof(text),
			   "role=%s\nprocess=%s\nlandlock_abi=%d\ngiven_up=0x%" PRIx64 "\nold_kernel=%d\n",
			   p->role, process, landlock_abi, given_up, old_kernel);
	int fd = memfd_create("belfry-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* Stays open for the life of the process: belfry audit finds it in /proc/PID/fd. */
	if (fd < 0 || len < 0 || write(fd, text, (size_t)len) != len ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
		int error = -errno;

		log_error("report", "memfd for belfry audit: %s", strerror(errno));
		return error;
	}
	return 0;
}
