// SPDX-License-Identifier: Apache-2.0
#include "cli/role_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_program(int folder, const char *name)
{
	return folder >= 0 && !faccessat(folder, name, X_OK, 0);
}

/* The folder that this program is in, without its last slash. */
static bool own_folder(char *folder, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	if (len <= 0)
		return false;
	folder[len] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

bool role_command_find(struct role_command *c, const char *role)
{
	static const char *const places[] = { "", "/../libexec/belfry" };
	char own[PATH_MAX - 64];
	char name[32];

	memset(c, 0, sizeof(*c));
	c->folder = -1;
	snprintf(name, sizeof(name), "belfry-%s", role);
	if (!own_folder(own, sizeof(own)))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(c->path, sizeof(c->path), "%s%s", own, places[i]);
		c->folder = open(c->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(c->path, sizeof(c->path), "%s%s/%s", own, places[i], name);
		if (is_program(c->folder, name))
			return true;
		if (c->folder >= 0)
			close(c->folder);
		c->folder = -1;
	}
	return false;
}

void role_command_exec(const struct role_command *c)
{
	const char *name = strrchr(c->path, '/') + 1;
	int error;

	execveat(c->folder, name, c->argv, role_environment(), 0);
	error = errno;
	dprintf(STDERR_FILENO, "belfry: cannot run %s as user %u: %s%s\n", c->path, getuid(),
		strerror(error),
		error == EACCES
			? " (the roles are users of their own: chmod o+x this file and its folder)"
			: "");
}

void role_command_add(struct role_command *c, const char *argument)
{
	size_t len = strlen(argument) + 1;

	if (c->argc == ROLE_ARGUMENTS_MAX || len > sizeof(c->bytes) - c->used) {
		c->overflow = true;
		return;
	}
	memcpy(c->bytes + c->used, argument, len);
	c->argv[c->argc++] = c->bytes + c->used;
	c->used += (uint32_t)len;
}

void role_command_text(struct role_command *c, const char *name, const char *value)
{
	role_command_add(c, name);
	role_command_add(c, value);
}

void role_command_number(struct role_command *c, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	role_command_text(c, name, text);
}

static void add_common(struct role_command *c, const char *program, const struct record_options *o,
		       uid_t uid, gid_t gid, const char *run)
{
	role_command_add(c, program);
	role_command_text(c, "--run-dir", run);
	role_command_number(c, "--user", uid);
	role_command_number(c, "--group", gid);
	if (o->verbose)
		role_command_add(c, "--verbose");
}

void role_command_collector(struct role_command *c, const struct record_options *o,
			    const struct role_users *u, const char *run, int control_fd)
{
	add_common(c, "belfry-collector", o, u->collector, u->ipc, run);
	role_command_number(c, "--frequency", o->frequency);
	role_command_number(c, "--control-fd", (uint64_t)control_fd);
	role_command_number(c, "--symbolizer-uid", u->symbolizer);
	role_command_number(c, "--agent-uid", u->collector);
	role_command_number(c, "--agent-uid", u->symbolizer);
	role_command_number(c, "--agent-uid", u->uploader);
	if (o->include_agent)
		role_command_add(c, "--include-agent");
}

void role_command_symbolizer(struct role_command *c, const struct record_options *o,
			     const struct role_users *u, const char *run)
{
	add_common(c, "belfry-symbolizer", o, u->symbolizer, u->ipc, run);
	role_command_number(c, "--collector-uid", u->collector);
	role_command_number(c, "--uploader-uid", u->uploader);
	role_command_number(c, "--window", o->window);
}

void role_command_uploader(struct role_command *c, const struct record_options *o,
			   const struct role_users *u, const char *run, const char *profiles,
			   uint64_t profile_bytes)
{
	add_common(c, "belfry-uploader", o, u->uploader, u->ipc, run);
	role_command_number(c, "--symbolizer-uid", u->symbolizer);
	role_command_text(c, "--directory", profiles);
	role_command_number(c, "--max-bytes", profile_bytes);
	role_command_add(c, "--once");
}

char **role_environment(void)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	static char language[] = "LC_ALL=C";
	static char *fixed[] = { path, language, NULL };

	return fixed;
}
