/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "symbolizer/worker_message.h"

static uint8_t packet[WORKER_PACKET_MAX];

static struct builder fresh(void)
{
	return builder_over(packet, sizeof(packet));
}

static void a_request_survives_the_way(void **state)
{
	static uint8_t data[WORKER_REQUEST_MAX];
	static struct worker_request r, got;
	struct builder b = builder_over(data, sizeof(data));

	(void)state;
	r = (struct worker_request){ .file_size = 1ull << 40,
				     .identify = true,
				     .count = WORKER_OFFSETS_MAX };
	for (uint32_t i = 0; i < r.count; i++)
		r.offsets[i] = UINT64_MAX - i;
	worker_request_encode(&b, &r);
	assert_false(b.bad);
	assert_int_equal(b.len, WORKER_REQUEST_MAX);
	assert_null(worker_request_decode(data, b.len, &got));
	assert_memory_equal(&r, &got, sizeof(r));
	assert_non_null(worker_request_decode(data, b.len - 1, &got));
	data[16] = 0xff;
	data[17] = 0xff; /* 65,535 offsets */
	assert_string_equal(worker_request_decode(data, b.len, &got),
			    "request asks for too many offsets");
}

static void an_answer_about_a_file_survives_the_way(void **state)
{
	struct worker_file f = { .status = WORKER_FILE_MALFORMED,
				 .parts = WORKER_HAS_SYMTAB,
				 .build_id = "00ff",
				 .detail = "a segment ends after the file" };
	struct worker_packet p;
	struct builder b = fresh();

	(void)state;
	worker_file_encode(&b, &f);
	assert_null(worker_packet_decode(packet, b.len, &p));
	assert_int_equal(p.type, WORKER_FILE);
	assert_int_equal(p.file.status, WORKER_FILE_MALFORMED);
	assert_int_equal(p.file.parts, WORKER_HAS_SYMTAB);
	assert_string_equal(p.file.build_id, "00ff");
	assert_string_equal(p.file.detail, "a segment ends after the file");
	for (uint32_t len = 0; len < b.len; len++)
		assert_non_null(worker_packet_decode(packet, len, &p));
	assert_non_null(worker_packet_decode(packet, b.len + 1, &p));
}

static void foreign_text_is_refused(void **state)
{
	static const struct worker_file bad[] = {
		{ .status = WORKER_FILE_OK, .build_id = "00FF" },
		{ .status = WORKER_FILE_OK, .build_id = "../../etc" },
		{ .status = WORKER_FILE_OK, .detail = "line\nlevel=error" },
		{ .status = WORKER_FILE_OK, .detail = "\x1b[2J" },
		{ .status = WORKER_FILE_OK, .detail = "caf\xc3\xa9" },
		{ .status = WORKER_FILE_STATUSES },
		{ .status = WORKER_FILE_OK, .parts = 8 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct worker_packet p;
		struct builder b = fresh();

		worker_file_encode(&b, &bad[i]);
		assert_non_null(worker_packet_decode(packet, b.len, &p));
	}
}

static struct worker_name name_of(const char *name, const char *raw)
{
	return (struct worker_name){ .has_address = true,
				     .has_symbol = true,
				     .address = 0x401234,
				     .function_start = 0x401200,
				     .name = name,
				     .name_len = (uint32_t)strlen(name),
				     .system_name = raw,
				     .system_name_len = (uint32_t)strlen(raw) };
}

static void names_survive_the_way(void **state)
{
	struct worker_name none = { 0 };
	struct worker_name address = { .has_address = true, .address = UINT64_MAX };
	struct worker_name both = name_of("f(int)", "_Z1fi");
	struct worker_name same = name_of("main", "main");
	struct worker_packet p;
	struct worker_name n;
	struct builder b = fresh();

	(void)state;
	worker_names_begin(&b);
	assert_true(worker_names_add(&b, &none));
	assert_true(worker_names_add(&b, &address));
	assert_true(worker_names_add(&b, &both));
	assert_true(worker_names_add(&b, &same));
	assert_null(worker_packet_decode(packet, b.len, &p));
	assert_int_equal(p.count, 4);
	assert_null(worker_name_decode(&p.body, &n));
	assert_false(n.has_address || n.has_symbol);
	assert_null(worker_name_decode(&p.body, &n));
	assert_true(n.has_address && n.address == UINT64_MAX && !n.has_symbol);
	assert_null(worker_name_decode(&p.body, &n));
	assert_memory_equal(n.name, "f(int)", 6);
	assert_memory_equal(n.system_name, "_Z1fi", 5);
	assert_int_equal(n.function_start, 0x401200);
	assert_null(worker_name_decode(&p.body, &n));
	assert_memory_equal(n.system_name, "main", 4);
	assert_int_equal(n.system_name_len, 4);
	assert_true(cursor_finished(&p.body));
	assert_non_null(worker_name_decode(&p.body, &n));
}

static void impossible_names_are_refused(void **state)
{
	static char longest[WORKER_NAME_MAX + 2];
	struct worker_name bad[4];
	struct worker_packet p;
	struct worker_name n;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	bad[0] = name_of("", "raw");
	bad[1] = name_of(longest, "raw");
	bad[2] = name_of("name", "");
	bad[3] = name_of("name", "raw");
	bad[3].function_start = bad[3].address + 1;
	for (int i = 0; i < 4; i++) {
		struct builder b = fresh();

		worker_names_begin(&b);
		assert_true(worker_names_add(&b, &bad[i]));
		assert_null(worker_packet_decode(packet, b.len, &p));
		assert_non_null(worker_name_decode(&p.body, &n));
	}
}

/* It would make two strings of one. */
static void a_name_with_a_nul_inside_is_refused(void **state)
{
	struct worker_name n = name_of("na-me", "raw");
	struct worker_packet p;
	struct builder b = fresh();

	(void)state;
	worker_names_begin(&b);
	assert_true(worker_names_add(&b, &n));
	*(char *)memchr(packet, '-', b.len) = '\0';
	assert_null(worker_packet_decode(packet, b.len, &p));
	assert_non_null(worker_name_decode(&p.body, &n));
}

static void a_full_packet_refuses_the_next_name_and_stays_whole(void **state)
{
	static char longest[WORKER_NAME_MAX + 1];
	struct worker_name n;
	struct worker_packet p;
	struct builder b = fresh();
	uint32_t added = 0;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	n = name_of(longest, longest);
	worker_names_begin(&b);
	while (worker_names_add(&b, &n))
		added++;
	/* 32 KiB hold 7 names of 4,096 + 19 bytes. */
	assert_int_equal(added, 7);
	assert_null(worker_packet_decode(packet, b.len, &p));
	assert_int_equal(p.count, 7);
	for (uint32_t i = 0; i < added; i++)
		assert_null(worker_name_decode(&p.body, &n));
	assert_true(cursor_finished(&p.body));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_survives_the_way),
		cmocka_unit_test(an_answer_about_a_file_survives_the_way),
		cmocka_unit_test(foreign_text_is_refused),
		cmocka_unit_test(names_survive_the_way),
		cmocka_unit_test(impossible_names_are_refused),
		cmocka_unit_test(a_name_with_a_nul_inside_is_refused),
		cmocka_unit_test(a_full_packet_refuses_the_next_name_and_stays_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
