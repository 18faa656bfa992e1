/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher: `belfry record` from the first check to the exit code. Root until everything runs; then
 * it gives up all rights, for good, before COMMAND runs and before it reads a single byte that a
 * role has written.
 */
#ifndef BELFRY_CLI_LAUNCHER_H
#define BELFRY_CLI_LAUNCHER_H

#include "cli/record_options.h"

/* Returns the exit code (cli/exit_code.h). */
int launcher_record(const struct record_options *o);

#endif
