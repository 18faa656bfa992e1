/* SPDX-License-Identifier: Apache-2.0 */
/* hostile-target WHAT SECONDS [FILE]: a program that does what no well-meaning one would, and burns while it does. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096u
#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

NOINLINE void hostile_burn(double seconds);
NOINLINE void hostile_burn(double seconds)
{
	double deadline = seconds_now() + seconds;
	uint64_t x = 9;

	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
}

/* Three pages of text, each with a function of its own and nothing else. */
#define PAGE_OF_TEXT(name)                                                                         \
	__attribute__((noinline, noclone, aligned(4096), section(".text.pages"))) void name(void); \
	void name(void)                                                                            \
	{                                                                                          \
		sink = burn_step(sink + 1);                                                        \
		__asm__ volatile(".skip 3600, 0x90");                                              \
	}
PAGE_OF_TEXT(page_before)
PAGE_OF_TEXT(page_inside)
PAGE_OF_TEXT(page_behind)

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* The kernel splits the mapping in three, and tells profilers nothing of the two outer ones. */
static void split_text(double seconds)
{
	double deadline = seconds_now() + seconds;
	void *page = (void *)((uintptr_t)page_inside & ~(uintptr_t)(PAGE - 1));

	must(mprotect(page, PAGE, PROT_READ) == 0, "mprotect to read");
	must(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0, "mprotect to all");
	while (seconds_now() < deadline) {
		page_before();
		page_inside();
		page_behind();
	}
}

/* push %rbp; mov %rsp,%rbp; mov $0x200000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const uint8_t loop_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x20,
				     0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

static void *map_all(int fd, int flags)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);

	must(at != MAP_FAILED, "mmap");
	return at;
}

/* Code where no ELF file is: a device, shared memory, files that are empty or text. */
static void run_odd_mappings(double seconds)
{
	double deadline = seconds_now() + seconds;
	int zero = open("/dev/zero", O_RDWR);
	int memory = memfd_create("odd\nname\xff", 0);
	int empty = memfd_create("empty", 0);
	int shared = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700);
	void *code[4];

	must(zero >= 0 && memory >= 0 && shared >= 0 && ftruncate(memory, PAGE) == 0, "open");
	code[0] = map_all(zero, MAP_PRIVATE);
	code[1] = map_all(zero, MAP_SHARED);
	code[2] = map_all(memory, MAP_SHARED);
	code[3] = shmat(shared, NULL, SHM_EXEC);
	must(code[3] != (void *)-1 && shmctl(shared, IPC_RMID, NULL) == 0, "shmat");
	map_all(empty, MAP_PRIVATE);
	for (int i = 0; i < 4; i++)
		memcpy(code[i], loop_code, sizeof(loop_code));
	while (seconds_now() < deadline)
		for (int i = 0; i < 4; i++)
			((void (*)(void))code[i])();
}

/* Has a file mapped that changes its size and its bytes all the time. */
static void rewrite_mapped(double seconds, const char *path)
{
	static uint8_t image[1 << 16];
	double deadline = seconds_now() + seconds;
	int fd = open(path, O_RDWR);
	ssize_t size = fd < 0 ? -1 : read(fd, image, sizeof(image));

	must(size > 64, path);
	must(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
	for (unsigned round = 0; seconds_now() < deadline; round++) {
		must(ftruncate(fd, round % 3 ? (off_t)1 << 40 : round % size) == 0, "ftruncate");
		for (int i = 0; i < 64; i++)
			image[(round * 7919 + (unsigned)i * 131) % (size_t)size] ^= (uint8_t)round;
		must(pwrite(fd, image, (size_t)size, 0) == size, "pwrite");
		hostile_burn(0.002);
	}
}

static void map_flood(double seconds, const char *path)
{
	double deadline = seconds_now() + seconds;
	int fd = open(path, O_RDONLY);

	must(fd >= 0, path);
	while (seconds_now() < deadline)
		munmap(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), PAGE);
	hostile_burn(0.2);
}

static void *outlive(void *seconds)
{
	usleep(200000); /* the leader is gone by then */
	hostile_burn(*(double *)seconds);
	exit(0);
}

static void end_leader(double *seconds)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, outlive, seconds) == 0, "pthread_create");
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	static double seconds;
	const char *what = argc > 2 ? argv[1] : "";

	seconds = argc > 2 ? atof(argv[2]) : 0;
	if (!strcmp(what, "burn"))
		hostile_burn(seconds);
	else if (!strcmp(what, "split"))
		split_text(seconds);
	else if (!strcmp(what, "odd"))
		run_odd_mappings(seconds);
	else if (!strcmp(what, "outlive"))
		end_leader(&seconds);
	else if (!strcmp(what, "rewrite") && argc > 3)
		rewrite_mapped(seconds, argv[3]);
	else if (!strcmp(what, "flood") && argc > 3)
		map_flood(seconds, argv[3]);
	else
		return 2;
	return 0;
}
