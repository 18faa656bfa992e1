/* SPDX-License-Identifier: Apache-2.0 */
/* syscall-heavy SECONDS: reads /dev/zero in large pieces; nearly all its time is spent under the read() system call. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

static char buffer[1 << 20];

__attribute__((noinline, noclone)) ssize_t read_zeros(int fd);
__attribute__((noinline, noclone)) ssize_t read_zeros(int fd)
{
	ssize_t total = 0;

	for (int i = 0; i < 16; i++)
		total += read(fd, buffer, sizeof(buffer));
	return total;
}

int main(int argc, char **argv)
{
	double deadline = seconds_now() + (argc > 1 ? atof(argv[1]) : 3.0);
	int fd = open("/dev/zero", O_RDONLY);

	while (seconds_now() < deadline)
		if (read_zeros(fd) <= 0)
			return 1;
	return 0;
}
