/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/confine.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"

/* Decimal number below 2^32 - 1, which means "no change" to the kernel. */
static bool number_of(const char *text, uint32_t *id)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end != '\0' || value >= UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

int identity_resolve(const struct policy *p, const char *user, const char *group,
		     struct identity *out)
{
	const char *user_name = user ? user : p->user;
	const char *group_name = group ? group : p->group;
	const struct passwd *account;
	const struct group *accounts;

	if (!number_of(user_name, &out->uid)) {
		account = getpwnam(user_name);
		if (!account) {
			log_error("identity",
				  "user %s: there is none (systemd-sysusers makes it, "
				  "--user names another)",
				  user_name);
			return -ENOENT;
		}
		out->uid = account->pw_uid;
	}
	if (!number_of(group_name, &out->gid)) {
		accounts = getgrnam(group_name);
		if (!accounts) {
			log_error("identity",
				  "group %s: there is none (systemd-sysusers makes it, "
				  "--group names another)",
				  group_name);
			return -ENOENT;
		}
		out->gid = accounts->gr_gid;
	}
	if (out->uid != 0)
		return 0;
	log_error("identity", "user %s: a role never runs as root", user_name);
	return -EPERM;
}
