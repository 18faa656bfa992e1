// SPDX-License-Identifier: Apache-2.0
#include "cli/inherited_fds.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

bool inherited_streams_fill(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The wrong way round: using it stays the error that it was. */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	}
	return true;
}

void inherited_fds_close(int *keep, uint32_t count)
{
	unsigned int first = 3;

	if (count)
		qsort(keep, count, sizeof(*keep), compare);
	for (uint32_t i = 0; i < count; i++) {
		if (keep[i] < (int)first)
			continue;
		if ((unsigned int)keep[i] > first)
			close_range(first, (unsigned int)keep[i] - 1, 0);
		first = (unsigned int)keep[i] + 1;
	}
	close_range(first, ~0u, 0);
}

void inherited_signals_reset(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void inherited_input_close(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		close(null);
	} else {
		close(STDIN_FILENO);
	}
}
