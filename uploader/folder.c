// SPDX-License-Identifier: Apache-2.0
#include "uploader/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/log.h"

#define FOLDER_MODE  0750
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int make_sink(const char *path, uid_t uid, gid_t gid)
{
	int error;
	int fd;

	if (mkdir(path, FOLDER_MODE) < 0)
		return -errno;
	fd = open(path, FOLDER_FLAGS);
	if (fd < 0)
		return -errno;
	if (geteuid() != 0 || fchown(fd, uid, gid) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int folder_open_sink(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;
	int fd = open(path, FOLDER_FLAGS);

	if (fd < 0)
		fd = errno == ENOENT ? make_sink(path, uid, gid) : -errno;
	if (fd < 0) {
		log_error("sink_directory", "%s: opening it as a directory, following no link: %s",
			  path, strerror(-fd));
		return fd;
	}
	if (fstat(fd, &st) == 0 && (st.st_mode & S_IWOTH) == 0)
		return fd;
	log_error("sink_directory",
		  "%s: everybody may write to it: refused; take that right away (chmod o-w)", path);
	close(fd);
	return -EPERM;
}

int folder_open(int directory, const char *name)
{
	struct stat st;
	int fd = openat(directory, name, FOLDER_FLAGS);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -EPERM;
}

int folder_make(int directory, const char *name)
{
	int fd = folder_open(directory, name);

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(directory, name, FOLDER_MODE) < 0 && errno != EEXIST)
		return -errno;
	return folder_open(directory, name);
}

DIR *folder_list(int folder)
{
	int fd = openat(folder, ".", FOLDER_FLAGS);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

int64_t folder_file_size(int folder, const char *name)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? (int64_t)st.st_size : -EINVAL;
}
