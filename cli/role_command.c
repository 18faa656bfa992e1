// SPDX-License-Identifier: Apache-2.0
#include "cli/role_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LIBEXECDIR
#define LIBEXECDIR "/usr/local/libexec/belfry"
#endif

static bool is_program(const char *path)
{
	return access(path, X_OK) == 0;
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
	char path[PATH_MAX] = "";
	char folder[PATH_MAX - 64];

	if (own_folder(folder, sizeof(folder)))
		snprintf(path, sizeof(path), "%s/belfry-%s", folder, role);
	if (!is_program(path))
		snprintf(path, sizeof(path), LIBEXECDIR "/belfry-%s", role);
	memset(c, 0, sizeof(*c));
	memcpy(c->path, path, sizeof(path));
	return is_program(c->path);
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
