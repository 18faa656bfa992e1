/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/mount_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collector/clock.h"
#include "collector/procfs_read.h"

#define MOUNTINFO_BYTES (4u << 20) /* tens of thousands of mounts; what stands behind is unknown   \
				    */
#define ANSWERS	  64
#define ANSWER_NS (10 * NSEC_PER_SEC) /* mount ids are used again */

/* An answer for a mount, kept for a moment: mount lists of container hosts are long. */
struct answer {
	uint64_t mount_id;
	uint64_t until_ns;
	uint32_t major, minor, below_major, below_minor;
	enum mount_verdict verdict;
	char type[PROC_MOUNT_TYPE_LEN];
};

struct mount_types {
	dev_t memory_device; /* of the kernel's own tmpfs: memfd, SysV shared memory, /dev/zero. In
				no list. */
	struct answer answers[ANSWERS];
	struct proc_lines lines;
};

int mount_types_new(struct mount_types **out)
{
	struct mount_types *m = calloc(1, sizeof(*m));
	int fd = memfd_create("belfry-device", MFD_CLOEXEC);
	struct stat st;

	if (!m || fd < 0 || fstat(fd, &st) != 0) {
		int error = m ? errno : ENOMEM;

		if (fd >= 0)
			close(fd);
		free(m);
		return -error;
	}
	close(fd);
	m->memory_device = st.st_dev;
	*out = m;
	return 0;
}

static int mount_id_of(int path_fd, uint64_t *id)
{
	uint8_t text[PROC_FDINFO_MAX];
	char name[32];
	ssize_t n;

	snprintf(name, sizeof(name), "fdinfo/%d", path_fd);
	n = proc_read(getpid(), name, text, sizeof(text));
	if (n < 0)
		return (int)n;
	return proc_fdinfo_decode(text, (uint32_t)n, id) ? -EBADMSG : 0;
}

/* Looks for the mount, and for whatever else is mounted from the layer's device. True when the
 * mount was found. */
static bool look_in_list(struct mount_types *m, pid_t pid, struct answer *a)
{
	struct proc_mount mount;
	const uint8_t *line;
	uint32_t len;
	bool found = false;

	if (proc_lines_open(&m->lines, pid, "mountinfo", MOUNTINFO_BYTES))
		return false;
	while (proc_lines_next(&m->lines, &line, &len) == 1) {
		if (proc_mount_decode(line, len, &mount))
			continue;
		if (mount.id == a->mount_id) {
			memcpy(a->type, mount.type, sizeof(a->type));
			found = true;
			if (proc_mount_is_remote(&mount))
				a->verdict = MOUNT_REMOTE;
		} else if (mount.device_major == a->below_major &&
			   mount.device_minor == a->below_minor && proc_mount_is_remote(&mount)) {
			memcpy(a->type, mount.type, sizeof(a->type));
			a->verdict = MOUNT_REMOTE;
		}
	}
	proc_lines_close(&m->lines);
	return found;
}

static void judge(struct mount_types *m, pid_t pid, struct answer *a)
{
	a->verdict = MOUNT_LOCAL;
	/* The process's own mounts first; ours, since a file may be mapped that was opened
	 * elsewhere. */
	if (look_in_list(m, pid, a) || a->verdict == MOUNT_REMOTE || look_in_list(m, getpid(), a) ||
	    a->verdict == MOUNT_REMOTE)
		return;
	/* Detached since, or the kernel's own. A block device is a local disk; anonymous device
	 * numbers can be FUSE. */
	strcpy(a->type, "in no mount list");
	if (a->major == 0 && makedev(a->major, a->minor) != m->memory_device)
		a->verdict = MOUNT_UNKNOWN;
}

static bool same_place(const struct answer *a, const struct answer *b)
{
	return a->mount_id == b->mount_id && a->major == b->major && a->minor == b->minor &&
	       a->below_major == b->below_major && a->below_minor == b->below_minor;
}

enum mount_verdict mount_types_judge(struct mount_types *m, pid_t pid, int path_fd,
				     uint32_t device_major, uint32_t device_minor,
				     uint32_t below_major, uint32_t below_minor,
				     char type[PROC_MOUNT_TYPE_LEN])
{
	struct answer wanted = { .major = device_major,
				 .minor = device_minor,
				 .below_major = below_major,
				 .below_minor = below_minor };
	uint64_t now = clock_ns();
	struct answer *a;

	memcpy(type, "unknown", sizeof("unknown"));
	if (mount_id_of(path_fd, &wanted.mount_id))
		return MOUNT_UNKNOWN;
	a = &m->answers[wanted.mount_id % ANSWERS];
	if (!same_place(a, &wanted) || a->until_ns <= now) {
		judge(m, pid, &wanted);
		wanted.until_ns = now + ANSWER_NS;
		*a = wanted;
	}
	memcpy(type, a->type, PROC_MOUNT_TYPE_LEN);
	return a->verdict;
}

void mount_types_free(struct mount_types *m)
{
	free(m);
}
