/* SPDX-License-Identifier: Apache-2.0 */
/* The service manager's protocol is one datagram (sd_notify(3)): not worth a library in a
 * privileged process. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"

/* Set once by notify_open() before anything else runs, as the log's role name is. */
static int notify_fd = -1;

int notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len;

	if (!path)
		return 0;
	len = strlen(path);
	if (len < 2 || len >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@')) {
		log_error("notify", "NOTIFY_SOCKET=%s is no socket path", path);
		return -EINVAL;
	}
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify_fd < 0 ||
	    connect(notify_fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) != 0) {
		log_error("notify", "%s: %s", path, strerror(errno));
		return -errno;
	}
	unsetenv("NOTIFY_SOCKET");
	return 0;
}

void notify_send(const char *state)
{
	ssize_t written;

	if (notify_fd < 0)
		return;
	written = write(notify_fd, state, strlen(state));
	(void)written; /* a service manager that does not listen changes nothing */
}
