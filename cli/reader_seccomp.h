/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_seccomp: for a process that reads profiles which somebody else made. It runs as the user
 * at the terminal, so a profile that took it over would have that user's files: it can start no
 * program, make no socket, and open nothing for writing.
 */
#ifndef BELFRY_CLI_READER_SECCOMP_H
#define BELFRY_CLI_READER_SECCOMP_H

/*
 * Everything that reading, merging and printing does not need fails with EPERM from here on.
 * Descriptors that are open already stay usable. Needs no_new_privs; sets it. Returns 0 or -errno.
 */
int reader_seccomp(void);

#endif
