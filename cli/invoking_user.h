/* SPDX-License-Identifier: Apache-2.0 */
/* invoking_user: the person at the terminal: who called sudo, else the real uid. */
#ifndef BELFRY_CLI_INVOKING_USER_H
#define BELFRY_CLI_INVOKING_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/privileges.h"

#define USER_TEXT_MAX 256

struct invoking_user {
	struct person person;
	bool through_sudo;
	char name[USER_TEXT_MAX]; /* "" where the uid has no passwd entry */
	char home[USER_TEXT_MAX];
	char shell[USER_TEXT_MAX];
};

/*
 * Finds out who it is. Returns NULL, or a constant sentence: SUDO_UID or SUDO_GID that are set but
 * are no numbers are refused rather than taken for root.
 */
const char *invoking_user_find(struct invoking_user *u);

/* Sets HOME, USER, LOGNAME and SHELL to this user's, and removes sudo's own variables. For COMMAND.
 */
void invoking_user_environment(const struct invoking_user *u);

#endif
