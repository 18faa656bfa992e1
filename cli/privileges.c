// SPDX-License-Identifier: Apache-2.0
#include "cli/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct capability_sets {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int sets_read(struct capability_sets *s)
{
	memset(s, 0, sizeof(*s));
	s->header.version = _LINUX_CAPABILITY_VERSION_3;
	return syscall(SYS_capget, &s->header, s->data) ? -errno : 0;
}

uint64_t privileges_permitted(void)
{
	struct capability_sets s;

	if (sets_read(&s))
		return 0;
	return s.data[0].permitted | (uint64_t)s.data[1].permitted << 32;
}

int privileges_lend(const struct person *who)
{
	if (setgroups(who->group_count, who->groups) || setegid(who->gid) || seteuid(who->uid)) {
		int error = errno;

		privileges_return();
		return -error;
	}
	return 0;
}

void privileges_return(void)
{
	/* Half of another user's identity and half of root's is a state that nothing here was
	 * written for. */
	if (seteuid(0) || setegid(0) || setgroups(0, NULL)) {
		fputs("belfry: cannot return to root after acting as another user\n", stderr);
		_exit(2);
	}
}

static int bounding_set_empty(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
			return -errno;
	return 0;
}

static int sets_empty(void)
{
	struct capability_sets s;

	memset(&s, 0, sizeof(s));
	s.header.version = _LINUX_CAPABILITY_VERSION_3;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	return syscall(SYS_capset, &s.header, s.data) ? -errno : 0;
}

static int ids_become(const struct person *who)
{
	if (setgroups(who->group_count, who->groups) || setresgid(who->gid, who->gid, who->gid) ||
	    setresuid(who->uid, who->uid, who->uid))
		return -errno;
	return 0;
}

/* Reads back what the calls before claim: a process that only believes it is harmless is not. */
static int verify_dropped(const struct person *who)
{
	struct capability_sets s;
	uid_t real_uid, effective_uid, saved_uid;
	gid_t real_gid, effective_gid, saved_gid;
	int error = sets_read(&s);

	if (error)
		return error;
	if (getresuid(&real_uid, &effective_uid, &saved_uid) ||
	    getresgid(&real_gid, &effective_gid, &saved_gid))
		return -errno;
	if (real_uid != who->uid || effective_uid != who->uid || saved_uid != who->uid ||
	    real_gid != who->gid || effective_gid != who->gid || saved_gid != who->gid)
		return -EPERM;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (s.data[i].permitted || s.data[i].effective || s.data[i].inheritable)
			return -EPERM;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return -EPERM;
	return 0;
}

int privileges_drop(const struct person *who)
{
	int error = bounding_set_empty(); /* first: it needs CAP_SETPCAP */

	if (!error)
		error = ids_become(who);
	if (!error)
		error = sets_empty();
	if (!error && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error = -errno;
	if (!error && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		error = -errno;
	return error ? error : verify_dropped(who);
}

static int inheritable_empty(void)
{
	struct capability_sets s;
	int error = sets_read(&s);

	if (error)
		return error;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		s.data[i].inheritable = 0;
	return syscall(SYS_capset, &s.header, s.data) ? -errno : 0;
}

int privileges_become_user(const struct person *who)
{
	int error = inheritable_empty();

	return error ? error : ids_become(who);
}
