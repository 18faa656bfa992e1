/* SPDX-License-Identifier: Apache-2.0 */
/* record_result: what a recording leaves: one file, the account, the hottest functions. */
#ifndef BELFRY_CLI_RECORD_RESULT_H
#define BELFRY_CLI_RECORD_RESULT_H

#include "cli/recording.h"

/*
 * Merges, writes and prints; the caller has no rights left. Returns EXIT_CODE_OK,
 * EXIT_CODE_UNBALANCED or EXIT_CODE_OUTPUT.
 */
int record_result(struct recording *r);

#endif
