/* SPDX-License-Identifier: Apache-2.0 */
/* constants: names that a policy's conditions may use, so that no line carries a bare number. */
#ifndef BELFRY_POLICY_CONSTANTS_H
#define BELFRY_POLICY_CONSTANTS_H

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct policy_constant {
	const char *name;
	uint64_t value;
};

#define CONSTANT(name)                                                                             \
	{                                                                                          \
#name, (uint64_t)(name)                                                            \
	}

static const struct policy_constant policy_constants[] = {
	/* open flags */
	CONSTANT(O_ACCMODE),
	CONSTANT(O_RDONLY),
	CONSTANT(O_WRONLY),
	CONSTANT(O_RDWR),
	CONSTANT(O_CREAT),
	CONSTANT(O_EXCL),
	CONSTANT(O_TRUNC),
	CONSTANT(O_APPEND),
	CONSTANT(O_DIRECTORY),
	CONSTANT(O_NOFOLLOW),
	CONSTANT(O_PATH),
	/* sockets */
	CONSTANT(AF_UNIX),
	CONSTANT(AF_INET),
	CONSTANT(AF_INET6),
	CONSTANT(SOCK_STREAM),
	CONSTANT(SOCK_SEQPACKET),
	CONSTANT(SOL_SOCKET),
	CONSTANT(SO_PEERCRED),
	CONSTANT(SO_ERROR),
	/* memory */
	CONSTANT(PROT_READ),
	CONSTANT(PROT_WRITE),
	CONSTANT(PROT_EXEC),
	CONSTANT(MAP_SHARED),
	CONSTANT(MAP_PRIVATE),
	CONSTANT(MAP_ANONYMOUS),
	CONSTANT(MADV_DONTNEED),
	CONSTANT(MADV_DONTFORK),
	/* bpf commands that act on maps which are already there */
	CONSTANT(BPF_MAP_LOOKUP_ELEM),
	CONSTANT(BPF_MAP_UPDATE_ELEM),
	CONSTANT(BPF_MAP_DELETE_ELEM),
	CONSTANT(BPF_MAP_GET_NEXT_KEY),
	CONSTANT(BPF_MAP_LOOKUP_BATCH),
	CONSTANT(BPF_MAP_UPDATE_BATCH),
	/* perf events */
	CONSTANT(PERF_EVENT_IOC_ENABLE),
	CONSTANT(PERF_EVENT_IOC_DISABLE),
	CONSTANT(PERF_EVENT_IOC_SET_BPF),
	CONSTANT(PERF_EVENT_IOC_SET_OUTPUT),
	CONSTANT(PERF_EVENT_IOC_ID),
	/* fcntl commands */
	CONSTANT(F_GETFD),
	CONSTANT(F_SETFD),
	CONSTANT(F_GETFL),
	CONSTANT(F_SETFL),
	CONSTANT(F_DUPFD_CLOEXEC),
	CONSTANT(F_ADD_SEALS),
	CONSTANT(F_GET_SEALS),
	/* processes */
	CONSTANT(PR_SET_NAME),
	CONSTANT(PR_SET_PDEATHSIG),
	CONSTANT(PR_SET_DUMPABLE),
	CONSTANT(PR_GET_DUMPABLE),
	CONSTANT(PR_GET_NO_NEW_PRIVS),
	CONSTANT(CLONE_CHILD_SETTID),
	CONSTANT(CLONE_CHILD_CLEARTID),
	CONSTANT(SIGCHLD),
	CONSTANT(SIGKILL),
	CONSTANT(FUTEX_WAKE),
	CONSTANT(RLIMIT_CPU),
	CONSTANT(RLIMIT_AS),
	CONSTANT(SECCOMP_SET_MODE_STRICT),
	CONSTANT(SECCOMP_SET_MODE_FILTER),
	CONSTANT(SECCOMP_GET_ACTION_AVAIL),
	CONSTANT(SECCOMP_GET_NOTIF_SIZES),
};

#undef CONSTANT

#define POLICY_CONSTANT_COUNT (sizeof(policy_constants) / sizeof(policy_constants[0]))

#endif
