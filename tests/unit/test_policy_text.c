/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_text.h"
#include "tests/unit/cmocka_all.h"

/* Five lines that every policy needs. */
#define HEAD "role tester\nuser u # why\ngroup g # why\nlandlock yes # why\nnetwork no # why\n"

static struct policy_text *parsed(const char *text)
{
	struct policy_text *t;
	char error[256] = "";
	int result = policy_text_parse("t.policy", text, strlen(text), &t, error, sizeof(error));

	if (result)
		print_error("%s\n", error);
	assert_int_equal(result, 0);
	return t;
}

static void a_whole_policy_becomes_a_table(void **state)
{
	struct policy_text *t = parsed(HEAD "capability load BPF # maps\n"
					    "capability load PERFMON # events\n"
					    "capability load-if-granted SYS_ADMIN # Debian\n"
					    "capability steady PERFMON optional # hotplug\n"
					    "capability old-kernel BPF # filters\n"
					    "limit NOFILE 4K # files\n"
					    "limit AS unlimited # big\n"
					    "path read /proc # maps\n"
					    "descriptor anon:bpf-map any # maps\n"
					    "descriptor pipe 2 # streams\n");
	const struct policy *p = &t->policy;

	(void)state;
	assert_string_equal(p->role, "tester");
	assert_string_equal(p->user, "u");
	assert_true(p->landlock);
	assert_false(p->network);
	/* CAP_SYS_ADMIN is 21, CAP_PERFMON 38, CAP_BPF 39. */
	assert_int_equal(p->capabilities[POLICY_PHASE_LOAD], 1ull << 39 | 1ull << 38 | 1ull << 21);
	assert_int_equal(p->capabilities[POLICY_PHASE_STEADY], 1ull << 38);
	assert_int_equal(p->capabilities_optional, 1ull << 38);
	assert_int_equal(p->capabilities_old_kernel, 1ull << 39);
	assert_int_equal(p->capability_count, 5);
	assert_string_equal(p->capability_lines[0].reason, "maps");
	assert_int_equal(p->limits[0].value, 4096);
	assert_true(p->limits[1].value == UINT64_MAX);
	assert_int_equal(p->descriptors[0].most, UINT32_MAX);
	assert_int_equal(p->descriptors[1].most, 2);
	policy_text_free(t);
}

static void conditions_become_mask_and_value(void **state)
{
	struct policy_text *t =
		parsed(HEAD "syscall main read write # both\n"
			    "syscall main mmap where arg2 & PROT_EXEC == 0 # no code\n"
			    "syscall main socket where arg0 == AF_UNIX and arg1 & 0xf == "
			    "SOCK_SEQPACKET # local\n"
			    "syscall worker openat readlinkat errno ENOENT # nothing there\n"
			    "syscall worker openat2 where arg3 == 24 errno EPERM # refused\n");
	const struct policy_syscall *s = t->policy.syscalls;

	(void)state;
	assert_int_equal(t->policy.syscall_count, 7);
	assert_string_equal(s[0].name, "read");
	assert_string_equal(s[1].name, "write");
	assert_int_equal(s[1].action, POLICY_ALLOW);
	assert_int_equal(s[1].condition_count, 0);
	assert_int_equal(s[2].conditions[0].arg, 2);
	assert_int_equal(s[2].conditions[0].mask, 4); /* PROT_EXEC */
	assert_int_equal(s[2].conditions[0].value, 0);
	assert_int_equal(s[3].condition_count, 2);
	/* Without a mask the low 32 bits count: the kernel drops the rest of an int. */
	assert_int_equal(s[3].conditions[0].mask, 0xffffffff);
	assert_int_equal(s[3].conditions[0].value, 1); /* AF_UNIX */
	assert_int_equal(s[3].conditions[1].mask, 0xf);
	assert_int_equal(s[3].conditions[1].value, 5); /* SOCK_SEQPACKET */
	assert_string_equal(s[4].process, "worker");
	assert_int_equal(s[4].action, POLICY_ERRNO);
	assert_int_equal(s[4].error, 2); /* ENOENT */
	assert_string_equal(s[5].name, "readlinkat");
	assert_int_equal(s[6].conditions[0].value, 24);
	assert_int_equal(s[6].error, 1); /* EPERM */
	policy_text_free(t);
}

static void comments_blank_lines_and_a_missing_last_newline_are_fine(void **state)
{
	(void)state;
	policy_text_free(parsed("# first\n\n  \t\n" HEAD "# last\n\tlimit CORE 0 # why"));
}

struct wrong {
	const char *text;
	const char *error; /* whole */
};

/* HEAD has 5 lines: what follows it is line 6. */
static const struct wrong wrongs[] = {
	{ "", "t.policy:1: end of file: expected role, user, group, landlock and network lines" },
	{ HEAD "allow read # x\n", "t.policy:6: \"allow\": expected role, user, group, capability, "
				   "landlock, network, limit, path, "
				   "descriptor or syscall" },
	{ HEAD "\nlimit CORE 0\n", "t.policy:7: \"limit\": expected its reason behind a #" },
	{ HEAD "limit CORE 0 #  \n", "t.policy:6: \"limit\": expected its reason behind a #" },
	{ HEAD "role tester\n", "t.policy:6: \"role\" stands at line 1 already, expected it once" },
	{ HEAD "user v # x\n", "t.policy:6: \"user\" stands at line 2 already, expected it once" },
	{ HEAD "network no # x\n",
	  "t.policy:6: \"network\" stands at line 5 already, expected it once" },
	{ "role Bad-Name\n", "t.policy:1: \"Bad-Name\": expected lower-case letters" },
	{ "role\n", "t.policy:1: expected \"role NAME\", found 1 words" },
	{ "role t\nuser root # x\n", "t.policy:2: expected a user other than root" },
	{ "role t\ngroup root # x\n", "t.policy:2: expected a group other than root" },
	{ "role t\nlandlock maybe # x\n", "t.policy:2: \"maybe\": expected yes or no" },
	{ HEAD "capability load BPF\n",
	  "t.policy:6: \"capability\": expected its reason behind a #" },
	{ HEAD "capability load CAP_BPF # x\n",
	  "t.policy:6: \"CAP_BPF\": expected the name of a capability, as BPF for CAP_BPF" },
	{ HEAD "capability load 39 # x\n",
	  "t.policy:6: \"39\": expected the name of a capability, as BPF for CAP_BPF" },
	{ HEAD "capability later BPF # x\n",
	  "t.policy:6: \"later\": expected load, load-if-granted, steady or old-kernel" },
	{ HEAD "capability load BPF sometimes # x\n",
	  "t.policy:6: expected \"capability PHASE NAME [optional]\", found 4 words" },
	{ HEAD "capability load BPF # x\ncapability load BPF # x\n",
	  "t.policy:7: BPF is there in phase load already, expected it once" },
	{ HEAD "capability load BPF # x\ncapability steady PERFMON # x\nlimit CORE 0 # x\n",
	  "t.policy:7: PERFMON in phase steady: expected it in phase load as well, a right never "
	  "comes back" },
	{ HEAD "limit COR 0 # x\n",
	  "t.policy:6: \"COR\": expected the name of a limit, as NOFILE for RLIMIT_NOFILE" },
	{ HEAD "limit CORE none # x\n",
	  "t.policy:6: \"none\": expected a number, or \"unlimited\"" },
	{ HEAD "limit CORE 1T # x\n",
	  "t.policy:6: \"1T\": expected a number, with K, M or G at most" },
	/* 2^34 G = 2^64, which no longer fits. */
	{ HEAD "limit CORE 17179869184G # x\n",
	  "t.policy:6: \"17179869184G\": expected a number, with K, M or G at most" },
	{ HEAD "limit CORE 0 # x\nlimit CORE 1 # x\n",
	  "t.policy:7: limit CORE is there already, expected it once" },
	{ HEAD "path list /proc # x\n", "t.policy:6: \"list\": expected read or write" },
	{ HEAD "path read proc # x\n", "t.policy:6: \"proc\": expected an absolute path or @NAME" },
	{ HEAD "descriptor pipe 0 # x\n",
	  "t.policy:6: \"0\": expected how many at most, or \"any\"" },
	{ HEAD "descriptor pipe 1 # x\ndescriptor pipe 2 # x\n",
	  "t.policy:7: descriptor pipe is there already, expected it once" },
	{ HEAD "syscall child read # x\n",
	  "t.policy:6: \"child\": expected main, zygote or worker" },
	{ HEAD "syscall main # x\n", "t.policy:6: \"\": expected the name of a syscall" },
	{ HEAD "syscall main where arg0 == 1 # x\n",
	  "t.policy:6: \"where\": expected the name of a syscall" },
	{ HEAD "syscall main raed # x\n", "t.policy:6: \"raed\": expected the name of a syscall" },
	{ HEAD "syscall main read where arg6 == 1 # x\n",
	  "t.policy:6: \"arg6\": expected arg0 to arg5" },
	{ HEAD "syscall main read where arg0 = 1 # x\n",
	  "t.policy:6: \"=\": expected \"arg0 == VALUE\" or \"arg0 & MASK == VALUE\"" },
	{ HEAD "syscall main read where arg0 == O_NONE # x\n",
	  "t.policy:6: \"O_NONE\": expected a constant's name or a number" },
	{ HEAD "syscall main read where arg0 == O_CREAT| # x\n",
	  "t.policy:6: \"\": expected a constant's name or a number" },
	{ HEAD "syscall main read where arg0 & 3 == 4 # x\n",
	  "t.policy:6: value 0x4 has bits outside of mask 0x3: it could never hold" },
	{ HEAD "syscall main read where arg0 == 1 or arg1 == 2 # x\n",
	  "t.policy:6: \"or\": expected \"where\", \"and\", \"errno\" or the end of the line" },
	{ HEAD "syscall main read where arg0 == 1 and arg0 == 2 # x\n",
	  "t.policy:6: arg0 has a condition already, expected one" },
	{ HEAD "syscall main read where arg0 == 1 and arg1 == 1 and arg2 == 1 and arg3 == 1 and "
	       "arg4 == 1 # x\n",
	  "t.policy:6: expected at most 4 conditions" },
	{ HEAD "syscall main read errno EWHAT # x\n",
	  "t.policy:6: \"EWHAT\": expected an errno: EACCES, EAGAIN, EINVAL, ENOENT, ENOSYS or "
	  "EPERM" },
	{ HEAD "syscall main read # x\nsyscall main write read # x\n",
	  "t.policy:7: read stands at line 6 already, expected it once" },
	/* The first line would make the second void, or the other way round. */
	{ HEAD "syscall main mmap # x\nsyscall main mmap where arg2 == 1 # x\n",
	  "t.policy:7: mmap at line 6: expected conditions on both lines or one line" },
	{ HEAD "syscall main mmap where arg2 == 1 # x\nsyscall main mmap where arg2 == 2 errno "
	       "EPERM # x\n",
	  "t.policy:7: mmap at line 6 has another action, expected the same" },
	{ HEAD "syscall main a b c d e f g h i j k l m n o p q r s t u v w x y # x\n",
	  "t.policy:6: expected at most 24 words" },
};

static void every_error_names_file_line_and_what_was_expected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct policy_text *t;
		char error[512] = "";
		size_t len = strlen(wrongs[i].text);

		assert_int_equal(policy_text_parse("t.policy", wrongs[i].text, len, &t, error,
						   sizeof(error)),
				 -EINVAL);
		assert_null(t);
		assert_string_equal(error, wrongs[i].error);
	}
}

static void a_file_too_long_or_with_a_nul_is_refused(void **state)
{
	char *text = calloc(1, POLICY_TEXT_MAX + 1);
	struct policy_text *t;
	char error[128];

	(void)state;
	assert_non_null(text);
	memset(text, '\n', POLICY_TEXT_MAX + 1);
	assert_int_equal(
		policy_text_parse("f", text, POLICY_TEXT_MAX + 1, &t, error, sizeof(error)),
		-EINVAL);
	assert_string_equal(error, "f:1: file of 65537 bytes, expected at most 65536");
	assert_int_equal(policy_text_parse("f", "role\0x", 6, &t, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "f:1: a NUL byte, expected text");
	free(text);
}

static void more_lines_than_there_is_room_for_are_refused(void **state)
{
	char text[4096] = HEAD;
	struct policy_text *t;
	char error[128];
	size_t len = strlen(text);

	(void)state;
	for (int i = 0; i <= POLICY_TEXT_PATHS_MAX; i++)
		len += (size_t)sprintf(text + len, "path read /%d # x\n", i);
	assert_int_equal(policy_text_parse("f", text, len, &t, error, sizeof(error)), -EINVAL);
	/* 5 lines and 32 that fit: the next is line 38. */
	assert_string_equal(error, "f:38: expected at most 32 \"path\" lines");
}

static void a_short_error_buffer_is_not_overrun(void **state)
{
	struct policy_text *t;
	char error[12] = "";

	(void)state;
	assert_int_equal(policy_text_parse("t.policy", "x\n", 2, &t, error, sizeof(error)),
			 -EINVAL);
	assert_string_equal(error, "t.policy:1:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_policy_becomes_a_table),
		cmocka_unit_test(conditions_become_mask_and_value),
		cmocka_unit_test(comments_blank_lines_and_a_missing_last_newline_are_fine),
		cmocka_unit_test(every_error_names_file_line_and_what_was_expected),
		cmocka_unit_test(a_file_too_long_or_with_a_nul_is_refused),
		cmocka_unit_test(more_lines_than_there_is_room_for_are_refused),
		cmocka_unit_test(a_short_error_buffer_is_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
