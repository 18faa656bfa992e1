// SPDX-License-Identifier: Apache-2.0
#include "cli/invoking_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A decimal id below the two reserved values; false for anything else. */
static bool id_parse(const char *text, uint32_t *id)
{
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX - 1)
		return false;
	*id = (uint32_t)value;
	return true;
}

static void text_copy(char *to, const char *from)
{
	snprintf(to, USER_TEXT_MAX, "%s", from ? from : "");
}

static void find_groups(struct person *p, const char *name)
{
	int count = PERSON_GROUPS_MAX;

	/* More groups than fit: the primary one alone, which can only mean fewer rights. */
	if (!*name || getgrouplist(name, p->gid, p->groups, &count) < 0)
		count = 0;
	p->group_count = (uint32_t)count;
	if (!count) {
		p->groups[0] = p->gid;
		p->group_count = 1;
	}
}

const char *invoking_user_find(struct invoking_user *u)
{
	const char *sudo_uid = getenv("SUDO_UID");
	struct passwd *entry;

	*u = (struct invoking_user){ .person = { .uid = getuid(), .gid = getgid() } };
	if (getuid() == 0 && sudo_uid) {
		if (!id_parse(sudo_uid, &u->person.uid))
			return "SUDO_UID is set, but is not a user id";
		if (!id_parse(getenv("SUDO_GID"), &u->person.gid))
			return "SUDO_UID is set, but SUDO_GID is not a group id";
		u->through_sudo = u->person.uid != 0;
	}
	entry = getpwuid(u->person.uid);
	if (entry) {
		text_copy(u->name, entry->pw_name);
		text_copy(u->home, entry->pw_dir);
		text_copy(u->shell, entry->pw_shell);
	}
	find_groups(&u->person, u->name);
	return NULL;
}

void invoking_user_environment(const struct invoking_user *u)
{
	static const char *const sudo_variables[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER",
						      "SUDO_COMMAND", "SUDO_HOME" };

	if (!u->through_sudo)
		return;
	for (size_t i = 0; i < sizeof(sudo_variables) / sizeof(sudo_variables[0]); i++)
		unsetenv(sudo_variables[i]);
	if (!*u->name)
		return;
	setenv("USER", u->name, 1);
	setenv("LOGNAME", u->name, 1);
	setenv("HOME", u->home, 1);
	setenv("SHELL", u->shell, 1);
}
