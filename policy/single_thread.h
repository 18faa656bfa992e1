/* SPDX-License-Identifier: Apache-2.0 */
/* single_thread: what a thread gives up, others keep; so rights are given up while there is one. */
#ifndef BELFRY_POLICY_SINGLE_THREAD_H
#define BELFRY_POLICY_SINGLE_THREAD_H

/* Returns 0 when the process has one thread; else logs that `step` came too late and returns
 * -EBUSY. */
int single_thread_require(const char *step);

#endif
