/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/profile_channel.h"

/* A window of stream positions 10..20: 9 received, 1 lost in transit, 7 in profiles, 2 given up. */
static struct profile_message one_message(void)
{
	struct profile_message m = {
		.type = PROFILE_PPROF,
		.sequence = 3,
		.account = { .first_sample = 10, .end_sample = 20, .received = 9, .in_profiles = 7,
			     .profiles = 2 },
		.index = 1,
		.samples = 4,
		.label_count = 1,
		.pprof = (const uint8_t *)"gzip",
		.pprof_len = 4,
	};

	m.account.lost[SYMBOLIZER_LOSS_STACKS_FULL] = 2;
	m.labels[0] = (struct profile_label){ "pid", "12", 3, 2 };
	return m;
}

static uint32_t encode(const struct profile_message *m, uint8_t *data, uint32_t size)
{
	struct builder b = builder_over(data, size);

	profile_message_encode_header(&b, m);
	if (m->type == PROFILE_PPROF)
		builder_bytes(&b, m->pprof, m->pprof_len);
	assert_false(b.bad);
	return b.len;
}

static const char *wrong_with(const struct profile_message *m)
{
	static struct profile_message out;
	uint8_t data[1024];

	return profile_message_decode(data, encode(m, data, sizeof(data)), &out);
}

static void a_profile_survives_the_round_trip(void **state)
{
	struct profile_message in = one_message();
	static struct profile_message out;
	uint8_t data[1024];

	(void)state;
	assert_null(profile_message_decode(data, encode(&in, data, sizeof(data)), &out));
	assert_int_equal(out.account.lost[SYMBOLIZER_LOSS_STACKS_FULL], 2);
	assert_int_equal(out.samples, 4);
	assert_memory_equal(out.labels[0].value, "12", 2);
	assert_memory_equal(out.pprof, "gzip", 4);
}

static void every_truncation_is_refused(void **state)
{
	struct profile_message in = one_message();
	static struct profile_message out;
	uint8_t data[1024];
	uint32_t len = encode(&in, data, sizeof(data));

	(void)state;
	for (uint32_t cut = 0; cut < len; cut++)
		assert_non_null(profile_message_decode(data, cut, &out));
	data[len] = 0;
	assert_string_equal(profile_message_decode(data, len + 1, &out),
			    "message does not end where its fields end");
}

static void an_account_that_does_not_balance_is_refused(void **state)
{
	struct profile_message m = one_message();

	(void)state;
	m.account.in_profiles = 6;
	assert_string_equal(wrong_with(&m), "window does not say where all its samples went");
	m.account.in_profiles = 8;
	assert_string_equal(wrong_with(&m), "window lost more samples than it received");
	m.account.in_profiles = 10;
	assert_string_equal(wrong_with(&m),
			    "window's profiles hold more samples than it received");
	m.account.received = 11;
	assert_string_equal(wrong_with(&m), "window received more samples than its range holds");
	m.account.end_sample = 9;
	assert_string_equal(wrong_with(&m), "window covers a reversed range of samples");
}

static void a_profile_outside_its_window_is_refused(void **state)
{
	struct profile_message m = one_message();

	(void)state;
	m.index = 2;
	assert_string_equal(wrong_with(&m),
			    "profile's index is not below the window's number of profiles");
	m = one_message();
	m.samples = 8;
	assert_string_equal(wrong_with(&m), "profile holds more samples than its window");
	m = one_message();
	m.labels[0].name_len = 0;
	assert_string_equal(wrong_with(&m), "label is empty or too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_survives_the_round_trip),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(an_account_that_does_not_balance_is_refused),
		cmocka_unit_test(a_profile_outside_its_window_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
