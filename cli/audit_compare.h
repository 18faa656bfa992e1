/* SPDX-License-Identifier: Apache-2.0 */
/* audit_compare: one process against the policy of its role. */
#ifndef BELFRY_CLI_AUDIT_COMPARE_H
#define BELFRY_CLI_AUDIT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/audit_process.h"
#include "policy/policy.h"

/* What the comparison has to know of the host. */
struct audit_host {
	bool old_kernel;  /* before 5.19 */
	int landlock_abi; /* 0 = the kernel has none */
};

/* Prints one line "MISMATCH ..." for each difference to `out`; returns how many. */
uint32_t audit_compare(const struct policy *p, const struct audit_process *a,
		       const struct audit_host *h, FILE *out);

/* Names of a set of capabilities, or "none"; `text` has at least AUDIT_SET_MAX bytes. */
#define AUDIT_SET_MAX 1024
const char *audit_set_text(uint64_t set, char *text);

#endif
