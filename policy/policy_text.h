/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_text: reads a policy as it is written (grammar: policy/README.md). Used by policyc at
 * build time and by the tests; a running role has its table compiled in and never reads a policy
 * file.
 */
#ifndef BELFRY_POLICY_POLICY_TEXT_H
#define BELFRY_POLICY_POLICY_TEXT_H

#include <stddef.h>

#include "policy/policy.h"

#define POLICY_TEXT_MAX		     (64 * 1024) /* bytes of a file */
#define POLICY_TEXT_CAPABILITIES_MAX 64
#define POLICY_TEXT_SYSCALLS_MAX     512
#define POLICY_TEXT_CONDITION_MAX    192 /* bytes of a condition's text that a page shows */
#define POLICY_TEXT_LIMITS_MAX	     16
#define POLICY_TEXT_PATHS_MAX	     32
#define POLICY_TEXT_DESCRIPTORS_MAX  64

/* A policy together with the memory that its strings and arrays live in. */
struct policy_text {
	struct policy policy; /* points into the arrays below */
	const char *user_reason;
	const char *group_reason;
	const char *landlock_reason;
	const char *network_reason;
	struct policy_capability capabilities[POLICY_TEXT_CAPABILITIES_MAX];
	struct policy_syscall syscalls[POLICY_TEXT_SYSCALLS_MAX];
	unsigned int syscall_lines[POLICY_TEXT_SYSCALLS_MAX]; /* line that each stands at */
	char conditions[POLICY_TEXT_SYSCALLS_MAX]
		       [POLICY_TEXT_CONDITION_MAX]; /* as they are written */
	struct policy_limit limits[POLICY_TEXT_LIMITS_MAX];
	struct policy_path paths[POLICY_TEXT_PATHS_MAX];
	struct policy_descriptor descriptors[POLICY_TEXT_DESCRIPTORS_MAX];
	char text[POLICY_TEXT_MAX + 1];
};

/*
 * Parses `len` bytes. `name` is what the error calls the file. On success *out is a policy that the
 * caller frees with policy_text_free(). Otherwise -EINVAL (or -ENOMEM) and one sentence in `error`:
 * "NAME:LINE: what was found, what was expected".
 */
int policy_text_parse(const char *name, const char *text, size_t len, struct policy_text **out,
		      char *error, size_t error_size);

void policy_text_free(struct policy_text *t);

#endif
