/* SPDX-License-Identifier: Apache-2.0 */
/* Identity and capabilities: who a role becomes and what it keeps, each step read back. */
#include "policy/confine.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/single_thread.h"
#include "policy/thread_status.h"

#define BIT(n) (1ULL << (n))

/* No root magic for uid 0, no capability changes by a change of uid, no ambient set; none of it to
 * be undone. */
#define LOCKED_SECUREBITS                                                                          \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                           \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |   \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int fail(const char *what)
{
	int error = errno;

	log_error("capabilities", "%s: %s", what, strerror(error));
	return -error;
}

/* Permitted = effective = `set`, inheritable empty (which empties the ambient set as well). */
static int hold(uint64_t set)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .permitted = (uint32_t)set, .effective = (uint32_t)set },
		{ .permitted = (uint32_t)(set >> 32), .effective = (uint32_t)(set >> 32) },
	};

	return syscall(SYS_capset, &header, data) == 0 ? 0 : fail("capset");
}

static const struct policy_capability *line_of(const struct policy *p, int number, bool steady)
{
	const struct policy_capability *found = NULL;

	for (uint32_t i = 0; i < p->capability_count; i++) {
		const struct policy_capability *c = &p->capability_lines[i];

		if (c->number == number && (strcmp(c->phase, "steady") == 0) == steady)
			found = found ? found : c;
	}
	return found;
}

/* Names each capability of `missing`; returns -EPERM when one of them is not optional. */
static int name_missing(const struct policy *p, uint64_t missing, bool steady)
{
	int error = 0;

	for (int n = 0; n < 64; n++) {
		const struct policy_capability *c;

		if (!(missing & BIT(n)))
			continue;
		c = line_of(p, n, steady);
		if (c && c->optional) {
			log_info("capability_absent", "CAP_%s is not there: %s", c->name,
				 c->reason);
			continue;
		}
		log_error("capability_missing", "CAP_%s is not there and needed: %s",
			  c ? c->name : "?", c ? c->reason : "of an older kernel");
		error = -EPERM;
	}
	return error;
}

/* Drops everything from the bounding set. Returns -EPERM without CAP_SETPCAP. */
static int empty_bounding_set(void)
{
	for (int n = 0; n < 64; n++) {
		int held = prctl(PR_CAPBSET_READ, n, 0, 0, 0);

		if (held < 0)
			break;
		if (held && prctl(PR_CAPBSET_DROP, n, 0, 0, 0) != 0)
			return -errno;
	}
	return 0;
}

/* Without CAP_SETPCAP only the unit or the launcher can cut it: say so if they did not. */
static void check_bounding_set(const struct policy *p, uint64_t bounding)
{
	uint64_t surplus = bounding & ~p->capabilities[POLICY_PHASE_LOAD];

	if (surplus)
		log_warn("bounding_set",
			 "bounding set is wider than the policy by 0x%" PRIx64
			 " and cannot be cut without CAP_SETPCAP: set CapabilityBoundingSet in the "
			 "unit",
			 surplus);
}

/* -- read back ---------------------------------------------------------------------------- */

static int read_back(struct thread_status *s)
{
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", gettid());
	error = thread_status_read(path, s);
	/* Landlock is in force already and no file can be opened: the same from system calls. */
	if (error == -EACCES)
		error = thread_status_self(s);
	if (error)
		log_error("read_back", "%s: %s", path, strerror(-error));
	return error;
}

static int check_held(const struct thread_status *s, uint64_t expected)
{
	if (s->permitted == expected && s->effective == expected && s->inheritable == 0 &&
	    s->ambient == 0)
		return 0;
	log_error("read_back",
		  "capabilities are permitted 0x%" PRIx64 " effective 0x%" PRIx64
		  " inheritable 0x%" PRIx64 " ambient 0x%" PRIx64 ", expected 0x%" PRIx64,
		  s->permitted, s->effective, s->inheritable, s->ambient, expected);
	return -EPERM;
}

static int check_identity(const struct thread_status *s, const struct identity *who)
{
	for (int i = 0; i < 4; i++) {
		if (s->uid[i] != who->uid || s->gid[i] != who->gid) {
			log_error("identity",
				  "uid %u gid %u, expected uid %u gid %u: start as root, or as "
				  "that user and group",
				  s->uid[i], s->gid[i], who->uid, who->gid);
			return -EPERM;
		}
	}
	for (uint32_t i = 0; i < s->group_count && i < THREAD_STATUS_GROUPS; i++)
		if (s->groups[i] != who->gid)
			log_warn("groups", "member of group %u beside its own: start it without",
				 s->groups[i]);
	return 0;
}

/* -- become ------------------------------------------------------------------------------- */

static int become_from_root(const struct identity *who)
{
	int error = empty_bounding_set();

	if (error && error != -EPERM)
		return error;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
		return fail("PR_SET_KEEPCAPS");
	if (setgroups(0, NULL) != 0)
		return fail("setgroups");
	if (setresgid(who->gid, who->gid, who->gid) != 0)
		return fail("setresgid");
	if (setresuid(who->uid, who->uid, who->uid) != 0)
		return fail("setresuid");
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) != 0)
		return fail("PR_SET_KEEPCAPS");
	return 0;
}

/* After the change of uid the effective set is empty, the permitted one is still root's. */
static void lock_securebits(uint64_t permitted)
{
	if (!(permitted & BIT(CAP_SETPCAP)) || hold(BIT(CAP_SETPCAP) | permitted) != 0 ||
	    prctl(PR_SET_SECUREBITS, LOCKED_SECUREBITS, 0, 0, 0) != 0)
		log_info("securebits", "cannot be locked without CAP_SETPCAP");
}

int confine_become(const struct policy *p, const struct identity *who)
{
	uint64_t load = p->capabilities[POLICY_PHASE_LOAD];
	bool from_root = geteuid() == 0;
	struct thread_status s;
	int error = single_thread_require("change of identity");

	if (error)
		return error;
	if (who->uid == 0) {
		log_error("identity", "uid 0: a role never runs as root");
		return -EPERM;
	}
	error = from_root ? become_from_root(who) : 0;
	if (!error)
		error = read_back(&s);
	if (!error)
		error = check_identity(&s, who);
	if (error)
		return error;
	if (from_root)
		lock_securebits(s.permitted);
	error = name_missing(p, load & ~s.permitted, false);
	if (!error)
		error = hold(load & s.permitted);
	if (error)
		return error;
	/* Cleared by a change of uid, set again so that nobody of the same uid may trace. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return fail("PR_SET_DUMPABLE");
	check_bounding_set(p, s.bounding);
	load &= s.permitted;
	error = read_back(&s);
	return error ? error : check_held(&s, load);
}

/* -- later steps -------------------------------------------------------------------------- */

int confine_no_new_privileges(void)
{
	int error = single_thread_require("no_new_privs");

	if (error)
		return error;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return fail("PR_SET_NO_NEW_PRIVS");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return 0;
	log_error("read_back", "no_new_privs is not set after it was set");
	return -EPERM;
}

static void name_kept(const struct policy *p)
{
	for (uint32_t i = 0; i < p->capability_count; i++)
		if (strcmp(p->capability_lines[i].phase, "old-kernel") == 0)
			log_warn("old_kernel",
				 "CAP_%s stays for good: %s (belfry audit says so as well)",
				 p->capability_lines[i].name, p->capability_lines[i].reason);
}

int confine_drop_capabilities(const struct policy *p, uint64_t given_up, bool old_kernel)
{
	uint64_t wanted = p->capabilities[POLICY_PHASE_STEADY] & ~given_up;
	struct thread_status s;
	int error = single_thread_require("drop of capabilities");

	if (error)
		return error;
	if (given_up & ~p->capabilities_optional) {
		log_error("capabilities", "0x%" PRIx64 " is not optional and cannot be given up",
			  given_up & ~p->capabilities_optional);
		return -EINVAL;
	}
	if (old_kernel)
		wanted |= p->capabilities_old_kernel;
	error = read_back(&s);
	if (!error)
		error = name_missing(p, wanted & ~s.permitted, true);
	if (error)
		return error;
	if (old_kernel)
		name_kept(p);
	wanted &= s.permitted;
	/* Fails without CAP_SETPCAP, as in a unit; confine_become() has checked what is left. */
	empty_bounding_set();
	error = hold(wanted);
	if (!error)
		error = read_back(&s);
	return error ? error : check_held(&s, wanted);
}
