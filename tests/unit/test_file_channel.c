/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/file_channel.h"

static const char *to_collector(uint32_t phase, const uint8_t *data, uint32_t len, uint32_t fds,
				struct file_message *m)
{
	return file_message_decode(file_rules_to_collector, file_rules_to_collector_count, phase,
				   data, len, fds, m);
}

static const char *to_symbolizer(uint32_t phase, const uint8_t *data, uint32_t len, uint32_t fds,
				 struct file_message *m)
{
	return file_message_decode(file_rules_to_symbolizer, file_rules_to_symbolizer_count, phase,
				   data, len, fds, m);
}

static void opened_survives_the_round_trip(void **state)
{
	struct file_message in = { .type = FILE_OPENED, .file_id = 16, .device = 0x801, .inode = 42,
				   .size = 4096, .change_time = 99 };
	struct file_message out;
	uint8_t data[FILE_MESSAGE_MAX];
	uint32_t len = file_message_encode(&in, data);

	(void)state;
	assert_int_equal(len, 8 + 5 * 8);
	assert_null(to_symbolizer(FILE_PHASE_OPEN, data, len, 1, &out));
	assert_int_equal(out.file_id, 16);
	assert_int_equal(out.inode, 42);
	assert_int_equal(out.change_time, 99);
}

static void phase_length_and_descriptors_are_enforced(void **state)
{
	struct file_message in = { .type = FILE_OPENED, .file_id = 16 };
	struct file_message out;
	uint8_t data[FILE_MESSAGE_MAX + 8] = { 0 };
	uint32_t len = file_message_encode(&in, data);

	(void)state;
	assert_string_equal(to_symbolizer(FILE_PHASE_NEW, data, len, 1, &out),
			    "message not allowed now");
	assert_string_equal(to_symbolizer(FILE_PHASE_OPEN, data, len - 1, 1, &out),
			    "message has the wrong length");
	assert_string_equal(to_symbolizer(FILE_PHASE_OPEN, data, len + 1, 1, &out),
			    "message has the wrong length");
	assert_string_equal(to_symbolizer(FILE_PHASE_OPEN, data, len, 0, &out),
			    "message lacks its descriptor");
	assert_string_equal(to_symbolizer(FILE_PHASE_OPEN, data, FILE_MESSAGE_MAX + 1, 1, &out),
			    "message is too long");
	/* OPENED is the collector's word: the symbolizer may not say it */
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 0, &out),
			    "unknown message type");
}

static void the_symbolizer_cannot_pass_descriptors(void **state)
{
	struct file_message in = { .type = FILE_WANT, .file_id = 20 };
	struct file_message out;
	uint8_t data[FILE_MESSAGE_MAX];
	uint32_t len = file_message_encode(&in, data);

	(void)state;
	assert_null(to_collector(FILE_PHASE_OPEN, data, len, 0, &out));
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 1, &out),
			    "message carries a descriptor that it must not");
}

static void values_out_of_range_are_named(void **state)
{
	struct file_message in = { .type = FILE_DONE, .file_id = 20, .result = FILE_RESULTS };
	struct file_message out;
	uint8_t data[FILE_MESSAGE_MAX];
	uint32_t len = file_message_encode(&in, data);

	(void)state;
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 0, &out),
			    "unknown file result");
	in.result = FILE_NO_ROOM;
	in.file_id = FILE_ID_FIRST - 1;
	len = file_message_encode(&in, data);
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 0, &out),
			    "file id is reserved");
	in.file_id = FILE_ID_FIRST;
	len = file_message_encode(&in, data);
	data[len - 1] = 1;
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 0, &out),
			    "reserved field is not zero");
	data[4] = 2;
	assert_string_equal(to_collector(FILE_PHASE_OPEN, data, len, 0, &out),
			    "message has another version");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opened_survives_the_round_trip),
		cmocka_unit_test(phase_length_and_descriptors_are_enforced),
		cmocka_unit_test(the_symbolizer_cannot_pass_descriptors),
		cmocka_unit_test(values_out_of_range_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
