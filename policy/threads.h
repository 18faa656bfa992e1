/* SPDX-License-Identifier: Apache-2.0 */
/* threads: what /proc/self/task says. Capabilities and no_new_privs are per thread, so each step checks. */
#ifndef BELFRY_POLICY_THREADS_H
#define BELFRY_POLICY_THREADS_H

/* Number of threads of this process, or -errno. */
int threads_count(void);

/* 0 when the process has one thread; else logs that `step` came too late and returns -EBUSY. */
int threads_require_one(const char *step);

#endif
