/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/audit_sockets.h"
#include "cli/terminal_text.h"

#define GONE_SUFFIX " (deleted)"
#define GROW	    64

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Access mode from /proc/PID/fdinfo/FD: "read", "write", "path". */
static const char *access_of(pid_t pid, int fd)
{
	char path[64];
	char line[128];
	unsigned int flags = O_RDWR; /* unreadable: assume the most */
	FILE *info;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	info = fopen(path, "re");
	if (!info)
		return "write";
	while (fgets(line, sizeof(line), info))
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	fclose(info);
	if (flags & O_PATH)
		return "path";
	return (flags & O_ACCMODE) == O_RDONLY ? "read" : "write";
}

/* "/memfd:NAME (deleted)" */
static void name_memfd(struct audit_descriptor *d, const char *name)
{
	size_t len = strlen(name);
	size_t suffix = strlen(GONE_SUFFIX);

	if (len >= suffix && strcmp(name + len - suffix, GONE_SUFFIX) == 0)
		len -= suffix;
	snprintf(d->kind, sizeof(d->kind), "memfd:%.*s", (int)len, name);
}

static void name_file(pid_t pid, struct audit_descriptor *d, const char *link, const char *target)
{
	struct statx st;

	/* DONT_SYNC: a file on a server or in FUSE must not make the audit wait. */
	if (statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_TYPE, &st) != 0)
		snprintf(d->kind, sizeof(d->kind), "unknown:%.400s", target);
	else if (S_ISDIR(st.stx_mode))
		snprintf(d->kind, sizeof(d->kind), "folder:%.400s", target);
	else if (!S_ISREG(st.stx_mode))
		snprintf(d->kind, sizeof(d->kind), "device:%.400s", target);
	else
		snprintf(d->kind, sizeof(d->kind), "file-%s:%.400s", access_of(pid, d->fd), target);
}

static void name_descriptor(pid_t pid, struct audit_descriptor *d, const char *link,
			    const char *target)
{
	if (sscanf(target, "socket:[%lu]", &d->socket_inode) == 1)
		snprintf(d->kind, sizeof(d->kind), "socket:other");
	else if (starts_with(target, "pipe:["))
		snprintf(d->kind, sizeof(d->kind), "pipe");
	else if (starts_with(target, "anon_inode:"))
		snprintf(d->kind, sizeof(d->kind), "anon:%.400s", target + strlen("anon_inode:"));
	/* Its own are writable. Read-only ones came from a profiled process that runs a memfd,
	 * named as it likes. */
	else if (starts_with(target, "/memfd:") && strcmp(access_of(pid, d->fd), "write") == 0)
		name_memfd(d, target + strlen("/memfd:"));
	else
		name_file(pid, d, link, target);
}

static const char *read_report(const char *link, struct report *r)
{
	uint8_t bytes[REPORT_LENGTH + 1];
	int fd = open(link, O_RDONLY | O_CLOEXEC);
	int seals;
	ssize_t len;

	if (fd < 0)
		return "report cannot be opened";
	seals = fcntl(fd, F_GET_SEALS);
	len = pread(fd, bytes, sizeof(bytes), 0);
	close(fd);
	if (seals != (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		return "report is not sealed";
	return len < 0 ? "report cannot be read" : report_decode(bytes, (uint32_t)len, r);
}

static void take_report(const char *link, struct audit_descriptors *out)
{
	if (out->has_report) {
		out->report_problem = "more than one report";
		return;
	}
	out->report_problem = read_report(link, &out->report);
	out->has_report = true;
}

static int add(pid_t pid, int fd, struct audit_descriptors *out)
{
	struct audit_descriptor *d;
	char link[64];
	char target[PATH_MAX];
	char escaped[TERMINAL_TEXT_MAX(PATH_MAX) + 1];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	len = readlink(link, target, sizeof(target));
	if (len < 0)
		return errno == ENOENT ? 0 : -errno; /* closed meanwhile */
	/* A path is its owner's choice; it will be shown on a terminal. */
	escaped[terminal_text_escape(target, (uint32_t)len, 0, escaped)] = '\0';
	if (out->count == AUDIT_DESCRIPTORS_MAX)
		return -E2BIG;
	if (out->count % GROW == 0) {
		d = realloc(out->list, (out->count + GROW) * sizeof(*d));
		if (!d)
			return -ENOMEM;
		out->list = d;
	}
	d = &out->list[out->count++];
	*d = (struct audit_descriptor){ .fd = fd };
	name_descriptor(pid, d, link, escaped);
	if (strcmp(d->kind, "memfd:" REPORT_NAME) == 0)
		take_report(link, out);
	return 0;
}

int audit_descriptors_read(pid_t pid, struct audit_descriptors *out)
{
	char path[64];
	struct dirent *entry;
	int error = 0;
	DIR *fds;

	*out = (struct audit_descriptors){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	if (!fds)
		return -errno;
	while (!error && (entry = readdir(fds)))
		if (entry->d_name[0] != '.')
			error = add(pid, atoi(entry->d_name), out);
	closedir(fds);
	return error ? error : audit_sockets_name(pid, out);
}

void audit_descriptors_free(struct audit_descriptors *d)
{
	free(d->list);
	d->list = NULL;
	d->count = 0;
}
