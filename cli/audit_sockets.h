/* SPDX-License-Identifier: Apache-2.0 */
/* audit_sockets: names the sockets among a process's descriptors, by /proc/PID/net. */
#ifndef BELFRY_CLI_AUDIT_SOCKETS_H
#define BELFRY_CLI_AUDIT_SOCKETS_H

#include <sys/types.h>

#include "cli/audit_descriptors.h"

/* Fills in the kind of each socket that a table knows; the others stay "socket:other". Returns 0 or
 * -errno. */
int audit_sockets_name(pid_t pid, struct audit_descriptors *d);

/* Kind of a unix socket; `type` is SOCK_*. */
const char *audit_unix_kind(unsigned int type, bool listening);

#endif
