/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "policy/thread_status.h"
#include "tests/unit/cmocka_all.h"

/* A name may hold anything: the kernel writes a newline in it as \n, so no line can be forged. */
static const char example[] =
	"Name:\tx\\nUid:\t0\t0\t0\t0\n"
	"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \n"
	"NStgid:\t4000\t12\n"
	"CapInh:\t0000000000000000\nCapPrm:\t0000014000080004\nCapEff:\t0000000000000004\n"
	"CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000001\n"
	"NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";

static void a_status_text_is_read(void **state)
{
	struct thread_status s;

	(void)state;
	assert_null(thread_status_parse(example, &s));
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(s.uid[i], 1 + i);
		assert_int_equal(s.gid[i], 5 + i);
	}
	assert_int_equal(s.group_count, 2);
	assert_int_equal(s.groups[1], 10);
	assert_int_equal(s.inner_pid, 12);
	assert_int_equal(s.inheritable, 0);
	assert_int_equal(s.permitted, 0x14000080004);
	assert_int_equal(s.effective, 4);
	assert_int_equal(s.bounding, 0x1ffffffffff);
	assert_int_equal(s.ambient, 1);
	assert_int_equal(s.no_new_privileges, 1);
	assert_int_equal(s.seccomp, 2);
}

static void a_missing_line_is_named(void **state)
{
	static const struct {
		const char *line;
		const char *sentence;
	} cases[] = {
		{ "\nUid:", "no four uids and gids" },
		{ "\nGid:", "no four uids and gids" },
		{ "Groups:", "no groups" },
		{ "NStgid:", "no NStgid" },
		{ "CapBnd:", "no five capability sets" },
		{ "NoNewPrivs:", "no NoNewPrivs or Seccomp" },
		{ "Seccomp:", "no NoNewPrivs or Seccomp" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[sizeof(example)];
		struct thread_status s;

		memcpy(text, example, sizeof(example));
		strstr(text, cases[i].line)[2] = '?';
		assert_string_equal(thread_status_parse(text, &s), cases[i].sentence);
	}
	/* Three ids instead of four: the next line's numbers are not taken for it. */
	assert_string_equal(thread_status_parse("Uid:\t1\t2\t3\nGid:\t5\t6\t7\t8\n",
						&(struct thread_status){ 0 }),
			    "no four uids and gids");
}

static void system_calls_say_the_same_as_proc(void **state)
{
	struct thread_status by_proc, by_calls;

	(void)state;
	assert_int_equal(thread_status_read("/proc/thread-self/status", &by_proc), 0);
	assert_int_equal(thread_status_self(&by_calls), 0);
	by_proc.seccomp = by_calls.seccomp; /* not asked: one call too many for a filter */
	by_proc.inner_pid = by_calls.inner_pid;
	assert_memory_equal(&by_proc, &by_calls, sizeof(by_proc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_text_is_read),
		cmocka_unit_test(a_missing_line_is_named),
		cmocka_unit_test(system_calls_say_the_same_as_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
