/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "collector/sideband_record.h"
#include "ipc/builder.h"

static uint8_t raw[SIDEBAND_RECORD_MAX + 8];

static struct builder begin(uint32_t type, uint16_t misc)
{
	struct builder b = builder_over(raw, sizeof(raw));

	builder_u32(&b, type);
	builder_u16(&b, misc);
	builder_u16(&b, 0); /* the size, filled in by finish() */
	return b;
}

/* Appends the sample id (tgid, tid, time) and writes the size. */
static uint32_t finish(struct builder *b, uint64_t time)
{
	builder_u32(b, 7);
	builder_u32(b, 8);
	builder_u64(b, time);
	assert_false(b->bad);
	raw[6] = (uint8_t)b->len;
	raw[7] = (uint8_t)(b->len >> 8);
	return b->len;
}

static struct builder mmap2(uint64_t start, uint64_t length, uint16_t misc)
{
	struct builder b = begin(10, misc);

	builder_u32(&b, 100);
	builder_u32(&b, 101);
	builder_u64(&b, start);
	builder_u64(&b, length);
	builder_u64(&b, 0x2000);
	builder_u32(&b, 8);
	builder_u32(&b, 1);
	builder_u64(&b, 4711);
	builder_u64(&b, 99);
	builder_u32(&b, 5);
	builder_u32(&b, 2);
	return b;
}

static void mmap_gives_every_field(void **state)
{
	struct builder b = mmap2(0x400000, 0x1000, 0);
	struct sideband_event e;
	uint32_t len;

	(void)state;
	builder_bytes(&b, "/bin/x\0\0", 8);
	len = finish(&b, 123456789);
	assert_int_equal(len, 8 + 8 + 24 + 8 + 16 + 8 + 8 + 16);
	assert_null(sideband_record_decode(raw, len, &e));
	assert_int_equal(e.type, SIDEBAND_MMAP);
	assert_int_equal(e.time, 123456789);
	assert_int_equal(e.tgid, 100);
	assert_int_equal(e.tid, 101);
	assert_int_equal(e.start, 0x400000);
	assert_int_equal(e.length, 0x1000);
	assert_int_equal(e.offset, 0x2000);
	assert_int_equal(e.device_major, 8);
	assert_int_equal(e.device_minor, 1);
	assert_int_equal(e.inode, 4711);
	assert_int_equal(e.generation, 99);
	assert_int_equal(e.protection, 5);
	assert_int_equal(e.map_flags, 2);
	assert_int_equal(e.path_len, 6);
	assert_memory_equal(e.path, "/bin/x", 6);
}

static void mmap_without_end_of_name_or_range_is_refused(void **state)
{
	struct sideband_event e;
	struct builder b;

	(void)state;
	b = mmap2(0x400000, 0x1000, 0);
	builder_bytes(&b, "/bin/xyz", 8);
	assert_string_equal(sideband_record_decode(raw, finish(&b, 1), &e),
			    "side-band record's name has no end");
	assert_null(e.path);
	b = mmap2(0x400000, 0, 0);
	builder_bytes(&b, "/bin/x\0\0", 8);
	assert_non_null(sideband_record_decode(raw, finish(&b, 1), &e));
	b = mmap2(UINT64_MAX - 10, 11, 0); /* the end would be 2^64 */
	builder_bytes(&b, "/bin/x\0\0", 8);
	assert_non_null(sideband_record_decode(raw, finish(&b, 1), &e));
	b = mmap2(0x400000, 0x1000, 1u << 14); /* build id in place of the file's numbers */
	builder_bytes(&b, "/bin/x\0\0", 8);
	assert_non_null(sideband_record_decode(raw, finish(&b, 1), &e));
}

static void comm_with_exec_bit_is_an_exec(void **state)
{
	struct sideband_event e;
	struct builder b;

	(void)state;
	for (int exec = 0; exec < 2; exec++) {
		b = begin(3, exec ? 1u << 13 : 0);
		builder_u32(&b, 5);
		builder_u32(&b, 5);
		builder_bytes(&b, "fifteen letters", 16);
		assert_null(sideband_record_decode(raw, finish(&b, 9), &e));
		assert_int_equal(e.type, exec ? SIDEBAND_EXEC : SIDEBAND_COMM);
		assert_string_equal(e.comm, "fifteen letters");
		assert_null(e.path);
	}
	b = begin(3, 0);
	builder_u32(&b, 5);
	builder_u32(&b, 5);
	builder_bytes(&b, "sh\0\0\0\0\0\0", 8);
	assert_null(sideband_record_decode(raw, finish(&b, 9), &e));
	assert_string_equal(e.comm, "sh");
}

static void fork_and_exit_name_process_and_parent(void **state)
{
	struct sideband_event e;

	(void)state;
	for (uint32_t type = 4; type <= 7; type += 3) {
		struct builder b = begin(type, 0);

		builder_u32(&b, 20); /* tgid */
		builder_u32(&b, 10); /* parent's */
		builder_u32(&b, 21); /* tid */
		builder_u32(&b, 11);
		builder_u64(&b, 77);
		assert_null(sideband_record_decode(raw, finish(&b, 78), &e));
		assert_int_equal(e.type, type == 4 ? SIDEBAND_EXIT : SIDEBAND_FORK);
		assert_int_equal(e.tgid, 20);
		assert_int_equal(e.parent_tgid, 10);
		assert_int_equal(e.tid, 21);
		assert_int_equal(e.time, 78);
	}
}

static void lost_tells_how_many(void **state)
{
	struct builder b = begin(2, 0);
	struct sideband_event e;

	(void)state;
	builder_u64(&b, 1);
	builder_u64(&b, 42);
	assert_null(sideband_record_decode(raw, finish(&b, 78), &e));
	assert_int_equal(e.type, SIDEBAND_LOST);
	assert_int_equal(e.lost, 42);
	assert_int_equal(e.time, 0);
}

static void unknown_types_are_ignored(void **state)
{
	struct builder b = begin(17, 0);
	struct sideband_event e;

	(void)state;
	builder_u64(&b, 1);
	assert_null(sideband_record_decode(raw, finish(&b, 78), &e));
	assert_int_equal(e.type, SIDEBAND_IGNORED);
}

static void every_cut_record_is_refused(void **state)
{
	struct builder b = mmap2(0x400000, 0x1000, 0);
	struct sideband_event e;
	uint32_t len;

	(void)state;
	builder_bytes(&b, "/bin/x\0\0", 8);
	len = finish(&b, 1);
	for (uint32_t cut = 0; cut < len; cut++)
		assert_non_null(sideband_record_decode(raw, cut, &e));
	/* Cut with a size that agrees: the fixed fields (72 bytes) and the sample id (16) with a
	 * name's NUL need 89. */
	for (uint32_t cut = 0; cut < 89; cut++) {
		raw[6] = (uint8_t)cut;
		assert_non_null(sideband_record_decode(raw, cut, &e));
	}
	raw[6] = (uint8_t)(sizeof(raw) & 0xff);
	raw[7] = (uint8_t)(sizeof(raw) >> 8);
	assert_non_null(sideband_record_decode(raw, sizeof(raw), &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mmap_gives_every_field),
		cmocka_unit_test(mmap_without_end_of_name_or_range_is_refused),
		cmocka_unit_test(comm_with_exec_bit_is_an_exec),
		cmocka_unit_test(fork_and_exit_name_process_and_parent),
		cmocka_unit_test(lost_tells_how_many),
		cmocka_unit_test(unknown_types_are_ignored),
		cmocka_unit_test(every_cut_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
