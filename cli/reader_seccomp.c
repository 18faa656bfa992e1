// SPDX-License-Identifier: Apache-2.0
#include "cli/reader_seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Sanitizers need more calls than can be foreseen; what they find is worth more than the filter. */
#if defined(__SANITIZE_ADDRESS__)
#define FILTERED 0
#else
#define FILTERED 1
#endif

static const char *const calls[] = {
	/* waiting for roles, command, signals */
	"poll",
	"ppoll",
	"restart_syscall",
	"wait4",
	"recvmsg",
	"sendmsg",
	"recvfrom",
	"sendto",
	"rt_sigreturn",
	"rt_sigaction",
	"rt_sigprocmask",
	"clock_gettime",
	"gettimeofday",
	"clock_nanosleep",
	"nanosleep",
	/* reading profiles, writing to open descriptors */
	"read",
	"write",
	"writev",
	"pread64",
	"lseek",
	"close",
	"dup",
	"fcntl",
	"ftruncate",
	"fstat",
	"newfstatat",
	"statx",
	"getdents64",
	"faccessat",
	"faccessat2",
	"fadvise64",
	"openat2",
	"unlinkat",
	/* memory, and the end */
	"brk",
	"mmap",
	"munmap",
	"mremap",
	"madvise",
	"futex",
	"getrandom",
	"getpid",
	"gettid",
	"exit",
	"exit_group",
};

static int allow(scmp_filter_ctx filter, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	/* Architectures lack some of the older calls. */
	return number == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

/* open() for reading only, and of ioctl() what isatty() does. */
static int allow_narrowed(scmp_filter_ctx filter)
{
	const unsigned long writing = O_ACCMODE | O_CREAT | O_TRUNC;
	const struct scmp_arg_cmp reading_only = { .arg = 2,
						   .op = SCMP_CMP_MASKED_EQ,
						   .datum_a = writing,
						   .datum_b = O_RDONLY };
	const struct scmp_arg_cmp tcgets = { .arg = 1, .op = SCMP_CMP_EQ, .datum_a = 0x5401 };
	int error;

	error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW,
				       seccomp_syscall_resolve_name("openat"), 1, &reading_only);
	if (error)
		return error;
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name("ioctl"),
				      1, &tcgets);
}

int reader_seccomp(void)
{
	scmp_filter_ctx filter;
	int error = 0;

	if (!FILTERED)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* EPERM, not death: a call that was overlooked must not cost a recording that is finished.
	 */
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !error; i++)
		error = allow(filter, calls[i]);
	if (!error)
		error = allow_narrowed(filter);
	if (!error)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}
