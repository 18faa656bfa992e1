/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/sample_channel.h"

static const uint64_t frames[3] = { 0xffffffff81000010, 0x401000, 0x402000 };

static struct sample_record one_sample(void)
{
	struct sample_record s = {
		.time = 5000,
		.start_time = 77,
		.cgroup_id = 9,
		.tgid = 100,
		.tid = 101,
		.cpu = 1,
		.uid = 1000,
		.kernel_frames = 1,
		.user_frames = 2,
		.frames_by_frame_pointer = 1,
		.status = SAMPLE_STACK_COMPLETE,
		.flags = SAMPLE_FLAG_IN_KERNEL,
	};

	memcpy(s.comm, "worker", 7);
	memcpy(s.process_comm, "server", 7);
	return s;
}

/* A batch with one sample record; returns its length. */
static uint32_t one_batch(uint8_t *out)
{
	struct batch_header h = { .stream_id = 1, .samples = 1, .records = 1, .frequency = 19 };
	struct sample_record s = one_sample();
	struct builder b = builder_over(out + BATCH_HEADER_LEN, BATCH_MAX - BATCH_HEADER_LEN);

	batch_header_encode(&h, out);
	record_encode_sample(&b, &s, frames);
	assert_false(b.bad);
	return BATCH_HEADER_LEN + b.len;
}

static void a_sample_survives_the_round_trip(void **state)
{
	uint8_t data[BATCH_MAX];
	struct batch_header h;
	struct cursor body;
	struct record r;
	uint64_t last;

	(void)state;
	/* 48 header + 8 record header + 88 sample header + 3 * 8 frames */
	assert_int_equal(one_batch(data), 168);
	assert_null(batch_open(data, 168, &h, &body));
	assert_int_equal(h.frequency, 19);
	assert_null(record_decode(&body, &r));
	assert_int_equal(r.type, RECORD_SAMPLE);
	assert_int_equal(r.sample.header.tid, 101);
	assert_string_equal(r.sample.header.process_comm, "server");
	memcpy(&last, r.sample.frames + 16, 8);
	assert_int_equal(last, 0x402000);
	assert_null(record_decode(&body, &r));
	assert_int_equal(r.type, 0);
}

static void every_truncation_is_refused_or_empty(void **state)
{
	uint8_t data[BATCH_MAX];
	uint32_t len = one_batch(data);

	(void)state;
	for (uint32_t cut = 0; cut < len; cut++) {
		struct batch_header h;
		struct cursor body;
		struct record r;
		const char *wrong = batch_open(data, cut, &h, &body);

		if (cut < BATCH_HEADER_LEN) {
			assert_non_null(wrong);
			continue;
		}
		assert_null(wrong);
		wrong = record_decode(&body, &r);
		/* Exactly the header: an empty body, which is the end. */
		assert_true(cut == BATCH_HEADER_LEN ? !wrong && r.type == 0 : wrong != NULL);
	}
}

static void assert_refused_when(uint32_t offset, uint8_t value, const char *expected)
{
	uint8_t data[BATCH_MAX];
	uint32_t len = one_batch(data);
	struct batch_header h;
	struct cursor body;
	struct record r;
	const char *wrong;

	data[offset] = value;
	wrong = batch_open(data, len, &h, &body);
	if (!wrong)
		wrong = record_decode(&body, &r);
	assert_non_null(wrong);
	assert_string_equal(wrong, expected);
}

static void wrong_fields_are_named(void **state)
{
	const uint32_t record = BATCH_HEADER_LEN;
	const uint32_t sample = record + RECORD_HEADER_LEN;

	(void)state;
	assert_refused_when(0, 'X', "batch does not begin with its magic number");
	assert_refused_when(4, 9, "batch has another version");
	/* samples (offset 32) above records (offset 36) */
	assert_refused_when(32, 2,
			    "batch announces more samples than records, or more records than fit");
	assert_refused_when(40, 0, "sampling frequency of the batch is out of range");
	assert_refused_when(44, 1, "reserved field of the batch header is not zero");
	assert_refused_when(record, 0, "unknown record type");
	assert_refused_when(record, RECORD_TYPES, "unknown record type");
	assert_refused_when(record + 4, 87, "record has the wrong length");
	assert_refused_when(record + 4, 104, "record does not end where its fields end");
	assert_refused_when(record + 4, 120, "batch ends inside a record");
	/* kernel_frames at 3*8 + 4*4 = 40: 128 is one above the limit */
	assert_refused_when(sample + 40, 128, "sample has too many frames");
	assert_refused_when(sample + 50, SAMPLE_STATUS_COUNT, "sample has an unknown status or flag");
	assert_refused_when(sample + 51, 0x80, "sample has an unknown status or flag");
}

static void mappings_are_checked(void **state)
{
	uint8_t data[RECORD_MAX];
	struct mapping_record m = {
		.start = 0x1000, .end = 0x1000, .kind = MAPPING_FILE, .path_len = 3,
		.path = (const uint8_t *)"/ab",
	};
	struct record r;
	struct builder b = builder_over(data, sizeof(data));
	struct cursor c;

	(void)state;
	record_encode_mapping(&b, &m);
	c = cursor_over(data, b.len);
	assert_string_equal(record_decode(&c, &r), "mapping is empty or reversed");
	m.end = 0x2000;
	b = builder_over(data, sizeof(data));
	record_encode_mapping(&b, &m);
	c = cursor_over(data, b.len);
	assert_null(record_decode(&c, &r));
	assert_memory_equal(r.mapping.path, "/ab", 3);
	m.kind = MAPPING_KINDS;
	b = builder_over(data, sizeof(data));
	record_encode_mapping(&b, &m);
	c = cursor_over(data, b.len);
	assert_string_equal(record_decode(&c, &r), "mapping has an unknown kind");
}

static void counters_have_distinct_names(void **state)
{
	(void)state;
	for (int i = 0; i < COLLECTOR_COUNTERS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(collector_counter_name(i),
						collector_counter_name(k));
	assert_string_equal(collector_counter_name(COLLECTOR_COUNTERS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_survives_the_round_trip),
		cmocka_unit_test(every_truncation_is_refused_or_empty),
		cmocka_unit_test(wrong_fields_are_named),
		cmocka_unit_test(mappings_are_checked),
		cmocka_unit_test(counters_have_distinct_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
