// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include <string.h>

#include "cli/record_options.h"
#include "cli/role_users.h"

static struct record_options options; /* large, and one at a time */
static char problem[256];

#define PARSE(...) parse((char *[]){ (char *)"record", ##__VA_ARGS__, NULL })

static bool parse(char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	*problem = '\0';
	return record_options_parse(&options, argc, argv, problem, sizeof(problem));
}

static void without_anything_the_whole_host_is_recorded(void **state)
{
	(void)state;
	assert_true(PARSE());
	assert_int_equal(options.frequency, 97);
	assert_int_equal(options.duration_ms, 0);
	assert_int_equal(options.window, 10);
	assert_null(options.command);
	assert_false(record_options_command_only(&options));
}

static void a_command_keeps_its_own_options(void **state)
{
	(void)state;
	assert_true(PARSE("-F", "99", "-d", "2.5", "--", "ls", "-l", "-F"));
	assert_int_equal(options.frequency, 99);
	assert_int_equal(options.duration_ms, 2500);
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(options.command[2], "-F");
	assert_null(options.command[3]);
	/* The two dashes may be left out. */
	assert_true(PARSE("ls", "-l"));
	assert_string_equal(options.command[1], "-l");
}

static void a_command_alone_is_the_filter(void **state)
{
	(void)state;
	assert_true(PARSE("--", "ls"));
	assert_true(record_options_command_only(&options));
	assert_true(PARSE("-a", "--", "ls"));
	assert_false(record_options_command_only(&options));
	assert_true(PARSE("-p", "1", "--", "ls"));
	assert_false(record_options_command_only(&options));
	assert_true(PARSE("-u", "0", "--", "ls"));
	assert_false(record_options_command_only(&options));
}

static void filters_add_up(void **state)
{
	(void)state;
	assert_true(PARSE("-p", "12", "--pid", "34", "--cgroup", "/a.slice", "-u", "1000"));
	assert_int_equal(options.pid_count, 2);
	assert_int_equal(options.pids[1], 34);
	assert_string_equal(options.cgroup, "/a.slice");
	assert_true(options.by_uid);
	assert_int_equal(options.uid, 1000);
}

static void wrong_values_are_named(void **state)
{
	(void)state;
	assert_false(PARSE("-F", "0"));
	assert_string_equal(problem, "-F 0: a whole number from 1 to 10000 is needed");
	assert_false(PARSE("-F", "99x"));
	assert_false(PARSE("-F", "-1"));
	assert_false(PARSE("-F", "18446744073709551617"));
	assert_false(PARSE("-d", "nan"));
	assert_false(PARSE("-d", "0"));
	assert_false(PARSE("-d", "1e300"));
	assert_false(PARSE("-p", "0"));
	assert_false(PARSE("-u", "4294967295"));
	assert_false(PARSE("--format", "json"));
	assert_string_equal(problem, "--format json: pprof, folded or top is needed");
	assert_false(PARSE("--frequencyy", "1"));
	assert_string_equal(problem, "--frequencyy: no such option");
	assert_false(PARSE("-d"));
	assert_string_equal(problem, "-d: a value is missing");
	assert_false(PARSE("-a", "-p", "1"));
}

static void free_uids_come_in_a_run(void **state)
{
	static struct uid_set set;

	(void)state;
	memset(&set, 0, sizeof(set));
	set.taken[1] = 1; /* 61185 */
	set.taken[4] = 1; /* 61188 */
	/* 61184 alone and 61186..61187 are too short. */
	assert_int_equal(uid_set_find(&set, DYNAMIC_UID_FIRST, 3), 61189);
	/* Two are left at the end of the range: around to its beginning. */
	set.taken[1] = 0;
	assert_int_equal(uid_set_find(&set, DYNAMIC_UID_LAST - 1, 3), 61184);
	memset(set.taken, 1, sizeof(set.taken));
	assert_int_equal(uid_set_find(&set, DYNAMIC_UID_FIRST, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_anything_the_whole_host_is_recorded),
		cmocka_unit_test(a_command_keeps_its_own_options),
		cmocka_unit_test(a_command_alone_is_the_filter),
		cmocka_unit_test(filters_add_up),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(free_uids_come_in_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
