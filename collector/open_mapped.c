/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/open_mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collector/clock.h"

__attribute__((format(printf, 3, 4))) static void
tell(char story[OPEN_STORY_MAX], const struct mapped_range *r, const char *format, ...)
{
	int n = snprintf(story, OPEN_STORY_MAX, "map_files %d/%" PRIx64 "-%" PRIx64 ": ",
			 (int)r->pid, r->start, r->end);
	va_list args;

	va_start(args, format);
	vsnprintf(story + n, OPEN_STORY_MAX - (size_t)n, format, args);
	va_end(args);
}

static enum open_result tell_errno(char story[OPEN_STORY_MAX], const struct mapped_range *r,
				   int error)
{
	switch (error) {
	case ENOENT:
	case ESRCH:
		tell(story, r, "process or mapping is gone");
		return OPEN_GONE;
	case EPERM: /* the links themselves are guarded by it since 5.9 */
		tell(story, r, "permission denied (needs CAP_CHECKPOINT_RESTORE)");
		return OPEN_DENIED;
	case EACCES:
		tell(story, r, "permission denied (needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH)");
		return OPEN_DENIED;
	default:
		tell(story, r, "%s", strerror(error));
		return OPEN_FAILED;
	}
}

static bool same_device(const struct file_identity *id, const struct mapped_file *expected)
{
	return major(id->device) == expected->device_major &&
	       minor(id->device) == expected->device_minor;
}

bool mapped_is_expected(const struct file_identity *id, const struct mapped_file *expected)
{
	return id->inode == expected->inode || (id->layered && !same_device(id, expected));
}

static void tell_other(char story[OPEN_STORY_MAX], const struct mapped_range *r,
		       const struct file_identity *id, const struct mapped_file *expected)
{
	tell(story, r, "maps inode %" PRIu64 ", not %" PRIu64, id->inode, expected->inode);
}

enum open_result mapped_look(const struct mapped_range *r, const struct mapped_file *expected,
			     int *path_fd, struct file_identity *id, char story[OPEN_STORY_MAX])
{
	char path[96];
	struct statx st;
	int fd;

	/* From numbers, as the kernel prints them: names in /proc/PID/maps are padded with zeros.
	 */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)r->pid,
		 r->start, r->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return tell_errno(story, r, errno);
	/* Not synchronized: a FUSE server is not asked, since it need not answer. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_INO | STATX_SIZE | STATX_CTIME, &st) != 0) {
		int error = errno;

		close(fd);
		return tell_errno(story, r, error);
	}
	if (!S_ISREG(st.stx_mode)) {
		tell(story, r, "not a regular file (mode 0%o)", st.stx_mode);
		close(fd);
		return OPEN_NOT_REGULAR;
	}
	*id = (struct file_identity){
		.device = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino,
		.size = st.stx_size,
		.change_time = (uint64_t)st.stx_ctime.tv_sec * NSEC_PER_SEC + st.stx_ctime.tv_nsec,
	};
	/* On another device than expected, mapped_open() decides: it knows the type of the file
	 * system. */
	if (same_device(id, expected) && id->inode != expected->inode) {
		tell_other(story, r, id, expected);
		close(fd);
		return OPEN_OTHER_FILE;
	}
	*path_fd = fd;
	return OPEN_OK;
}

enum open_result mapped_open(const struct mapped_range *r, const struct mapped_file *expected,
			     int path_fd, struct mount_types *mounts, bool allow_remote, int *fd,
			     struct file_identity *id, char story[OPEN_STORY_MAX])
{
	char type[PROC_MOUNT_TYPE_LEN];
	char path[48];
	struct stat st;

	if (mount_types_judge(mounts, r->pid, path_fd, major(id->device), minor(id->device),
			      expected->device_major, expected->device_minor,
			      type) != MOUNT_LOCAL &&
	    !allow_remote) {
		tell(story, r, "file system could block for ever: %s (see --allow-remote-files)",
		     type);
		return OPEN_REMOTE;
	}
	id->layered = strcmp(type, "overlay") == 0;
	if (!mapped_is_expected(id, expected)) {
		tell_other(story, r, id, expected);
		return OPEN_OTHER_FILE;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	/* O_NONBLOCK: a target can hold a lease on its file, which would make us wait for its end.
	 */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return tell_errno(story, r, errno);
	if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		tell(story, r, "not a regular file any more");
		close(*fd);
		return OPEN_NOT_REGULAR;
	}
	id->device = st.st_dev;
	id->inode = st.st_ino;
	id->size = (uint64_t)st.st_size;
	id->change_time = (uint64_t)st.st_ctim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_ctim.tv_nsec;
	return OPEN_OK;
}
