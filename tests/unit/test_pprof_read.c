// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <zlib.h>

#include "cli/gzip_read.h"
#include "cli/pprof_read.h"
#include "tests/unit/profile_bytes.h"

/*
 * strings: 0 "", 1 samples, 2 count, 3 main, 4 leaf, 5 /bin/demo. Ids are sparse and in no order,
 * tables come after the sample that needs them.
 */
static struct bytes small_profile(void)
{
	struct bytes b = { .len = 0 };

	put_value_type(&b, 1, 1, 2);
	put_sample(&b, 700, 20, 3, 0, 0);
	put_location(&b, 20, 9, 0x400100, 8);
	put_location(&b, 700, 9, 0x400200, 7);
	put_function(&b, 7, 4);
	put_function(&b, 8, 3);
	put_mapping(&b, 9, 0x400000, 5);
	put_string(&b, "");
	put_string(&b, "samples");
	put_string(&b, "count");
	put_string(&b, "main");
	put_string(&b, "leaf");
	put_string(&b, "/bin/demo");
	put_number(&b, 9, 1000);
	return b;
}

static const char *leaf_name(const struct pprof *p)
{
	const struct pprof_location *l = &p->locations.items[p->stack.items[0]];
	uint32_t function = p->lines.items[l->first_line].function;

	return p->strings.items[p->functions.items[function].name].text;
}

static void assert_small_profile(const struct pprof *p)
{
	assert_int_equal(p->samples.count, 1);
	assert_int_equal(p->samples.items[0].location_count, 2);
	assert_int_equal(p->values.items[0], 3);
	assert_memory_equal(leaf_name(p), "leaf", 4);
	assert_int_equal(p->locations.items[0].mapping, 0);
	assert_int_equal(p->mappings.items[0].limit, 0x401000);
	assert_int_equal(p->time, 1000);
}

static void sparse_ids_and_late_tables_are_resolved(void **state)
{
	struct bytes b = small_profile();
	struct pprof p;

	(void)state;
	assert_null(pprof_read(&p, b.data, b.len));
	assert_small_profile(&p);
	pprof_free(&p);
}

static uint32_t compress_bytes(const struct bytes *b, uint8_t *out, uint32_t size)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)b->data, .avail_in = b->len };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = out;
	z.avail_out = size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

static void compressed_profiles_are_recognised(void **state)
{
	struct bytes b = small_profile();
	uint8_t packed[4096];
	uint32_t len = compress_bytes(&b, packed, sizeof(packed));
	struct pprof p;

	(void)state;
	assert_null(pprof_read(&p, packed, len));
	assert_small_profile(&p);
	pprof_free(&p);
	assert_string_equal(pprof_read(&p, packed, len - 9),
			    "the gzip data ends early: the file was cut");
	packed[len / 2] ^= 0x55;
	assert_non_null(pprof_read(&p, packed, len));
}

/* 64 MiB of zeros are 64 KiB of gzip: the limit holds, whatever the header promises. */
static void a_decompression_bomb_meets_the_limit(void **state)
{
	const uint32_t size = 64u << 20;
	uint8_t *zeros = calloc(1, size);
	uint8_t *packed = malloc(1 << 20);
	z_stream z = {
		.next_in = zeros, .avail_in = size, .next_out = packed, .avail_out = 1 << 20
	};
	uint8_t *out = NULL;
	uint32_t len = 0;

	(void)state;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	assert_string_equal(gzip_read(packed, (1 << 20) - z.avail_out, 1 << 20, &out, &len),
			    "the profile is larger than the limit after decompression");
	assert_null(gzip_read(packed, (1 << 20) - z.avail_out, size + 1, &out, &len));
	assert_int_equal(len, size);
	deflateEnd(&z);
	free(out);
	free(zeros);
	free(packed);
}

/* Every cut either ends between two fields, and lacks a table, or inside one. */
static void every_truncation_is_refused_or_a_profile(void **state)
{
	struct bytes b = small_profile();
	struct pprof p;

	(void)state;
	for (uint32_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len ? len : 1); /* so that a read beyond the end is found */

		memcpy(exact, b.data, len);
		if (!pprof_read(&p, exact, len))
			pprof_free(&p);
		free(exact);
	}
}

static const char *problem_with(struct bytes *b)
{
	struct pprof p;
	const char *problem = pprof_read(&p, b->data, b->len);

	if (!problem)
		pprof_free(&p);
	return problem;
}

static void wrong_varints_are_refused(void **state)
{
	/* Field 9, then eleven bytes; then ten bytes whose last has more than the one bit that is
	 * left. */
	struct bytes long_one = { .data = { 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0xff, 0x01 },
				  .len = 12 };
	struct bytes wide_one = { .data = { 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0x02 },
				  .len = 11 };

	(void)state;
	assert_string_equal(problem_with(&long_one),
			    "not a profile: the protocol buffer encoding is broken");
	assert_string_equal(problem_with(&wide_one),
			    "not a profile: the protocol buffer encoding is broken");
}

static void lengths_beyond_the_file_are_refused(void **state)
{
	struct bytes b = { .len = 0 };
	struct bytes wrapped = small_profile();

	(void)state;
	put_varint(&b, 2 << 3 | 2);
	put_varint(&b, UINT64_MAX);
	assert_string_equal(problem_with(&b),
			    "not a profile: the protocol buffer encoding is broken");
	/* 2^32 + 1: its low 32 bits alone would fit. */
	put_varint(&wrapped, 100 << 3 | 2);
	put_varint(&wrapped, (1ull << 32) + 1);
	put_varint(&wrapped, 0);
	assert_string_equal(problem_with(&wrapped),
			    "not a profile: the protocol buffer encoding is broken");
}

static void unknown_fields_are_skipped(void **state)
{
	struct bytes b = small_profile();
	uint8_t fixed[8] = { 0 };
	struct pprof p;

	(void)state;
	put_number(&b, 15, 77);
	put_bytes(&b, 200, "what a later version writes", 27);
	put_varint(&b, 201 << 3 | 1); /* fixed64 */
	memcpy(b.data + b.len, fixed, 8);
	b.len += 8;
	assert_null(pprof_read(&p, b.data, b.len));
	assert_small_profile(&p);
	pprof_free(&p);
}

/* A string that is a number: refused, and nothing is read through it. */
static void wrong_wire_types_are_refused(void **state)
{
	struct bytes b = { .len = 0 };

	(void)state;
	put_number(&b, 6, 1);
	assert_string_equal(problem_with(&b),
			    "not a profile: the protocol buffer encoding is broken");
}

static void references_to_nothing_are_named(void **state)
{
	struct bytes sample = small_profile();
	struct bytes string = small_profile();
	struct bytes twice = small_profile();
	struct bytes line = small_profile();
	struct bytes time = small_profile();

	(void)state;
	put_sample(&sample, 700, 21, 1, 0, 0);
	assert_string_equal(problem_with(&sample), "a sample names a location that is not there");
	put_function(&string, 10, 6); /* strings are 0 .. 5 */
	assert_string_equal(problem_with(&string), "a string reference is out of range");
	put_location(&twice, 20, 0, 0, 0);
	assert_string_equal(problem_with(&twice),
			    "two mappings, locations or functions have the same id");
	put_location(&line, 21, 0, 0, 99);
	assert_string_equal(problem_with(&line), "a line names a function that is not there");
	put_number(&time, 9, 5);
	assert_string_equal(problem_with(&time), "the file holds two profiles back to back");
}

static void value_counts_must_match_the_types(void **state)
{
	struct bytes b = small_profile();

	(void)state;
	put_value_type(&b, 1, 1, 2);
	assert_string_equal(problem_with(&b),
			    "a sample's number of values differs from the number of sample types");
}

static void other_files_are_told_apart(void **state)
{
	struct bytes text = { .len = 0 };
	struct bytes first = { .len = 0 };

	(void)state;
	text.len = (uint32_t)strlen(strcpy((char *)text.data, "#!/bin/sh\necho\n"));
	assert_string_equal(problem_with(&text),
			    "not a profile: the protocol buffer encoding is broken");
	put_string(&first, "not empty");
	assert_string_equal(problem_with(&first),
			    "not a profile: the first string of its table is not empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sparse_ids_and_late_tables_are_resolved),
		cmocka_unit_test(compressed_profiles_are_recognised),
		cmocka_unit_test(a_decompression_bomb_meets_the_limit),
		cmocka_unit_test(every_truncation_is_refused_or_a_profile),
		cmocka_unit_test(wrong_varints_are_refused),
		cmocka_unit_test(lengths_beyond_the_file_are_refused),
		cmocka_unit_test(unknown_fields_are_skipped),
		cmocka_unit_test(wrong_wire_types_are_refused),
		cmocka_unit_test(references_to_nothing_are_named),
		cmocka_unit_test(value_counts_must_match_the_types),
		cmocka_unit_test(other_files_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
