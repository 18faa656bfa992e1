/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/threads.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "ipc/log.h"

int threads_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	if (!tasks)
		return -errno;
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count - 2; /* . and .. */
}

int threads_require_one(const char *step)
{
	int count = threads_count();

	if (count == 1)
		return 0;
	if (count < 0) {
		log_error("threads", "%s: /proc/self/task: %s", step, strerror(-count));
		return count;
	}
	log_error("threads", "%s: %d threads run already, and it would reach only one of them", step, count);
	return -EBUSY;
}
