/* SPDX-License-Identifier: Apache-2.0 */
/* record_preflight: whether this process may start a recording at all. What the host lacks, the
 * collector says. */
#ifndef BELFRY_CLI_RECORD_PREFLIGHT_H
#define BELFRY_CLI_RECORD_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capabilities that the launcher and the roles need at the start: bit = CAP_*. */
uint64_t preflight_needed(void);

/* False, and sentences that say what is missing and how to get it. */
bool preflight_check(char *problem, size_t size);

/* Writes the names of the capabilities in `mask`, separated by blanks; cut at `size` - 1. */
void preflight_capability_names(uint64_t mask, char *out, size_t size);

/*
 * The id by which the kernel knows a cgroup v2. `path` is absolute below /sys/fs/cgroup, or as
 * /proc/PID/cgroup has it. False and a sentence when it is none.
 */
bool preflight_cgroup_id(const char *path, uint64_t *id, char *problem, size_t size);

#endif
