/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "collector/preflight.h"
#include "tests/unit/cmocka_all.h"

static struct kernel_version version(const char *release, const char *build, const char *signature)
{
	struct kernel_version v;

	assert_true(kernel_version_parse(release, build, signature, &v));
	return v;
}

static void assert_version(struct kernel_version v, uint32_t major, uint32_t minor, uint32_t patch)
{
	assert_int_equal(v.major, major);
	assert_int_equal(v.minor, minor);
	assert_int_equal(v.patch, patch);
}

static void the_release_is_the_version(void **state)
{
	(void)state;
	assert_version(version("6.18.44-fc", "#1 SMP", NULL), 6, 18, 44);
	assert_version(version("6.4", "", NULL), 6, 4, 0);
	assert_version(version("6.19.0-rc3", "", NULL), 6, 19, 0);
}

static void distributions_hide_the_patch_level(void **state)
{
	(void)state;
	assert_version(version("6.1.0-57-cloud-amd64",
			       "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1 (2026-01-01)", NULL),
		       6, 1, 192);
	assert_version(version("6.2.0-39-generic", "#40~22.04.1-Ubuntu SMP",
			       "Ubuntu 6.2.0-39.40~22.04.1-generic 6.2.16\n"),
		       6, 2, 16);
	/* A build text that speaks of another release is not believed. */
	assert_version(version("6.1.5", "Debian 5.10.262-1", NULL), 6, 1, 5);
}

static void what_is_no_version_is_refused(void **state)
{
	struct kernel_version v;

	(void)state;
	assert_false(kernel_version_parse("", "", NULL, &v));
	assert_false(kernel_version_parse("six.one", "", NULL, &v));
	assert_false(kernel_version_parse("6", "", NULL, &v));
	assert_false(kernel_version_parse("6.", "", NULL, &v));
}

/* A host with nothing wrong. */
static struct preflight_facts good_host(void)
{
	return (struct preflight_facts){ .kernel = { 6, 12, 0 },
					 .little_endian = true,
					 .btf = true,
					 .initial_namespace = true,
					 .perf_paranoid = 2,
					 .memory_locked = 64 << 10 };
}

static const char *only_problem(const struct preflight_facts *f, char *sentence)
{
	const char *id = "";

	assert_int_equal(preflight_judge(f, 0, sentence, &id), 1);
	return id;
}

static bool freezes(uint32_t major, uint32_t minor, uint32_t patch)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];
	const char *id;

	f.kernel = (struct kernel_version){ major, minor, patch };
	return preflight_judge(&f, 0, sentence, &id) != 0;
}

static void a_good_host_passes(void **state)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];
	const char *id;

	(void)state;
	assert_int_equal(preflight_judge(&f, 0, sentence, &id), 0);
}

static void kernels_with_the_freeze_bug_are_refused(void **state)
{
	(void)state;
	assert_false(freezes(5, 18, 19));
	assert_true(freezes(5, 19, 0));
	assert_true(freezes(5, 19, 17));
	assert_true(freezes(6, 0, 19));
	assert_true(freezes(6, 1, 0));
	assert_true(freezes(6, 1, 35));
	assert_false(freezes(6, 1, 36));
	assert_false(freezes(6, 1, 192));
	assert_true(freezes(6, 2, 16));
	assert_true(freezes(6, 3, 9));
	assert_false(freezes(6, 3, 10));
	assert_false(freezes(6, 4, 0));
	assert_false(freezes(7, 0, 0));
}

static void the_operator_can_accept_the_freeze_bug(void **state)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];
	const char *id;

	(void)state;
	f.kernel = (struct kernel_version){ 6, 2, 0 };
	f.accept_freeze_bug = true;
	assert_int_equal(preflight_judge(&f, 0, sentence, &id), 0);
}

static void level_three_names_the_sysctl(void **state)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];

	(void)state;
	f.perf_paranoid = 3;
	f.perf_errno = EACCES;
	assert_string_equal(only_problem(&f, sentence), "perf_event_closed");
	assert_non_null(strstr(sentence, "sysctl kernel.perf_event_paranoid=2"));
	/* Level 3 alone is no obstacle where the kernel knows CAP_PERFMON, or with CAP_SYS_ADMIN:
	 * the event opened. */
	f.perf_errno = 0;
	assert_int_equal(preflight_judge(&f, 0, sentence, &(const char *){ NULL }), 0);
}

static void a_missing_capability_is_named(void **state)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];

	(void)state;
	f.perf_errno = EACCES;
	assert_string_equal(only_problem(&f, sentence), "perf_event_closed");
	assert_non_null(strstr(sentence, "CAP_PERFMON"));
}

static void locked_memory_matters_before_5_11_only(void **state)
{
	struct preflight_facts f = good_host();
	char sentence[PREFLIGHT_SENTENCE];
	const char *id;

	(void)state;
	assert_int_equal(preflight_judge(&f, 0, sentence, &id), 0);
	f.kernel = (struct kernel_version){ 5, 10, 262 };
	assert_string_equal(only_problem(&f, sentence), "memory_locked");
	assert_non_null(strstr(sentence, "64 KiB"));
	f.memory_locked = UINT64_MAX;
	assert_int_equal(preflight_judge(&f, 0, sentence, &id), 0);
}

static void every_obstacle_is_told(void **state)
{
	struct preflight_facts f = { .kernel = { 5, 4, 0 },
				     .confidential = true,
				     .perf_errno = EPERM };
	char sentence[PREFLIGHT_SENTENCE];
	const char *id = "";

	(void)state;
	/* Too old, big-endian, no BTF, lockdown, pid namespace, perf, locked memory: all but the
	 * freeze bug. */
	assert_int_equal(preflight_judge(&f, 3, sentence, &id), 7);
	assert_string_equal(id, "lockdown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_release_is_the_version),
		cmocka_unit_test(distributions_hide_the_patch_level),
		cmocka_unit_test(what_is_no_version_is_refused),
		cmocka_unit_test(a_good_host_passes),
		cmocka_unit_test(kernels_with_the_freeze_bug_are_refused),
		cmocka_unit_test(the_operator_can_accept_the_freeze_bug),
		cmocka_unit_test(level_three_names_the_sysctl),
		cmocka_unit_test(a_missing_capability_is_named),
		cmocka_unit_test(locked_memory_matters_before_5_11_only),
		cmocka_unit_test(every_obstacle_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
