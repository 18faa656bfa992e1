// SPDX-License-Identifier: Apache-2.0
#include "uploader/sink_name.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

static struct sink_text text(const char *s)
{
	return (struct sink_text){ s, (uint32_t)strlen(s) };
}

static void expect_name(uint64_t seconds, const char *comm, const char *pid, uint32_t number,
			const char *expected)
{
	char name[JOURNAL_FILE_MAX];

	sink_name_format(name, seconds, text(comm), text(pid), number);
	assert_string_equal(name, expected);
	assert_true(journal_file_valid(name));
}

/* date -u -d @SECONDS +%Y%m%d/%H%M%S gave each of these. */
static void name_sorts_by_time(void **state)
{
	(void)state;
	expect_name(0, "nginx", "1234", 0, "19700101/000000-nginx-1234-0.pb.gz");
	expect_name(951827696, "nginx", "1", 0, "20000229/123456-nginx-1-0.pb.gz");
	expect_name(951868799, "nginx", "1", 0, "20000229/235959-nginx-1-0.pb.gz");
	expect_name(951868800, "nginx", "1", 7, "20000301/000000-nginx-1-7.pb.gz");
	expect_name(1796083200, "nginx", "1", 0, "20261201/000000-nginx-1-0.pb.gz");
	expect_name(4107542400, "nginx", "1", 0, "21000301/000000-nginx-1-0.pb.gz");
}

static void foreign_characters_are_reduced(void **state)
{
	(void)state;
	expect_name(0, "../../etc", "1", 0, "19700101/000000-.._.._etc-1-0.pb.gz");
	expect_name(0, "a b\n\x1b[0m", "1", 0, "19700101/000000-a_b___0m-1-0.pb.gz");
	expect_name(0, "\xc3\xa4", "1/2", 0, "19700101/000000-__-1_2-0.pb.gz");
	expect_name(0, "", "", 0, "19700101/000000-_-_-0.pb.gz");
}

static void long_texts_are_cut(void **state)
{
	char comm[5000];
	char name[JOURNAL_FILE_MAX];

	(void)state;
	memset(comm, 'x', sizeof(comm));
	sink_name_format(name, UINT64_MAX, (struct sink_text){ comm, sizeof(comm) },
			 (struct sink_text){ comm, sizeof(comm) }, UINT32_MAX);
	assert_string_equal(name, "99991231/235959-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-"
				  "xxxxxxxxxxxxxxxxxxxx-4294967295.pb.gz");
}

static void zero_byte_does_not_end_a_name(void **state)
{
	char name[JOURNAL_FILE_MAX];

	(void)state;
	sink_name_format(name, 0, (struct sink_text){ "a\0b", 3 }, text("1"), 0);
	assert_string_equal(name, "19700101/000000-a_b-1-0.pb.gz");
}

static void days_and_files_are_recognised(void **state)
{
	uint64_t day;
	uint32_t seconds;

	(void)state;
	assert_true(sink_name_parse_day("20000229", &day));
	assert_int_equal(day, 951782400);
	assert_false(sink_name_parse_day("20001301", &day));
	assert_false(sink_name_parse_day("2000022", &day));
	assert_false(sink_name_parse_day("2000022x", &day));
	assert_false(sink_name_parse_day("journal", &day));
	assert_true(sink_name_parse_file("123456-nginx-1-0.pb.gz", &seconds));
	assert_int_equal(seconds, 12 * 3600 + 34 * 60 + 56);
	assert_false(sink_name_parse_file("243456-nginx-1-0.pb.gz", &seconds));
	assert_false(sink_name_parse_file("123456-nginx.txt", &seconds));
	assert_false(sink_name_parse_file(".123456-nginx-1-0.pb.gz.tmp", &seconds));
	assert_false(sink_name_parse_file("123456-a b-1-0.pb.gz", &seconds));
	assert_true(sink_name_is_temporary(".123456-nginx-1-0.pb.gz.tmp"));
	assert_false(sink_name_is_temporary("123456-nginx-1-0.pb.gz"));
	assert_false(sink_name_is_temporary(".profile"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_sorts_by_time),
		cmocka_unit_test(foreign_characters_are_reduced),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(zero_byte_does_not_end_a_name),
		cmocka_unit_test(days_and_files_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
