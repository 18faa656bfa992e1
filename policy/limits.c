/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/confine.h"

#include <errno.h>
#include <string.h>

#include "ipc/log.h"
#include "policy/limit_names.h"

static int apply(const struct policy_limit *limit, int resource)
{
	rlim_t wanted = limit->value == UINT64_MAX ? RLIM_INFINITY : limit->value;
	struct rlimit l;

	if (getrlimit(resource, &l) != 0)
		return -errno;
	/* Root may raise it while it still has CAP_SYS_RESOURCE; nobody else can, and no role keeps that. */
	if (l.rlim_max < wanted && setrlimit(resource, &(struct rlimit){ wanted, wanted }) == 0)
		return 0;
	if (l.rlim_max < wanted) {
		log_info("limit_lower", "RLIMIT_%s: %llu where the policy has %llu", limit->name,
			 (unsigned long long)l.rlim_max, (unsigned long long)wanted);
		wanted = l.rlim_max;
	}
	l.rlim_cur = wanted;
	l.rlim_max = wanted;
	return setrlimit(resource, &l) == 0 ? 0 : -errno;
}

int confine_limits(const struct policy *p)
{
	for (uint32_t i = 0; i < p->limit_count; i++) {
		for (size_t n = 0; n < LIMIT_NAME_COUNT; n++) {
			int error;

			if (strcmp(limit_names[n].name, p->limits[i].name) != 0)
				continue;
			error = apply(&p->limits[i], limit_names[n].resource);
			if (!error)
				continue;
			log_error("limit", "RLIMIT_%s: cannot set: %s", p->limits[i].name,
				  strerror(-error));
			return error;
		}
	}
	return 0;
}
