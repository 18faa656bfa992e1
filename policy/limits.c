/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "policy/limit_names.h"

static int apply(const struct policy_limit *l, const struct limit_name *n)
{
	struct rlimit now, wanted = { l->value, l->value };

	if (getrlimit(n->resource, &now) != 0)
		return -errno;
	/* Raising a hard limit takes CAP_SYS_RESOURCE, which no role has. */
	if (wanted.rlim_max > now.rlim_max)
		wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
	return setrlimit(n->resource, &wanted) == 0 ? 0 : -errno;
}

int confine_limits(const struct policy *p)
{
	for (uint32_t i = 0; i < p->limit_count; i++) {
		for (size_t k = 0; k < LIMIT_NAME_COUNT; k++) {
			int error;

			if (strcmp(limit_names[k].name, p->limits[i].name) != 0)
				continue;
			error = apply(&p->limits[i], &limit_names[k]);
			if (error) {
				log_error("limit", "resource limit %s: %s", p->limits[i].name,
					  strerror(-error));
				return error;
			}
		}
	}
	return 0;
}
