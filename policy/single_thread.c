/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/single_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ipc/log.h"

/* "." and "..", as for any directory; the kernel adds one for each thread. */
#define LINKS_OF_EMPTY_TASK_DIRECTORY 2

int single_thread_require(const char *step)
{
	struct stat st;

	/* stat and not a listing: Landlock, once in force, forbids to open but not to look. */
	if (stat("/proc/self/task", &st) != 0) {
		int error = errno;

		log_error("threads", "%s: cannot count threads, /proc/self/task: %s", step,
			  strerror(error));
		return -error;
	}
	if (st.st_nlink == LINKS_OF_EMPTY_TASK_DIRECTORY + 1)
		return 0;
	log_error("threads", "%s: refused with %lu threads, the others would keep their rights",
		  step, (unsigned long)st.st_nlink - LINKS_OF_EMPTY_TASK_DIRECTORY);
	return -EBUSY;
}
