/* SPDX-License-Identifier: Apache-2.0 */
/* The table that finds items by their contents, and hashes that a program's names cannot steer. */
#include "tests/unit/cmocka_all.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/index_table.h"

#define ITEMS 10000

static bool number_equal(const void *key, uint32_t index)
{
	return *(const uint64_t *)key == index * 7ull;
}

/* Item i is the number 7 * i. `mask` makes hashes collide. */
static void fill(struct index_table *t, uint64_t mask, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_true(index_table_add(t, hash_number(1, i * 7ull) & mask, i));
}

static void expect_all(const struct index_table *t, uint64_t mask, uint32_t count)
{
	for (uint64_t n = 0; n < count * 7ull; n++) {
		uint32_t found = index_table_find(t, hash_number(1, n) & mask, number_equal, &n);

		assert_int_equal(found, n % 7 ? INDEX_NONE : n / 7);
	}
}

static void empty_table_finds_nothing(void **state)
{
	struct index_table t = { 0 };
	uint64_t key = 0;

	(void)state;
	assert_int_equal(index_table_find(&t, 0, number_equal, &key), INDEX_NONE);
	index_table_free(&t);
}

static void every_item_is_found_and_nothing_else(void **state)
{
	struct index_table t = { 0 };

	(void)state;
	fill(&t, UINT64_MAX, ITEMS);
	expect_all(&t, UINT64_MAX, ITEMS);
	index_table_free(&t);
	/* and it can be used again */
	fill(&t, UINT64_MAX, 1);
	expect_all(&t, UINT64_MAX, 1);
	index_table_free(&t);
}

static void equal_hashes_are_told_apart_by_contents(void **state)
{
	struct index_table t = { 0 };

	(void)state;
	fill(&t, 3, 300); /* four hashes for all */
	expect_all(&t, 3, 300);
	index_table_free(&t);
}

/* 0 times anything is 0: no number may make the hash forget what came before it, or its own seed.
 */
static void no_number_wipes_out_the_seed(void **state)
{
	/* Bytes of a text are such numbers, so all are within reach; the last two are the hash's
	 * own constants. */
	static const uint64_t numbers[] = { 0, 1, UINT64_MAX, 0x9e3779b97f4a7c15ull,
					    0xd1b54a32d192ed03ull };

	(void)state;
	for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (uint64_t seed = 1; seed < 1000; seed++)
			assert_true(hash_number(seed, numbers[i]) !=
				    hash_number(seed + 1, numbers[i]));
}

static void texts_that_end_alike_have_hashes_of_their_own(void **state)
{
	const uint64_t end = 0xd1b54a32d192ed03ull;
	unsigned char a[16] = "AAAAAAAA", b[16] = "BBBBBBBB";

	(void)state;
	memcpy(a + 8, &end, 8);
	memcpy(b + 8, &end, 8);
	for (uint64_t seed = 0; seed < 100; seed++)
		assert_true(hash_bytes(seed, a, 16) != hash_bytes(seed, b, 16));
}

static void length_is_part_of_the_hash(void **state)
{
	const char zeros[32] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(zeros); i++)
		for (size_t j = 0; j < i; j++)
			assert_true(hash_bytes(5, zeros, i) != hash_bytes(5, zeros, j));
}

static void seeds_differ(void **state)
{
	(void)state;
	assert_true(hash_seed() != hash_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_table_finds_nothing),
		cmocka_unit_test(every_item_is_found_and_nothing_else),
		cmocka_unit_test(equal_hashes_are_told_apart_by_contents),
		cmocka_unit_test(no_number_wipes_out_the_seed),
		cmocka_unit_test(texts_that_end_alike_have_hashes_of_their_own),
		cmocka_unit_test(length_is_part_of_the_hash),
		cmocka_unit_test(seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
