/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_write: one profile as gzip-compressed profile.proto, streamed: what is held in memory is
 * one buffer. Ids are 1..N in table order, as the strictest receiver wants them.
 */
#ifndef BELFRY_CLI_PPROF_WRITE_H
#define BELFRY_CLI_PPROF_WRITE_H

#include "cli/pprof.h"

/* Writes at the descriptor's position. Returns 0 or -errno of the first write that failed. */
int pprof_write(const struct pprof *p, int fd);

#endif
