/* SPDX-License-Identifier: Apache-2.0 */
/* What a window makes of samples: what is counted together, where addresses lie, what happens when
 * it is full. */
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/window.h"

#define BUDGET	   (1 << 20)
#define FRAMES_MAX (BELFRY_KERNEL_FRAMES_MAX + BELFRY_USER_FRAMES_MAX)

struct bench {
	struct targets *targets;
	struct window *window;
	struct sample_record sample; /* of process 1, thread 1; tests change it */
	uint64_t frames[FRAMES_MAX];
};

static int setup_with(void **state, uint64_t budget)
{
	const struct targets_limits l = { .targets = 64, .mappings = 1024, .memory = 8 << 20 };
	struct bench *b = calloc(1, sizeof(*b));

	if (!b || targets_new(&b->targets, &l) != 0)
		return -1;
	b->window = window_new(budget, 1000, 10);
	b->sample = (struct sample_record){ .tgid = 1,
					    .tid = 1,
					    .start_time = 1,
					    .time = 100,
					    .comm = "thread",
					    .process_comm = "process" };
	*state = b;
	return b->window ? 0 : -1;
}

static int setup(void **state)
{
	return setup_with(state, BUDGET);
}

static int setup_small(void **state)
{
	return setup_with(state, 32 << 10);
}

static int setup_large(void **state)
{
	return setup_with(state, 128 << 20);
}

static int teardown(void **state)
{
	struct bench *b = *state;

	window_free(b->window);
	targets_reset(b->targets);
	if (targets_counters(b->targets).memory != 0)
		return -1;
	targets_free(b->targets);
	free(b);
	return 0;
}

/* Adds b->sample with these numbers of frames of b->frames; from a block of exact size at an odd
 * address. */
static bool add(struct bench *b, uint16_t kernel, uint16_t user)
{
	size_t len = 8u * (kernel + user);
	uint8_t *block = malloc(len + 1);
	bool added;

	assert_non_null(block);
	memcpy(block + 1, b->frames, len);
	b->sample.kernel_frames = kernel;
	b->sample.user_frames = user;
	added = window_add(b->window, targets_of_sample(b->targets, &b->sample), &b->sample,
			   block + 1);
	free(block);
	return added;
}

static void map(struct bench *b, uint64_t start, uint64_t end, uint64_t time)
{
	struct mapping_record r = { .tgid = b->sample.tgid,
				    .start_time = b->sample.start_time,
				    .start = start,
				    .end = end,
				    .time = time,
				    .kind = MAPPING_FILE,
				    .file_id = 16,
				    .path = (const uint8_t *)"/bin/x",
				    .path_len = 6 };

	targets_mapping(b->targets, &r);
}

/* The known process gets a mapping; a process is known by its samples. */
static void known_with_mapping(struct bench *b, uint64_t start, uint64_t end)
{
	targets_of_sample(b->targets, &b->sample);
	map(b, start, end, 0);
}

/* Frame `i` of the stack of entry `entry`. */
static const struct window_location *frame(const struct bench *b, uint32_t entry, uint32_t i)
{
	const struct window_stack *s =
		window_stack_at(b->window, window_entry_at(b->window, entry)->stack);

	assert_true(i < s->count);
	return window_location_at(b->window, *window_frames_at(b->window, s->first + i));
}

static uint32_t depth(const struct bench *b, uint32_t entry)
{
	return window_stack_at(b->window, window_entry_at(b->window, entry)->stack)->count;
}

static void expect_frame(const struct bench *b, uint32_t i, uint32_t mapping, uint64_t address)
{
	assert_int_equal(frame(b, 0, i)->mapping, mapping);
	assert_int_equal(frame(b, 0, i)->address, address);
}

/* The law of every window: each counted sample is in one entry, and in the sum of its process. */
static uint64_t counted(const struct window *w)
{
	uint64_t entries = 0, processes = 0;

	for (uint32_t i = 0; i < w->processes.count; i++) {
		uint64_t own = 0;

		for (uint32_t e = 0; e < w->entries.count; e++)
			if (window_entry_at(w, e)->process == i)
				own += window_entry_at(w, e)->samples;
		assert_int_equal(own, window_process_at(w, i)->samples);
		processes += own;
	}
	for (uint32_t e = 0; e < w->entries.count; e++)
		entries += window_entry_at(w, e)->samples;
	assert_int_equal(entries, processes);
	return entries;
}

/* ---- what is counted together
 * ---------------------------------------------------------------------- */

static void equal_samples_are_one_entry(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0x1000;
	b->frames[1] = 0x2000;
	assert_true(add(b, 0, 2));
	b->sample.time = 200;
	assert_true(add(b, 0, 2));
	assert_int_equal(b->window->entries.count, 1);
	assert_int_equal(window_entry_at(b->window, 0)->samples, 2);
	assert_int_equal(window_entry_at(b->window, 0)->thread_id, 1);
	assert_memory_equal(window_entry_at(b->window, 0)->thread_name, "thread", 7);
	assert_int_equal(window_process_at(b->window, 0)->last_time, 200);
	assert_int_equal(counted(b->window), 2);
}

static void threads_have_entries_of_their_own_but_share_stacks(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0x1000;
	add(b, 0, 1);
	b->sample.tid = 2;
	add(b, 0, 1);
	memcpy(b->sample.comm, "renamed", 8);
	add(b, 0, 1);
	assert_int_equal(b->window->entries.count, 3);
	assert_int_equal(b->window->stacks.count, 1);
	assert_int_equal(b->window->processes.count, 1);
	assert_int_equal(counted(b->window), 3);
}

static void names_differ_in_all_their_bytes(void **state)
{
	struct bench *b = *state;

	/* not text, not even NUL-terminated: 16 bytes are compared */
	memset(b->sample.comm, 0xff, sizeof(b->sample.comm));
	add(b, 0, 0);
	b->sample.comm[15] = 0;
	add(b, 0, 0);
	assert_int_equal(b->window->entries.count, 2);
}

static void other_stacks_are_other_entries(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0x1000;
	b->frames[1] = 0x2000;
	b->frames[2] = 0x3000;
	add(b, 0, 2);
	add(b, 0, 3); /* longer */
	b->frames[1] = 0x2001;
	add(b, 0, 2); /* another caller */
	add(b, 1, 1); /* the same addresses, but the first in the kernel */
	assert_int_equal(b->window->entries.count, 4);
	/* 1000, 1fff, 2fff, 2000, kernel 1000, and 2001 as a leaf; 1000 is shared by three stacks
	 */
	assert_int_equal(b->window->locations.count, 6);
	assert_int_equal(counted(b->window), 4);
}

static void processes_share_nothing(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0xffffffff81000000;
	b->frames[1] = 0x1000;
	add(b, 1, 1);
	b->sample.tgid = 2;
	add(b, 1, 1);
	b->sample.start_time = 2; /* a pid that came again */
	add(b, 1, 1);
	/* A profile is of one process, and so are its locations, those in the kernel included. */
	assert_int_equal(b->window->processes.count, 3);
	assert_int_equal(b->window->locations.count, 6);
	assert_int_equal(b->window->stacks.count, 3);
	assert_int_equal(counted(b->window), 3);
}

static void full_entry_is_followed_by_another(void **state)
{
	struct bench *b = *state;

	add(b, 0, 0);
	window_entry_at(b->window, 0)->samples = UINT32_MAX;
	window_process_at(b->window, 0)->samples = UINT32_MAX;
	add(b, 0, 0);
	add(b, 0, 0);
	assert_int_equal(b->window->entries.count, 2);
	assert_int_equal(window_entry_at(b->window, 1)->samples, 2);
	assert_int_equal(counted(b->window), UINT32_MAX + 2ull);
}

/* ---- where addresses lie
 * --------------------------------------------------------------------------- */

static void return_address_is_looked_up_one_byte_before(void **state)
{
	struct bench *b = *state;

	known_with_mapping(b, 0x1000, 0x2000);
	b->frames[0] = 0x1000; /* the interrupted instruction: the very first one */
	b->frames[1] = 0x2000; /* behind a call that is the mapping's last instruction */
	b->frames[2] = 0x1000; /* behind a call that is the last one before the mapping */
	assert_true(add(b, 0, 3));
	expect_frame(b, 0, WINDOW_MAPPING_FIRST, 0x1000);
	expect_frame(b, 1, WINDOW_MAPPING_FIRST, 0x1fff);
	expect_frame(b, 2, WINDOW_UNMAPPED, 0xfff);
}

static void kernel_and_user_have_a_leaf_each(void **state)
{
	struct bench *b = *state;

	known_with_mapping(b, 0x1000, 0x2000);
	b->frames[0] = 0xffffffff81000000;
	b->frames[1] = 0xffffffff82000000;
	b->frames[2] = 0x1800;
	b->frames[3] = 0x1900;
	assert_true(add(b, 2, 2));
	assert_int_equal(depth(b, 0), 4);
	expect_frame(b, 0, WINDOW_KERNEL, 0xffffffff81000000);
	expect_frame(b, 1, WINDOW_KERNEL, 0xffffffff81ffffff);
	expect_frame(b, 2, WINDOW_MAPPING_FIRST, 0x1800);
	expect_frame(b, 3, WINDOW_MAPPING_FIRST, 0x18ff);
}

static void mapping_is_the_one_of_the_sample_s_time(void **state)
{
	struct bench *b = *state;

	known_with_mapping(b, 0x1000, 0x2000);
	map(b, 0x1000, 0x3000, 150);
	b->frames[0] = 0x1000;
	add(b, 0, 1); /* time 100 */
	b->sample.time = 200;
	add(b, 0, 1);
	assert_int_equal(b->window->mappings.count, 2);
	assert_int_equal(window_mapping_at(b->window, 0)->end, 0x2000);
	assert_int_equal(window_mapping_at(b->window, 1)->end, 0x3000);
	assert_int_equal(b->window->entries.count, 2); /* the same address, another place */
}

static void window_keeps_what_its_targets_forget(void **state)
{
	struct bench *b = *state;

	known_with_mapping(b, 0x1000, 0x2000);
	b->frames[0] = 0x1000;
	add(b, 0, 1);
	targets_reset(b->targets);
	assert_string_equal(window_mapping_at(b->window, 0)->path->text, "/bin/x");
	assert_int_equal(window_process_at(b->window, 0)->target->tgid, 1);
}

static void mapping_that_comes_late_is_found_at_the_end(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0xffffffff81000000;
	b->frames[1] = 0x1000;
	b->frames[2] = 0x9000;
	b->sample.status = SAMPLE_STACK_TRUNCATED;
	add(b, 1, 2);
	expect_frame(b, 1, WINDOW_UNMAPPED, 0x1000);
	map(b, 0x1000, 0x2000, 90);
	map(b, 0x1000, 0x3000, 150); /* after the sample */
	map(b, 0, 0x100, 0);	     /* a marker is no address */
	window_bind_late(b->window);
	assert_int_equal(b->window->mappings.count, 1);
	assert_int_equal(window_mapping_at(b->window, 0)->end, 0x2000);
	expect_frame(b, 0, WINDOW_KERNEL, 0xffffffff81000000);
	expect_frame(b, 1, WINDOW_MAPPING_FIRST, 0x1000);
	expect_frame(b, 2, WINDOW_UNMAPPED, 0x8fff); /* nobody said what is there */
	expect_frame(b, 3, WINDOW_MARKER, MARKER_TRUNCATED);
	assert_int_equal(counted(b->window), 1);
}

/* ---- markers
 * --------------------------------------------------------------------------------------- */

static void status_is_shown_at_the_root(void **state)
{
	static const struct {
		uint8_t status;
		int marker; /* -1: none */
	} cases[SAMPLE_STATUS_COUNT] = {
		{ SAMPLE_STACK_COMPLETE, -1 },
		{ SAMPLE_STACK_NO_USER, -1 },
		{ SAMPLE_STACK_TRUNCATED, MARKER_TRUNCATED },
		{ SAMPLE_STACK_READ_FAILED, MARKER_UNREADABLE },
		{ SAMPLE_STACK_IMPLAUSIBLE, -1 }, /* below a chain: see the next test */
		{ SAMPLE_STACK_NO_REGISTERS, MARKER_NO_REGISTERS },
	};
	struct bench *b = *state;

	b->frames[0] = 0x1000;
	b->frames[1] = 0x2000;
	for (uint32_t i = 0; i < SAMPLE_STATUS_COUNT; i++) {
		b->sample.status = cases[i].status;
		b->sample.tid = 10 + i;
		assert_true(add(b, 0, 2));
		assert_int_equal(depth(b, i), cases[i].marker < 0 ? 2 : 3);
		if (cases[i].marker >= 0) {
			assert_int_equal(frame(b, i, 2)->mapping, WINDOW_MARKER);
			assert_int_equal(frame(b, i, 2)->address, cases[i].marker);
		}
	}
}

static void leaf_without_a_chain_is_marked(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0x1000;
	b->sample.status = SAMPLE_STACK_IMPLAUSIBLE;
	add(b, 0, 1);
	assert_int_equal(depth(b, 0), 2);
	expect_frame(b, 1, WINDOW_MARKER, MARKER_IMPLAUSIBLE);
}

static void cut_kernel_stack_is_marked_where_it_was_cut(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0xffffffff81000000;
	b->frames[1] = 0x1000;
	b->sample.flags = SAMPLE_FLAG_KERNEL_TRUNCATED;
	add(b, 1, 1);
	assert_int_equal(depth(b, 0), 3);
	expect_frame(b, 1, WINDOW_MARKER, MARKER_KERNEL_TRUNCATED);
	expect_frame(b, 2, WINDOW_UNMAPPED, 0x1000);
}

static void sample_without_frames_is_counted(void **state)
{
	struct bench *b = *state;

	b->sample.status = SAMPLE_STACK_NO_USER;
	assert_true(add(b, 0, 0));
	assert_int_equal(depth(b, 0), 1);
	expect_frame(b, 0, WINDOW_MARKER, MARKER_EMPTY);
	assert_int_equal(counted(b->window), 1);
}

static void longest_stack_with_both_markers_fits(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < FRAMES_MAX; i++)
		b->frames[i] = 0x1000 * (i + 1);
	b->sample.status = SAMPLE_STACK_TRUNCATED;
	b->sample.flags = SAMPLE_FLAG_KERNEL_TRUNCATED;
	assert_true(add(b, BELFRY_KERNEL_FRAMES_MAX, BELFRY_USER_FRAMES_MAX));
	assert_int_equal(depth(b, 0), FRAMES_MAX + 2);
	expect_frame(b, FRAMES_MAX + 1, WINDOW_MARKER, MARKER_TRUNCATED);
	expect_frame(b, FRAMES_MAX, WINDOW_UNMAPPED, 0x1000 * FRAMES_MAX - 1);
}

static void address_zero_is_an_address(void **state)
{
	struct bench *b = *state;

	b->frames[0] = 0;
	b->frames[1] = 0; /* behind a call at the end of the address space */
	add(b, 0, 2);
	expect_frame(b, 0, WINDOW_UNMAPPED, 0);
	expect_frame(b, 1, WINDOW_UNMAPPED, UINT64_MAX);
}

static void cleared_window_is_as_new(void **state)
{
	struct bench *b = *state;

	known_with_mapping(b, 0x1000, 0x2000);
	b->frames[0] = 0x1000;
	add(b, 0, 1);
	b->window->account.received = 1;
	window_clear(b->window, 2000, 20);
	assert_int_equal(counted(b->window), 0);
	assert_int_equal(b->window->used, 0);
	assert_int_equal(b->window->account.received, 0);
	assert_int_equal(b->window->start_time, 2000);
	assert_int_equal(b->window->budget, BUDGET);
	assert_true(add(b, 0, 1));
	assert_int_equal(counted(b->window), 1);
}

/* ---- bounds
 * ---------------------------------------------------------------------------------------- */

/* Random samples of 8 processes, most of them new: counted whole or not at all. */
static void full_window_counts_nothing_by_half(void **state)
{
	struct bench *b = *state;
	uint64_t accepted = 0, refused = 0;
	uint32_t seed = 7;

	for (uint32_t p = 1; p <= 8; p++) {
		b->sample.tgid = p;
		known_with_mapping(b, 0x1000, 0x40000);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		uint16_t count;

		seed = seed * 1664525u + 1013904223u;
		count = (uint16_t)(seed >> 28);
		b->sample.tgid = 1 + (seed >> 8 & 7);
		b->sample.tid = 1 + count;
		for (uint32_t f = 0; f < count; f++)
			b->frames[f] = (seed >> 4) * (f + 1) & 0x7ffff;
		if (add(b, count / 3, count - count / 3))
			accepted++;
		else
			refused++;
		assert_true(b->window->used <= b->window->budget);
	}
	assert_true(accepted > 20 && refused > 1000);
	assert_int_equal(counted(b->window), accepted);
	for (uint32_t e = 0; e < b->window->entries.count; e++) {
		uint32_t tid = window_entry_at(b->window, e)->thread_id;

		assert_int_equal(depth(b, e), tid == 1 ? 1 : tid - 1); /* none: a marker */
	}
}

/* 200,000 addresses: some five pairs of them have the same 32 bits of hash, and are told apart
 * nevertheless. */
static void equal_hashes_are_no_equal_stacks(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 200000; i++) {
		b->frames[0] = 0x10000ull * i;
		assert_true(add(b, 0, 1));
	}
	assert_int_equal(b->window->locations.count, 200000);
	assert_int_equal(b->window->stacks.count, 200000);
	assert_int_equal(b->window->entries.count, 200000);
}

static void full_window_still_counts_what_it_knows(void **state)
{
	struct bench *b = *state;

	assert_true(add(b, 0, 0));
	for (b->frames[0] = 1; add(b, 0, 1); b->frames[0]++)
		;
	assert_true(add(b, 0, 0));
	b->frames[0] = 1;
	assert_true(add(b, 0, 1));
	assert_int_equal(window_entry_at(b->window, 0)->samples, 2);
	assert_int_equal(window_entry_at(b->window, 1)->samples, 2);
	/* A stack that only begins like a known one is not counted as that one. */
	b->frames[1] = 0x12345678;
	assert_false(add(b, 0, 2));
	assert_int_equal(window_entry_at(b->window, 1)->samples, 2);
}

static void half_a_budget_is_time_to_close(void **state)
{
	struct bench *b = *state;
	uint64_t before = 0;

	assert_false(window_nearly_full(b->window));
	for (uint32_t i = 0; !window_nearly_full(b->window); i++) {
		before = b->window->used;
		b->sample.tgid = 1 + i % 16;
		b->frames[0] = i;
		assert_true(add(b, 0, 1)); /* there is always room until then */
	}
	assert_true(before <= BUDGET / 2 && b->window->used > BUDGET / 2);
}

static void one_process_cannot_crowd_out_the_others(void **state)
{
	struct bench *b = *state;
	uint64_t told = 0;

	/* Every stack of process 1 is new. */
	for (uint64_t i = 0; i < 100000; i++) {
		b->frames[0] = i;
		if (!add(b, 0, 1))
			break;
		if (!told && window_nearly_full(b->window))
			told = b->window->used;
	}
	assert_in_range(told, BUDGET / 4, BUDGET / 4 + 4096);
	assert_in_range(b->window->used, BUDGET / 4, BUDGET / 2 + 4096);
	b->sample.tgid = 2;
	for (uint64_t i = 0; i < 1000; i++) {
		b->frames[0] = i;
		assert_true(add(b, 0, 1));
	}
}

static void processes_without_end_are_bounded_with_what_they_hold(void **state)
{
	struct bench *b = *state;
	uint64_t accepted = 0;

	/* Each is another process: a target of some 1,000 bytes that lives as long as the window.
	 */
	for (uint32_t i = 1; i < 10000; i++) {
		b->sample.tgid = i;
		accepted += add(b, 0, 0);
	}
	assert_true(accepted > 100);
	assert_true(accepted * sizeof(struct target) < BUDGET);
	assert_int_equal(counted(b->window), accepted);
}

#define TEST(f)	      cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_SMALL(f) cmocka_unit_test_setup_teardown(f, setup_small, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(equal_samples_are_one_entry),
		TEST(threads_have_entries_of_their_own_but_share_stacks),
		TEST(names_differ_in_all_their_bytes),
		TEST(other_stacks_are_other_entries),
		TEST(processes_share_nothing),
		TEST(full_entry_is_followed_by_another),
		TEST(return_address_is_looked_up_one_byte_before),
		TEST(kernel_and_user_have_a_leaf_each),
		TEST(mapping_is_the_one_of_the_sample_s_time),
		TEST(window_keeps_what_its_targets_forget),
		TEST(mapping_that_comes_late_is_found_at_the_end),
		TEST(status_is_shown_at_the_root),
		TEST(leaf_without_a_chain_is_marked),
		TEST(cut_kernel_stack_is_marked_where_it_was_cut),
		TEST(sample_without_frames_is_counted),
		TEST(longest_stack_with_both_markers_fits),
		TEST(address_zero_is_an_address),
		TEST(cleared_window_is_as_new),
		TEST_SMALL(full_window_counts_nothing_by_half),
		cmocka_unit_test_setup_teardown(equal_hashes_are_no_equal_stacks, setup_large,
						teardown),
		TEST_SMALL(full_window_still_counts_what_it_knows),
		TEST(half_a_budget_is_time_to_close),
		TEST(one_process_cannot_crowd_out_the_others),
		TEST(processes_without_end_are_bounded_with_what_they_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
