/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities as 64-bit masks, through the kernel's own calls: libcap's objects would only hide what is set. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "policy/threads.h"

#define LAST_CAPABILITY 63

struct sets {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

static int get_sets(struct sets *s)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	s->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	s->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	s->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return 0;
}

/* Effective and permitted become exactly `mask`, inheritable empty; read back. */
static int set_exactly(uint64_t mask)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = (uint32_t)(mask >> 32), .permitted = (uint32_t)(mask >> 32) },
	};
	struct sets now;
	int error;

	if (syscall(SYS_capset, &header, data) != 0)
		return -errno;
	error = get_sets(&now);
	if (!error && (now.effective != mask || now.permitted != mask || now.inheritable != 0))
		error = -EPERM;
	return error;
}

/* Empties ambient and, where CAP_SETPCAP is there, the bounding set; without it the unit has cut it. */
static void empty_ambient_and_bounding(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned int c = 0; c <= LAST_CAPABILITY; c++)
		if (prctl(PR_CAPBSET_READ, c, 0, 0, 0) == 1)
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
}

/* What the load phase asks for and the process has; logs each that is missing and needed. */
static int available_for_load(const struct policy *p, uint64_t permitted, uint64_t *kept)
{
	int error = 0;

	*kept = p->capabilities[POLICY_PHASE_LOAD] & permitted;
	for (uint32_t i = 0; i < p->capability_count; i++) {
		const struct policy_capability *c = &p->capability_lines[i];

		if (strcmp(c->phase, "load") != 0 || (*kept & UINT64_C(1) << c->number))
			continue;
		if (c->optional) {
			log_warn("capability_missing", "%s is missing: %s", c->name, c->reason);
			continue;
		}
		log_error("capability_missing", "%s is missing, it is needed for: %s", c->name, c->reason);
		error = -EPERM;
	}
	return error;
}

static int become_user(const struct identity *who)
{
	/* PR_SET_KEEPCAPS keeps the permitted set over the change of uid; the rest is cut right after. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
	    setresgid(who->gid, who->gid, who->gid) != 0 ||
	    setresuid(who->uid, who->uid, who->uid) != 0)
		return -errno;
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	return 0;
}

/* A later setuid(0) or exec of a root program gains nothing, and none of this can be undone. */
static void lock_securebits(void)
{
	prctl(PR_SET_SECUREBITS,
	      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
		      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
		      SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
	      0, 0, 0);
}

static int check_is(const struct identity *who)
{
	uid_t real, effective, saved;

	if (getresuid(&real, &effective, &saved) != 0)
		return -errno;
	if (who->uid == 0 || real != who->uid || effective != who->uid || saved != who->uid) {
		log_error("identity", "runs as uid %u, expected %u (never 0): start it as root or as that user",
			  effective, who->uid);
		return -EPERM;
	}
	return 0;
}

int confine_become(const struct policy *p, const struct identity *who)
{
	struct sets now;
	uint64_t kept;
	int error = threads_require_one("becoming another user");

	if (!error)
		error = get_sets(&now);
	if (!error)
		error = available_for_load(p, now.permitted, &kept);
	if (error)
		return error;
	if (geteuid() == 0 && who->uid != 0) {
		error = become_user(who);
		if (error) {
			log_error("identity", "becoming uid %u: %s", who->uid, strerror(-error));
			return error;
		}
		lock_securebits();
		empty_ambient_and_bounding();
	}
	error = check_is(who);
	if (!error)
		error = set_exactly(kept);
	if (error)
		log_error("capabilities", "keeping the load phase's capabilities 0x%llx: %s",
			  (unsigned long long)kept, strerror(-error));
	/* No core, no ptrace, no /proc/self of ours for others with our uid; a change of uid resets it. */
	if (!error && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		error = -errno;
	return error;
}

int confine_no_new_privileges(void)
{
	int error = threads_require_one("no_new_privs");

	if (error)
		return error;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
		log_error("no_new_privs", "no_new_privs: %s", strerror(errno));
		return -EPERM;
	}
	return 0;
}

int confine_drop_capabilities(const struct policy *p, uint64_t given_up, bool old_kernel)
{
	uint64_t kept = p->capabilities[POLICY_PHASE_STEADY] & ~(given_up & p->capabilities_optional);
	struct sets now;
	int error = threads_require_one("dropping capabilities");

	if (error)
		return error;
	if (old_kernel)
		kept |= p->capabilities_old_kernel;
	error = get_sets(&now);
	if (!error) {
		empty_ambient_and_bounding();
		error = set_exactly(kept & now.permitted);
	}
	if (error)
		log_error("capabilities", "dropping to 0x%llx: %s", (unsigned long long)kept,
			  strerror(-error));
	return error;
}
