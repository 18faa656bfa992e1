/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role_limits: a shell's resource limits (ulimit) are for the user's programs, and COMMAND keeps
 * them. A role gets what it needs, and its policy lowers that afterwards.
 */
#ifndef BELFRY_CLI_ROLE_LIMITS_H
#define BELFRY_CLI_ROLE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/* Raises this process's limits, as far as it may. */
void role_limits_raise(void);

/* Whether the roles can live with what role_limits_raise() would give them; false and a sentence if
 * not. */
bool role_limits_check(bool may_raise, char *problem, size_t size);

#endif
