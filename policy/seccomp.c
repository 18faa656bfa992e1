/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "ipc/log.h"
#include "policy/confine.h"
#ifdef BELFRY_SELFTEST
#include "policy/selftest.h"
#endif

/*
 * Sanitizers make calls of their own, of which their report is worth more than the filter: their
 * builds log what the policy does not name. The containment tests run against builds without.
 */
#ifdef __SANITIZE_ADDRESS__
#define DEFAULT_ACTION SCMP_ACT_LOG
#else
#define DEFAULT_ACTION SCMP_ACT_KILL_PROCESS
#endif

static int add_rule(scmp_filter_ctx filter, const struct policy_syscall *s)
{
	struct scmp_arg_cmp conditions[POLICY_CONDITIONS_MAX];
	uint32_t action =
		s->action == POLICY_ERRNO ? SCMP_ACT_ERRNO((uint32_t)s->error) : SCMP_ACT_ALLOW;
	int number = seccomp_syscall_resolve_name(s->name);

	/* A call that this architecture has not (open on arm64) cannot be made either. */
	if (number == __NR_SCMP_ERROR)
		return -EINVAL;
	if (number < 0)
		return 0;
	for (uint8_t i = 0; i < s->condition_count; i++)
		conditions[i] = (struct scmp_arg_cmp){ .arg = s->conditions[i].arg,
						       .op = SCMP_CMP_MASKED_EQ,
						       .datum_a = s->conditions[i].mask,
						       .datum_b = s->conditions[i].value };
	return seccomp_rule_add_exact_array(filter, action, number, s->condition_count, conditions);
}

static int add_rules(scmp_filter_ctx filter, const struct policy *p, const char *process)
{
	uint32_t added = 0;

	for (uint32_t i = 0; i < p->syscall_count; i++) {
		int error;

		if (strcmp(p->syscalls[i].process, process) != 0)
			continue;
		error = add_rule(filter, &p->syscalls[i]);
		if (error) {
			log_error("seccomp", "rule for %s: %s", p->syscalls[i].name,
				  strerror(-error));
			return error;
		}
		added++;
	}
	return added ? 0 : -ENOENT; /* a process that the policy does not know must not run
				       unconfined */
}

/* Other architectures' calls (32-bit ones on x86-64) have other numbers: a process that makes one
 * dies as well. */
static int set_attributes(scmp_filter_ctx filter)
{
	int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (!error)
		error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	/* no_new_privs is an earlier step of its own; setting it here would hide that it was
	 * forgotten. */
	if (!error)
		error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	return error;
}

int confine_seccomp(const struct policy *p, const char *process)
{
	scmp_filter_ctx filter;
	int error;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
		log_error("seccomp", "filter of %s %s: no_new_privs is not set", p->role, process);
		return -EPERM;
	}
	filter = seccomp_init(DEFAULT_ACTION);
	if (!filter)
		return -ENOMEM;
	error = set_attributes(filter);
	if (!error)
		error = add_rules(filter, p, process);
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer looks at the signal stack before each exit; a build without it has no such
	 * right. */
	if (!error)
		error = seccomp_rule_add_exact(filter, SCMP_ACT_ALLOW, SCMP_SYS(sigaltstack), 0);
#endif
	if (!error)
		error = seccomp_load(filter);
	seccomp_release(filter);
	if (error)
		log_error("seccomp", "filter of %s %s: %s", p->role, process, strerror(-error));
#ifdef BELFRY_SELFTEST
	else
		selftest_run(process);
#endif
	return error;
}
