/* SPDX-License-Identifier: Apache-2.0 */
/* syscall-heavy SECONDS: reads /dev/zero in large pieces; nearly all its time is spent under the read() system call. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

static char buffer[1 << 20];

/* Without libc's read(), which has no frame pointer: a walk would miss its caller. */
static inline __attribute__((always_inline)) ssize_t read_directly(int fd)
{
#ifdef __x86_64__
	ssize_t n;

	__asm__ volatile("syscall"
			 : "=a"(n)
			 : "0"(0L), "D"((long)fd), "S"(buffer), "d"(sizeof(buffer))
			 : "rcx", "r11", "memory");
	return n;
#else
	return read(fd, buffer, sizeof(buffer));
#endif
}

__attribute__((noinline, noclone)) ssize_t read_zeros(int fd);
__attribute__((noinline, noclone)) ssize_t read_zeros(int fd)
{
	ssize_t total = 0;

	for (int i = 0; i < 16; i++)
		total += read_directly(fd);
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
