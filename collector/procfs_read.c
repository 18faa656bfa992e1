/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/procfs_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_text(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_some(int fd, void *out, size_t size)
{
	ssize_t n;

	do
		n = read(fd, out, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int proc_lines_open(struct proc_lines *l, pid_t pid, const char *name, uint64_t bytes)
{
	l->from = l->to = 0;
	l->left = bytes;
	l->skipping = false;
	l->fd = open_text(pid, name);
	return l->fd < 0 ? l->fd : 0;
}

/* Moves the unread bytes to the front and reads more behind them. Returns 1, 0 at the end or
 * -errno. */
static int fill(struct proc_lines *l)
{
	uint32_t room;
	ssize_t n;

	memmove(l->buffer, l->buffer + l->from, l->to - l->from);
	l->to -= l->from;
	l->from = 0;
	if (l->to == sizeof(l->buffer)) {
		l->skipping = true;
		l->to = 0;
	}
	room = sizeof(l->buffer) - l->to;
	if (room > l->left)
		room = (uint32_t)l->left;
	if (room == 0)
		return -EFBIG;
	n = read_some(l->fd, l->buffer + l->to, room);
	if (n <= 0)
		return (int)n;
	l->to += (uint32_t)n;
	l->left -= (uint64_t)n;
	return 1;
}

int proc_lines_next(struct proc_lines *l, const uint8_t **line, uint32_t *len)
{
	for (;;) {
		const uint8_t *from = l->buffer + l->from;
		const uint8_t *end = memchr(from, '\n', l->to - l->from);
		int rc;

		if (end) {
			bool skipped = l->skipping;

			*line = from;
			*len = (uint32_t)(end - from);
			l->from += *len + 1;
			l->skipping = false;
			if (!skipped)
				return 1;
			continue;
		}
		rc = fill(l);
		if (rc <= 0)
			return rc; /* a last line without newline is one that was cut: /proc writes
				      none */
	}
}

void proc_lines_close(struct proc_lines *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

ssize_t proc_read(pid_t pid, const char *name, uint8_t *out, uint32_t size)
{
	uint32_t len = 0;
	ssize_t n = 0;
	int fd = open_text(pid, name);

	if (fd < 0)
		return fd;
	while (len < size) {
		n = read_some(fd, out + len, size - len);
		if (n <= 0)
			break;
		len += (uint32_t)n;
	}
	close(fd);
	return n < 0 ? n : (ssize_t)len;
}

int proc_read_stat(pid_t pid, struct proc_stat *s)
{
	uint8_t text[PROC_STAT_MAX];
	ssize_t n = proc_read(pid, "stat", text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ESRCH;
	return proc_stat_decode(text, (uint32_t)n, s) ? -EBADMSG : 0;
}
