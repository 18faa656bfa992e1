/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one file's offsets. The program that has the file chooses offsets and names, and
 * gains nothing by it. */
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbolizer/symbol_cache.h"

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void offset_is_found_once_it_was_added(void **state)
{
	struct symbol_cache c = { 0 };

	(void)state;
	assert_int_equal(symbol_cache_find(&c, 0), SYMBOL_CACHE_NONE);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(symbol_cache_add(&c, 16ull * i), i);
	for (uint32_t i = 0; i < 16000; i++)
		assert_int_equal(symbol_cache_find(&c, i), i % 16 ? SYMBOL_CACHE_NONE : i / 16);
	assert_int_equal(c.entries[999].offset, 16 * 999);
	assert_int_equal(c.entries[999].state, ENTRY_QUEUED);
	assert_int_equal(c.entries[999].name, SYMBOL_CACHE_NONE);
	symbol_cache_clear(&c);
	assert_int_equal(symbol_cache_find(&c, 16), SYMBOL_CACHE_NONE);
	assert_int_equal(symbol_cache_add(&c, 16), 0);
	symbol_cache_clear(&c);
}

static void name_is_kept_once(void **state)
{
	struct symbol_cache c = { 0 };
	uint32_t main_at, mai_at, empty_at;

	(void)state;
	main_at = symbol_cache_keep(&c, "main_and_more", 4);
	mai_at = symbol_cache_keep(&c, "main", 3);
	empty_at = symbol_cache_keep(&c, "main", 0);
	assert_string_equal(c.strings + main_at, "main");
	assert_string_equal(c.strings + mai_at, "mai");
	assert_string_equal(c.strings + empty_at, "");
	assert_int_equal(symbol_cache_keep(&c, "main", 4), main_at);
	assert_int_equal(symbol_cache_keep(&c, "mai", 3), mai_at);
	assert_int_equal(symbol_cache_keep(&c, "", 0), empty_at);
	assert_int_equal(c.name_count, 3);
	assert_int_equal(c.strings_len, 5 + 4 + 1);
	symbol_cache_clear(&c);
}

static void names_are_bounded(void **state)
{
	static char name[4096];
	struct symbol_cache c = { 0 };
	uint32_t kept = 0;

	(void)state;
	memset(name, 'a', sizeof(name));
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, 8, "%06u", i);
		name[6] = 'a';
		kept += symbol_cache_keep(&c, name, sizeof(name)) != SYMBOL_CACHE_NONE;
	}
	assert_int_equal(kept, 1023); /* of 4,097 bytes each */
	assert_true(c.strings_len <= SYMBOL_CACHE_STRINGS_MAX);
	symbol_cache_clear(&c);
}

/*
 * Offsets whose product with 2^64 / golden ratio, a usual hash, has zeros above the low 32 bits:
 * with such a hash and no seed, each takes the place of the one before, and 50,000 of them take a
 * billion steps.
 */
static void chosen_offsets_cost_no_more_than_others(void **state)
{
	struct symbol_cache c = { 0 };
	const uint64_t golden = 0x9e3779b97f4a7c15ull;
	uint64_t inverse = golden; /* modulo 2^64, by Newton's method: each round doubles the bits
				      that are right */
	double start = cpu_seconds();

	(void)state;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - golden * inverse;
	assert_int_equal(inverse * golden, 1);
	for (uint64_t i = 0; i < 50000; i++) {
		assert_int_equal(symbol_cache_find(&c, i * inverse), SYMBOL_CACHE_NONE);
		assert_int_equal(symbol_cache_add(&c, i * inverse), i);
	}
	for (uint64_t i = 0; i < 50000; i++)
		assert_int_equal(symbol_cache_find(&c, i * inverse), i);
	assert_true(cpu_seconds() - start < 0.5);
	symbol_cache_clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_is_found_once_it_was_added),
		cmocka_unit_test(name_is_kept_once),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(chosen_offsets_cost_no_more_than_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
