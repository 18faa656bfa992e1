// SPDX-License-Identifier: Apache-2.0
#include "cli/role_limits.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#define MIB (1ull << 20)

static const struct need {
	int resource;
	char option;	   /* of ulimit */
	unsigned int unit; /* bytes, seconds or pieces that ulimit counts as one */
	rlim_t wanted; /* RLIM_INFINITY is the largest value: the order of numbers holds for it too
			*/
	rlim_t least;  /* with less, the roles die or lose files without a sentence that says why */
	const char *name;
} needs[] = {
	/* A worker limits itself to less than this; the symbolizer is the sum of its windows and
	   symbols. */
	{ RLIMIT_AS, 'v', 1024, RLIM_INFINITY, 2048 * MIB, "AS" },
	{ RLIMIT_DATA, 'd', 1024, RLIM_INFINITY, 1024 * MIB, "DATA" },
	{ RLIMIT_CPU, 't', 1, RLIM_INFINITY, 60, "CPU" },
	/* memfds of the symbolizer, and the journal */
	{ RLIMIT_FSIZE, 'f', 1024, RLIM_INFINITY, 256 * MIB, "FSIZE" },
	/* for each role's user: supervisor, role, zygote, workers */
	{ RLIMIT_NPROC, 'u', 1, RLIM_INFINITY, 32, "NPROC" },
	/* two a CPU in the collector, one a file in the symbolizer */
	{ RLIMIT_NOFILE, 'n', 1, 4096, 256, "NOFILE" },
};

#define NEEDS (sizeof(needs) / sizeof(needs[0]))

static void raise_one(const struct need *n)
{
	struct rlimit now;
	struct rlimit l;

	if (getrlimit(n->resource, &now) || now.rlim_cur >= n->wanted)
		return;
	l.rlim_cur = n->wanted;
	l.rlim_max = now.rlim_max < n->wanted ? n->wanted : now.rlim_max;
	if (!setrlimit(n->resource, &l))
		return;
	l = (struct rlimit){ now.rlim_max, now.rlim_max };
	/* Without the right to more it stays as it is, which role_limits_check() has looked at. */
	if (setrlimit(n->resource, &l))
		return;
}

void role_limits_raise(void)
{
	for (size_t i = 0; i < NEEDS; i++)
		raise_one(&needs[i]);
}

bool role_limits_check(bool may_raise, char *problem, size_t size)
{
	for (size_t i = 0; i < NEEDS && !may_raise; i++) {
		const struct need *n = &needs[i];
		struct rlimit l;

		if (getrlimit(n->resource, &l) || l.rlim_max >= n->least)
			continue;
		snprintf(problem, size,
			 "RLIMIT_%s is %llu here, the roles need %llu, and without "
			 "CAP_SYS_RESOURCE it "
			 "cannot be raised: set ulimit -%c %llu or more before the start",
			 n->name, (unsigned long long)l.rlim_max, (unsigned long long)n->least,
			 n->option, (unsigned long long)(n->least / n->unit));
		return false;
	}
	return true;
}
