/* SPDX-License-Identifier: Apache-2.0 */
/* record: `belfry record`. */
#ifndef BELFRY_CLI_RECORD_H
#define BELFRY_CLI_RECORD_H

/* argv[0] is "record". Returns the exit code (cli/exit_code.h). */
int record_main(int argc, char **argv);

#endif
