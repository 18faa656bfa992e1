/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "policy/report.h"
#include "tests/unit/cmocka_all.h"

static const struct report example = { .pid = 77,
				       .landlock_abi = 7,
				       .given_up = 1ull << 38,
				       .old_kernel = true,
				       .role = "collector",
				       .process = "main" };

static void a_report_comes_back_as_it_was(void **state)
{
	uint8_t bytes[REPORT_LENGTH];
	struct report r;

	(void)state;
	report_encode(&example, bytes);
	assert_null(report_decode(bytes, sizeof(bytes), &r));
	assert_int_equal(r.pid, 77);
	assert_int_equal(r.landlock_abi, 7);
	assert_int_equal(r.given_up, 1ull << 38);
	assert_true(r.old_kernel);
	assert_string_equal(r.role, "collector");
	assert_string_equal(r.process, "main");
}

/* Offsets: magic 0, version 4, pid 8, landlock 12, given up 16, old kernel 24, role 28, process 44.
 */
static void assert_wrong(uint32_t offset, uint8_t value, const char *sentence)
{
	uint8_t bytes[REPORT_LENGTH];
	struct report r;

	report_encode(&example, bytes);
	bytes[offset] = value;
	assert_string_equal(report_decode(bytes, sizeof(bytes), &r), sentence);
}

static void what_a_role_never_writes_is_refused(void **state)
{
	uint8_t bytes[REPORT_LENGTH + 1] = { 0 };
	struct report r;

	(void)state;
	assert_wrong(0, 'X', "report has another magic or version");
	assert_wrong(4, 2, "report has another magic or version");
	assert_wrong(24, 2, "report says neither yes nor no about an old kernel");
	assert_wrong(28, 27 /* escape: it is printed to a terminal */,
		     "report has a name that is not lower-case letters");
	assert_wrong(44, 0, "report has a name that is not lower-case letters");
	assert_wrong(59, 'x', "report has a name that is not lower-case letters");
	report_encode(&example, bytes);
	for (uint32_t len = 0; len < REPORT_LENGTH; len++)
		assert_string_equal(report_decode(bytes, len, &r), "report has another length");
	assert_string_equal(report_decode(bytes, REPORT_LENGTH + 1, &r),
			    "report has another length");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_comes_back_as_it_was),
		cmocka_unit_test(what_a_role_never_writes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
