/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/seqpacket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int address_of(const char *path, struct sockaddr_un *address)
{
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, len + 1);
	return 0;
}

static int fail(int fd)
{
	int error = -errno;

	close(fd);
	return error;
}

int seqpacket_listen(const char *path)
{
	struct sockaddr_un address;
	int error = address_of(path, &address);
	int fd;

	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The directory is ours alone, so what stands there is a leftover of our own past life. */
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(path, 0660) != 0 || listen(fd, 4) != 0)
		return fail(fd);
	return fd;
}

int seqpacket_connect(const char *path)
{
	struct sockaddr_un address;
	int error = address_of(path, &address);
	int fd;

	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return fail(fd);
	return fd;
}

int seqpacket_peer(int fd, uid_t *uid, pid_t *pid)
{
	struct ucred credentials;
	socklen_t len = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len) != 0)
		return -errno;
	*uid = credentials.uid;
	*pid = credentials.pid;
	return 0;
}

int seqpacket_send(int fd, const void *data, size_t len, int pass_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (pass_fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &pass_fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do {
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == len ? 0 : -EMSGSIZE;
}

/* Takes the descriptors out of a received message: keeps one, closes any other. */
static int take_descriptors(struct msghdr *message, int *kept)
{
	int count = 0;

	*kept = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t fds;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < fds; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (count++ == 0)
				*kept = fd;
			else
				close(fd);
		}
	}
	return count;
}

ssize_t seqpacket_receive(int fd, void *data, size_t size, int *got_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { .iov_base = data, .iov_len = size };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		/* Without room for control data the kernel drops descriptors and sets MSG_CTRUNC. */
		.msg_control = got_fd ? &control : NULL,
		.msg_controllen = got_fd ? sizeof(control) : 0,
	};
	ssize_t len;
	int kept = -1;
	int fds = 0;

	do {
		len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (got_fd)
		fds = take_descriptors(&message, &kept);
	/* Padding of the control space lets a second descriptor in, so the count is checked as well. */
	if (fds > 1 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		if (kept >= 0)
			close(kept);
		if (got_fd)
			*got_fd = -1;
		return -EMSGSIZE;
	}
	if (got_fd)
		*got_fd = kept;
	return len;
}
