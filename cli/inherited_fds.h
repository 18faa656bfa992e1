/* SPDX-License-Identifier: Apache-2.0 */
/* inherited_fds: what a forked process keeps of its parent's descriptors and signal settings: only
 * what is named. */
#ifndef BELFRY_CLI_INHERITED_FDS_H
#define BELFRY_CLI_INHERITED_FDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Gives each of 0, 1 and 2 that the caller had closed something that refuses to be used. Without
 * this the next file opened would be one of them, and what is printed would go into the profile.
 */
bool inherited_streams_fill(void);

/* Closes every descriptor above 2 except `keep[0 .. count)`. Sorts `keep`. */
void inherited_fds_close(int *keep, uint32_t count);

/* Default dispositions, nothing blocked: as a program expects to be started. */
void inherited_signals_reset(void);

/* Standard input becomes /dev/null. */
void inherited_input_close(void);

#endif
