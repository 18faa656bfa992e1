/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Raw calls throughout: a C library's wrapper may refuse, or make another call than the one that is
 * tested. Arguments are such that a call which is wrongly let through does no harm.
 */

static long try_execve(void)
{
	static const char *const arguments[] = { "/nonexistent", NULL };

	/* Not a real program: its own first calls would be killed, which looks as if execve() had
	 * been. */
	return syscall(SYS_execve, arguments[0], arguments, NULL);
}

static long try_socket_inet(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static long try_socket_packet(void)
{
	return syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0);
}

static long try_socket_netlink(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0);
}

static long try_bind(void)
{
	return syscall(SYS_bind, -1, NULL, 0);
}

static long try_ptrace(void)
{
	return syscall(SYS_ptrace, PTRACE_ATTACH, getppid(), NULL, NULL);
}

static long try_mmap_exec(void)
{
	return syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
}

static long try_mprotect_exec(void)
{
	return syscall(SYS_mprotect, NULL, 0, PROT_READ | PROT_EXEC);
}

static long try_openat_write(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0);
}

static long try_openat_create(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/tmp/belfry-selftest", O_RDONLY | O_CREAT | O_EXCL,
		       0600);
}

static long try_openat_read(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
}

static long try_openat2(void)
{
	return syscall(437 /* openat2 */, AT_FDCWD, "/etc/passwd", NULL, 0);
}

static long try_readlinkat(void)
{
	char target[16];

	return syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", target, sizeof(target));
}

static long try_bpf_prog_load(void)
{
	return syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0);
}

static long try_bpf_map_create(void)
{
	return syscall(SYS_bpf, BPF_MAP_CREATE, NULL, 0);
}

static long try_bpf_map_by_id(void)
{
	return syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, NULL, 0);
}

static long try_perf_event_open(void)
{
	return syscall(SYS_perf_event_open, NULL, -1, 0, -1, 0);
}

static long try_clone3(void)
{
	return syscall(435 /* clone3 */, NULL, 0);
}

static long try_fork(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long try_clone_thread(void)
{
	/* A thread must share the address space: refused as invalid where it is let through. */
	return syscall(SYS_clone, CLONE_THREAD, NULL, NULL, NULL, NULL);
}

static long try_clone_user_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long try_ioctl_tty(void)
{
	return syscall(SYS_ioctl, 0, TIOCSTI, "x");
}

static long try_ioctl_perf_filter(void)
{
	return syscall(SYS_ioctl, -1, PERF_EVENT_IOC_SET_FILTER, NULL);
}

static long try_process_vm_readv(void)
{
	return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

static long try_process_vm_writev(void)
{
	return syscall(SYS_process_vm_writev, getppid(), NULL, 0, NULL, 0, 0);
}

static long try_pidfd_getfd(void)
{
	return syscall(438 /* pidfd_getfd */, -1, 0, 0);
}

static long try_kill(void)
{
	return syscall(SYS_kill, getppid(), 0);
}

static long try_mount(void)
{
	return syscall(SYS_mount, NULL, "/nonexistent", "tmpfs", 0, NULL);
}

static long try_setuid(void)
{
	return syscall(SYS_setuid, 0);
}

static long try_setresgid(void)
{
	return syscall(SYS_setresgid, 0, 0, 0);
}

static long try_capset(void)
{
	return syscall(SYS_capset, NULL, NULL);
}

static long try_unshare(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

static long try_setns(void)
{
	return syscall(SYS_setns, -1, 0);
}

static long try_chroot(void)
{
	return syscall(SYS_chroot, "/nonexistent");
}

static long try_init_module(void)
{
	return syscall(SYS_init_module, NULL, 0, "");
}

static long try_io_uring(void)
{
	return syscall(425 /* io_uring_setup */, 0, NULL);
}

static long try_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, 0);
}

static long try_add_key(void)
{
	return syscall(SYS_add_key, NULL, NULL, NULL, 0, 0);
}

static long try_prctl_dumpable(void)
{
	return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long try_fcntl_owner(void)
{
	return syscall(SYS_fcntl, 0, F_SETOWN, 1);
}

static long try_seccomp_listener(void)
{
	return syscall(SYS_seccomp, 1, 8 /* SECCOMP_FILTER_FLAG_NEW_LISTENER */, NULL);
}

#ifdef __x86_64__
/* getpid of the x32 table: the same machine state, other numbers. */
static long try_x32(void)
{
	return syscall(0x40000000 | SYS_getpid);
}

/* getpid of the 32-bit table. In a kernel without 32-bit calls the instruction itself faults. */
static long try_int80(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
	return result;
}
#endif

static const struct attempt {
	const char *name;
	long (*make)(void);
} attempts[] = {
	{ "execve", try_execve },
	{ "socket_inet", try_socket_inet },
	{ "socket_packet", try_socket_packet },
	{ "socket_netlink", try_socket_netlink },
	{ "bind", try_bind },
	{ "ptrace", try_ptrace },
	{ "mmap_exec", try_mmap_exec },
	{ "mprotect_exec", try_mprotect_exec },
	{ "openat_write", try_openat_write },
	{ "openat_create", try_openat_create },
	{ "openat_read", try_openat_read },
	{ "openat2", try_openat2 },
	{ "readlinkat", try_readlinkat },
	{ "bpf_prog_load", try_bpf_prog_load },
	{ "bpf_map_create", try_bpf_map_create },
	{ "bpf_map_by_id", try_bpf_map_by_id },
	{ "perf_event_open", try_perf_event_open },
	{ "clone3", try_clone3 },
	{ "fork", try_fork },
	{ "clone_thread", try_clone_thread },
	{ "clone_user_namespace", try_clone_user_namespace },
	{ "ioctl_tty", try_ioctl_tty },
	{ "ioctl_perf_filter", try_ioctl_perf_filter },
	{ "process_vm_readv", try_process_vm_readv },
	{ "process_vm_writev", try_process_vm_writev },
	{ "pidfd_getfd", try_pidfd_getfd },
	{ "kill", try_kill },
	{ "mount", try_mount },
	{ "setuid", try_setuid },
	{ "setresgid", try_setresgid },
	{ "capset", try_capset },
	{ "unshare", try_unshare },
	{ "setns", try_setns },
	{ "chroot", try_chroot },
	{ "init_module", try_init_module },
	{ "io_uring", try_io_uring },
	{ "userfaultfd", try_userfaultfd },
	{ "add_key", try_add_key },
	{ "prctl_dumpable", try_prctl_dumpable },
	{ "fcntl_owner", try_fcntl_owner },
	{ "seccomp_listener", try_seccomp_listener },
#ifdef __x86_64__
	{ "x32", try_x32 },
	{ "int80", try_int80 },
#endif
};

#define ATTEMPT_COUNT (sizeof(attempts) / sizeof(attempts[0]))

const char *selftest_name(unsigned int i)
{
	return i < ATTEMPT_COUNT ? attempts[i].name : NULL;
}

int selftest_syscall(const char *name)
{
	for (size_t i = 0; i < ATTEMPT_COUNT; i++) {
		if (strcmp(attempts[i].name, name) != 0)
			continue;
		errno = 0;
		return attempts[i].make() < 0 ? errno : 0;
	}
	return -1;
}

void selftest_run(const char *process)
{
	const char *name = getenv("BELFRY_SELFTEST_SYSCALL");
	const char *meant = getenv("BELFRY_SELFTEST_PROCESS");
	char line[128];
	ssize_t written;
	int result;

	if (!name || strcmp(process, meant ? meant : "main") != 0)
		return;
	result = selftest_syscall(name);
	snprintf(line, sizeof(line), "selftest %s errno=%d\n", name, result);
	written = write(STDERR_FILENO, line, strlen(line));
	(void)written;
	_exit(0);
}
