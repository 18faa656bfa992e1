/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous-code SECONDS: spins in code written to anonymous memory, as a JIT does: no file, no symbol. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "burn.h"

/* void spin(long n): push %rbp; mov %rsp,%rbp; dec %rdi; jne -5; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf,
				      0x75, 0xfb, 0x5d, 0xc3 };

__attribute__((noinline, noclone)) void call_code(void (*spin)(long), double deadline);
__attribute__((noinline, noclone)) void call_code(void (*spin)(long), double deadline)
{
	while (seconds_now() < deadline)
		spin(1000000);
}

int main(int argc, char **argv)
{
	double deadline = seconds_now() + (argc > 1 ? atof(argv[1]) : 3.0);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*spin)(long);

	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
		return 1;
	*(void **)&spin = page;
	call_code(spin, deadline);
	return 0;
}
