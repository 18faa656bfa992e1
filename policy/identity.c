/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "policy/confine.h"

/* A decimal id below the two that mean "unchanged" or "nobody there". */
static int read_id(const char *text, uint32_t *id)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (*end || errno || value >= UINT32_MAX - 1)
		return -EINVAL;
	*id = (uint32_t)value;
	return 0;
}

static int resolve_user(const char *name, uid_t *uid)
{
	const struct passwd *entry;

	if (read_id(name, uid) == 0)
		return 0;
	entry = getpwnam(name);
	if (!entry) {
		log_error("user", "user %s does not exist (create it, or name another with --user)", name);
		return -ENOENT;
	}
	*uid = entry->pw_uid;
	return 0;
}

static int resolve_group(const char *name, gid_t *gid)
{
	const struct group *entry;

	if (read_id(name, gid) == 0)
		return 0;
	entry = getgrnam(name);
	if (!entry) {
		log_error("group", "group %s does not exist (create it, or name another with --group)", name);
		return -ENOENT;
	}
	*gid = entry->gr_gid;
	return 0;
}

int identity_resolve(const struct policy *p, const char *user, const char *group,
		     struct identity *out)
{
	int error = resolve_user(user ? user : p->user, &out->uid);

	return error ? error : resolve_group(group ? group : p->group, &out->gid);
}
