/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cmocka_all.h"
#include "ipc/control_channel.h"

static const char *decode(const uint8_t *data, uint32_t len, struct control_message *m)
{
	return control_message_decode(control_rules_to_collector, control_rules_to_collector_count,
				      data, len, 0, m);
}

static const char *encode_and_decode(const struct control_message *in, struct control_message *out)
{
	uint8_t data[CONTROL_MESSAGE_MAX];

	return decode(data, control_message_encode(in, data), out);
}

static void a_filter_survives_the_round_trip(void **state)
{
	struct control_message in = { .type = CONTROL_FILTER_ADD, .filter = FILTER_PROCESS,
				      .descendants = 1, .key = 1234 };
	struct control_message out;

	(void)state;
	assert_null(encode_and_decode(&in, &out));
	assert_int_equal(out.key, 1234);
	assert_int_equal(out.descendants, 1);
}

static void impossible_filters_are_named(void **state)
{
	struct control_message in = { .type = CONTROL_FILTER_ADD, .filter = FILTER_KINDS };
	struct control_message out;

	(void)state;
	assert_string_equal(encode_and_decode(&in, &out), "unknown filter kind");
	in.filter = FILTER_UID;
	in.descendants = 1;
	assert_string_equal(encode_and_decode(&in, &out),
			    "descendants apply to process filters only, as 0 or 1");
	in.descendants = 0;
	in.key = 1ull << 32;
	assert_string_equal(encode_and_decode(&in, &out), "process and user ids have 32 bits");
	in.filter = FILTER_CGROUP; /* cgroup ids have 64 */
	assert_null(encode_and_decode(&in, &out));
}

static void answers_are_no_commands(void **state)
{
	struct control_message in = { .type = CONTROL_STOPPED };
	struct control_message out;
	uint8_t data[CONTROL_MESSAGE_MAX];
	uint32_t len;

	(void)state;
	assert_string_equal(encode_and_decode(&in, &out), "unknown message type");
	in.counters.value[COLLECTOR_TAKEN] = 7;
	len = control_message_encode(&in, data);
	assert_null(control_message_decode(control_rules_to_launcher,
					   control_rules_to_launcher_count, data, len, 0, &out));
	assert_int_equal(out.counters.value[COLLECTOR_TAKEN], 7);
}

static void length_is_exact(void **state)
{
	struct control_message in = { .type = CONTROL_START };
	struct control_message out;
	uint8_t data[CONTROL_MESSAGE_MAX + 1] = { 0 };
	uint32_t len = control_message_encode(&in, data);

	(void)state;
	assert_int_equal(len, 8);
	assert_null(decode(data, 8, &out));
	assert_string_equal(decode(data, 9, &out), "message has the wrong length");
	assert_string_equal(decode(data, 7, &out), "message has another version");
	assert_string_equal(decode(data, CONTROL_MESSAGE_MAX + 1, &out), "message is too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_survives_the_round_trip),
		cmocka_unit_test(impossible_filters_are_named),
		cmocka_unit_test(answers_are_no_commands),
		cmocka_unit_test(length_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
