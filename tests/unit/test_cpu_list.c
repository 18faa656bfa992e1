/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/cpu_list.h"
#include "tests/unit/cmocka_all.h"

static const char *parse(const char *text, struct cpu_list *l)
{
	return cpu_list_parse((const uint8_t *)text, (uint32_t)strlen(text), l);
}

static uint32_t count(const struct cpu_list *l)
{
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		n += cpu_list_has(l, cpu);
	return n;
}

static void one_range_is_all_cpus(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_null(parse("0-63\n", &l));
	assert_int_equal(l.end, 64);
	assert_int_equal(count(&l), 64);
}

static void a_sparse_list_has_holes(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_null(parse("0,2-3,64,8191\n", &l));
	assert_int_equal(l.end, 8192);
	assert_int_equal(count(&l), 5);
	assert_true(cpu_list_has(&l, 0));
	assert_false(cpu_list_has(&l, 1));
	assert_true(cpu_list_has(&l, 3));
	assert_true(cpu_list_has(&l, 64));
	assert_true(cpu_list_has(&l, 8191));
	assert_false(cpu_list_has(&l, 8192));
}

static void an_empty_line_is_no_cpu(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_null(parse("\n", &l));
	assert_int_equal(l.end, 0);
	assert_null(parse("", &l));
	assert_int_equal(l.end, 0);
}

static void what_is_no_list_is_refused(void **state)
{
	static const char *const bad[] = { "a",	  "0-",	  "-3",	    "0,",	   "3-1",
					   "0 1", "8192", "0-8192", "99999999999", "0--1" };
	struct cpu_list l;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(parse(bad[i], &l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_range_is_all_cpus),
		cmocka_unit_test(a_sparse_list_has_holes),
		cmocka_unit_test(an_empty_line_is_no_cpu),
		cmocka_unit_test(what_is_no_list_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
