/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest: in builds with BELFRY_SELFTEST only, a confined process makes one call that its policy
 * forbids. Named in the environment: BELFRY_SELFTEST_SYSCALL, and BELFRY_SELFTEST_PROCESS for
 * another process than "main". For the containment tests.
 */
#ifndef BELFRY_POLICY_SELFTEST_H
#define BELFRY_POLICY_SELFTEST_H

/*
 * Makes the named call. Returns the errno of its failure, 0 when it went through, -1 for an unknown
 * name; does not return where the policy kills.
 */
int selftest_syscall(const char *name);

/* Name of call number `i`, or NULL after the last. */
const char *selftest_name(unsigned int i);

/* Called with the filter in force: when this process is meant, makes the call, says "selftest NAME
 * errno=N" and exits with 0. */
void selftest_run(const char *process);

#endif
