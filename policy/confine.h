/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: the steps by which a role gives up its rights, in the order in which its main() calls
 * them. Each logs what failed on what and returns 0 or -errno; a role that cannot confine itself
 * exits. Capabilities, no_new_privs, Landlock are per thread: confine_* before confine_seccomp()
 * refuse to run when the process has more than one thread.
 */
#ifndef BELFRY_POLICY_CONFINE_H
#define BELFRY_POLICY_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/policy.h"

/* Who a role becomes. From --user/--group (names or numbers), else the policy's own names. */
struct identity {
	uid_t uid;
	gid_t gid;
};

/* Resolves names or numbers; NULL means the policy's user or group. Returns 0, -ENOENT ... */
int identity_resolve(const struct policy *p, const char *user, const char *group,
		     struct identity *out);

/* Applies the policy's resource limits; one that cannot be raised is lowered as far as it goes. */
int confine_limits(const struct policy *p);

/*
 * Started as root: becomes `who`, keeps exactly the load phase's capabilities, empties
 * supplementary groups and the bounding set (which limits what an exec could gain, not what is
 * held), locks the securebits. Started as `who` with ambient capabilities: checks that the load
 * phase's are all there and drops the surplus. Sets PR_SET_DUMPABLE 0 again afterwards. A
 * capability that is not there is named in one sentence with what it is for. Never leaves uid 0.
 */
int confine_become(const struct policy *p, const struct identity *who);

/* no_new_privs for good. */
int confine_no_new_privileges(void);

/* A directory or file that Landlock leaves reachable. */
struct landlock_path {
	int fd;	      /* O_PATH or ordinary descriptor */
	bool write;   /* else read only */
	bool sockets; /* unix sockets may be bound here and replaced (a listener starts after
			 Landlock); no file access */
};

/*
 * Landlock with the best ABI the kernel has: no files but `paths`, no TCP where the ABI knows it
 * (unless the policy says network), scoped signals and abstract sockets where it knows them.
 * Returns the ABI used, 0 where the kernel has none.
 */
int confine_landlock(const struct policy *p, const struct landlock_path *paths, uint32_t count);

/* Landlock ABI of this kernel, 0 where it has none. */
int landlock_abi(void);

/*
 * Permitted = effective = the steady phase's capabilities (less `given_up`, plus the policy's
 * old-kernel ones when `old_kernel`); inheritable, ambient and bounding set emptied. Verified by
 * reading back.
 */
int confine_drop_capabilities(const struct policy *p, uint64_t given_up, bool old_kernel);

/*
 * Installs the seccomp filter of one process of the role ("main", "zygote", "worker") on all its
 * threads: default kill, conditions as the policy says. Returns 0 or -errno.
 */
int confine_seccomp(const struct policy *p, const char *process);

/*
 * Publishes what /proc cannot show (Landlock ABI, phase, process) in a sealed memfd called
 * "belfry-report", which `belfry audit` reads through /proc/PID/fd. Call it last, before seccomp.
 * Returns 0 or -errno.
 */
int confine_report(const struct policy *p, const char *process, int landlock_abi, uint64_t given_up,
		   bool old_kernel);

/* Tells the service manager: "READY=1", "STOPPING=1", "WATCHDOG=1". No-op without NOTIFY_SOCKET.
 * Opens its socket in notify_open(), before seccomp. */
int notify_open(void);
void notify_send(const char *state);

#endif
