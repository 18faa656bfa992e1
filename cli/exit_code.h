/* SPDX-License-Identifier: Apache-2.0 */
/* exit_code: what `belfry record` and `belfry report` return; docs/record.md explains them to
 * users. */
#ifndef BELFRY_CLI_EXIT_CODE_H
#define BELFRY_CLI_EXIT_CODE_H

enum exit_code {
	EXIT_CODE_OK = 0,
	EXIT_CODE_USAGE = 1,	 /* the command line, or a file that cannot be read */
	EXIT_CODE_PREFLIGHT = 2, /* nothing was recorded: rights, the host, COMMAND cannot be run */
	EXIT_CODE_ROLE = 3, /* a role failed for good; what was recorded until then was written */
	EXIT_CODE_UNBALANCED = 4, /* recorded and written, but the account does not balance */
	EXIT_CODE_OUTPUT = 5,	  /* recorded, but the output could not be written */
	EXIT_CODE_ABORTED = 130,  /* a second Ctrl-C: nothing was written */
};

#endif
