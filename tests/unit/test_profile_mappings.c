/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of a profile: the main program first, ids in the order of need, none for what lies
 * in no mapping. */
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolizer/profile_mappings.h"

#define BATCH 1000 /* frames of a sample */

struct bench {
	struct targets *targets;
	struct window *window;
	struct profile_mappings mappings;
};

static int setup(void **state)
{
	const struct targets_limits l = { .targets = 16, .mappings = 65536, .memory = 128 << 20 };
	struct bench *b = calloc(1, sizeof(*b));

	if (!b || targets_new(&b->targets, &l) != 0)
		return -1;
	b->window = window_new(128 << 20, 0, 0);
	*state = b;
	return b->window ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	profile_mappings_free(&b->mappings);
	window_free(b->window);
	targets_free(b->targets);
	free(b);
	return 0;
}

static void sample(struct bench *b, uint32_t tgid, const uint64_t *frames, uint16_t count)
{
	const struct sample_record s = {
		.tgid = tgid, .start_time = 1, .time = 1, .user_frames = count
	};

	assert_true(window_add(b->window, targets_of_sample(b->targets, &s), &s,
			       (const uint8_t *)frames));
}

/* A mapping of 0x1000 bytes; the process is known by an empty sample before. */
static void map(struct bench *b, uint32_t tgid, uint64_t start, enum mapping_kind kind,
		const char *path)
{
	const struct mapping_record r = { .tgid = tgid,
					  .start_time = 1,
					  .start = start,
					  .end = start + 0x1000,
					  .kind = kind,
					  .path = (const uint8_t *)path,
					  .path_len = (uint16_t)strlen(path) };

	targets_mapping(b->targets, &r);
}

/* Of a mapping of the window, by the order in which samples met them. */
static uint64_t id_of(struct bench *b, uint32_t index)
{
	return profile_mappings_id(&b->mappings, WINDOW_MAPPING_FIRST + index, false);
}

static void main_program_comes_first_whatever_was_sampled_first(void **state)
{
	const uint64_t library = 0x9000, upper = 0x5800, lower = 0x4800;
	struct bench *b = *state;

	sample(b, 1, NULL, 0);
	map(b, 1, 0x4000, MAPPING_FILE, "/bin/x");
	map(b, 1, 0x5000, MAPPING_FILE, "/bin/x");
	map(b, 1, 0x9000, MAPPING_FILE, "/lib/l");
	sample(b, 1, &library, 1); /* window mapping 0 */
	sample(b, 1, &upper, 1);   /* 1 */
	sample(b, 1, &lower, 1);   /* 2 */
	assert_true(profile_mappings_init(&b->mappings, b->window));
	profile_mappings_begin(&b->mappings, 0);
	assert_int_equal(id_of(b, 0), 2);
	assert_int_equal(id_of(b, 2), 1); /* the lowest of the main program's */
	assert_int_equal(id_of(b, 1), 3);
	assert_int_equal(id_of(b, 0), 2); /* ids stay */
	assert_int_equal(b->mappings.count, 3);
}

static void main_program_that_was_not_sampled_is_there_by_name(void **state)
{
	const uint64_t library = 0x9000;
	struct bench *b = *state;

	sample(b, 1, NULL, 0);
	map(b, 1, 0x4000, MAPPING_FILE, "/bin/x");
	map(b, 1, 0x9000, MAPPING_FILE, "/lib/l");
	sample(b, 1, &library, 1);
	assert_true(profile_mappings_init(&b->mappings, b->window));
	profile_mappings_begin(&b->mappings, 0);
	assert_int_equal(id_of(b, 0), 2);
	assert_string_equal(b->mappings.main_of[0].path, "/bin/x");
}

static void what_lies_in_no_mapping_gets_no_id(void **state)
{
	struct bench *b = *state;

	sample(b, 1, NULL, 0);
	assert_true(profile_mappings_init(&b->mappings, b->window));
	profile_mappings_begin(&b->mappings, 0);
	assert_int_equal(profile_mappings_id(&b->mappings, WINDOW_UNMAPPED, false), 0);
	assert_int_equal(profile_mappings_id(&b->mappings, WINDOW_MARKER, false), 0);
	assert_int_equal(profile_mappings_id(&b->mappings, WINDOW_KERNEL, false), 1);
	assert_int_equal(profile_mappings_id(&b->mappings, WINDOW_KERNEL, true), 1);
	assert_true(b->mappings.slots[0].named);
}

static void each_profile_starts_at_one(void **state)
{
	const uint64_t address = 0x4000;
	struct bench *b = *state;

	for (uint32_t tgid = 1; tgid <= 2; tgid++) {
		sample(b, tgid, NULL, 0);
		map(b, tgid, 0x4000, MAPPING_FILE, "/bin/x");
		sample(b, tgid, &address, 1);
	}
	assert_true(profile_mappings_init(&b->mappings, b->window));
	for (uint32_t process = 0; process < 2; process++) {
		profile_mappings_begin(&b->mappings, process);
		assert_int_equal(id_of(b, process), 1);
		assert_int_equal(profile_mappings_id(&b->mappings, WINDOW_KERNEL, false), 2);
	}
}

/* 30,000 mappings of anonymous memory in front of the program, which has 20,000 itself: looked
 * through once, not 20,000 times. */
static void many_mappings_are_looked_through_once(void **state)
{
	static uint64_t frames[BATCH];
	struct bench *b = *state;
	clock_t start;

	sample(b, 1, NULL, 0);
	for (uint64_t i = 1; i <= 30000; i++)
		map(b, 1, i << 12, MAPPING_ANONYMOUS, "");
	for (uint64_t i = 30001; i <= 50000; i++)
		map(b, 1, i << 12, MAPPING_FILE, "/bin/x");
	/* From the top, so that each is lower than the lowest so far. */
	for (uint64_t i = 50000; i > 30000; i -= BATCH) {
		for (uint64_t f = 0; f < BATCH; f++)
			frames[f] = ((i - f) << 12) + 0x800;
		sample(b, 1, frames, BATCH);
	}
	assert_int_equal(b->window->mappings.count, 20000);
	start = clock();
	assert_true(profile_mappings_init(&b->mappings, b->window));
	assert_true(clock() - start < CLOCKS_PER_SEC / 5);
	assert_int_equal(window_mapping_at(b->window, b->mappings.main_of[0].mapping)->start,
			 30001 << 12);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(main_program_comes_first_whatever_was_sampled_first),
		TEST(main_program_that_was_not_sampled_is_there_by_name),
		TEST(what_lies_in_no_mapping_gets_no_id),
		TEST(each_profile_starts_at_one),
		TEST(many_mappings_are_looked_through_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
