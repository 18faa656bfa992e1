/* SPDX-License-Identifier: Apache-2.0 */
/* audit_print: one process of a role, for a person to read. */
#ifndef BELFRY_CLI_AUDIT_PRINT_H
#define BELFRY_CLI_AUDIT_PRINT_H

#include "cli/audit_compare.h"
#include "cli/audit_process.h"

void audit_print(const struct policy *p, const struct audit_process *a, const struct audit_host *h,
		 const char *kernel);

#endif
