/* SPDX-License-Identifier: Apache-2.0 */
/* role_command: where a role's program is, and the command line that `record` gives it. */
#ifndef BELFRY_CLI_ROLE_COMMAND_H
#define BELFRY_CLI_ROLE_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/record_options.h"
#include "cli/role_users.h"

#define ROLE_ARGUMENTS_MAX  40
#define ROLE_ARGUMENT_BYTES 2048 /* of all arguments together */

struct role_command {
	char path[PATH_MAX];
	int folder;			    /* that of `path`, O_PATH; -1 = not found */
	char *argv[ROLE_ARGUMENTS_MAX + 1]; /* NULL-terminated; points into `bytes` */
	uint32_t argc;
	char bytes[ROLE_ARGUMENT_BYTES];
	uint32_t used;
	bool overflow; /* an argument did not fit */
};

/*
 * Finds `belfry-ROLE`: beside this program (as in a build), else in ../libexec/belfry as seen from
 * there (as `make install` puts it, whatever PREFIX is). False when it is in neither place.
 */
bool role_command_find(struct role_command *c, const char *role);

/*
 * Becomes the role, by its open folder: the role's user may be kept out of a folder above it (a
 * clone in a home of mode 0700). Comes back only when that failed, and has said why by then.
 */
void role_command_exec(const struct role_command *c);

/* Appends arguments: a fixed one, and `--name value` pairs. */
void role_command_add(struct role_command *c, const char *argument);
void role_command_text(struct role_command *c, const char *name, const char *value);
void role_command_number(struct role_command *c, const char *name, uint64_t value);

/* The command lines of the three roles, without the program's own path. */
void role_command_collector(struct role_command *c, const struct record_options *o,
			    const struct role_users *u, const char *run, int control_fd);
void role_command_symbolizer(struct role_command *c, const struct record_options *o,
			     const struct role_users *u, const char *run);
void role_command_uploader(struct role_command *c, const struct record_options *o,
			   const struct role_users *u, const char *run, const char *profiles,
			   uint64_t profile_bytes);

/* The environment of every role: nothing of the caller's reaches it. */
char **role_environment(void);

#endif
