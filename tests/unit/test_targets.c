/* SPDX-License-Identifier: Apache-2.0 */
/* The profiled processes and what each had mapped when, as told by the collector, hostile names and
 * numbers included. */
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/target_mappings.h"
#include "symbolizer/targets.h"

#define NONE "(none)"

static const struct targets_limits generous = { .targets = 64,
						.mappings = 1024,
						.memory = 8 << 20 };

static int setup_with(void **state, const struct targets_limits *l)
{
	struct targets *t = NULL;

	if (targets_new(&t, l) != 0)
		return -1;
	*state = t;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, &generous);
}

static int setup_four(void **state)
{
	const struct targets_limits l = { .targets = 4, .mappings = 16, .memory = 1 << 20 };

	return setup_with(state, &l);
}

static int setup_one(void **state)
{
	const struct targets_limits l = { .targets = 1, .mappings = 16, .memory = 1 << 20 };

	return setup_with(state, &l);
}

/* 8 MiB of memory, 1 MiB for each, and as many mappings as Linux allows. */
static int setup_many_mappings(void **state)
{
	const struct targets_limits l = { .targets = 64, .mappings = 65536, .memory = 8 << 20 };

	return setup_with(state, &l);
}

/* Whatever a test did, all that was counted is given back at the end. */
static int teardown(void **state)
{
	targets_reset(*state);
	if (targets_counters(*state).memory != 0 || targets_counters(*state).known != 0)
		return -1;
	targets_free(*state);
	return 0;
}

static struct target *sampled(struct targets *t, uint32_t tgid, uint64_t start_time, uint64_t time)
{
	struct sample_record s = { .tgid = tgid,
				   .start_time = start_time,
				   .time = time,
				   .uid = 1000,
				   .process_comm = "sampled" };

	return targets_of_sample(t, &s);
}

static void announced(struct targets *t, uint32_t tgid, uint64_t start_time, uint64_t time)
{
	struct process_record r = { .tgid = tgid,
				    .start_time = start_time,
				    .time = time,
				    .uid = 7,
				    .reason = PROCESS_SEEN,
				    .comm = "announced" };

	targets_process(t, &r);
}

/* A file mapping of process 1 (start time 1) of 0x1000 bytes a unit. */
static void mapped(struct targets *t, uint64_t start, uint64_t end, uint64_t time, const char *path)
{
	struct mapping_record r = { .tgid = 1,
				    .start_time = 1,
				    .start = start,
				    .end = end,
				    .offset = start,
				    .time = time,
				    .kind = MAPPING_FILE,
				    .file_id = 16,
				    .path = (const uint8_t *)path,
				    .path_len = (uint16_t)strlen(path) };

	targets_mapping(t, &r);
}

static const char *path_at(const struct target *t, uint64_t address, uint64_t time)
{
	const struct target_mapping *m = target_find(t, address, time);

	return m ? m->path->text : NONE;
}

/* ---- who is who
 * ------------------------------------------------------------------------------------ */

static void same_pid_with_another_start_time_is_another_process(void **state)
{
	struct target *a = sampled(*state, 1, 1, 10);

	assert_ptr_equal(sampled(*state, 1, 1, 20), a);
	mapped(*state, 0x1000, 0x2000, 0, "/old");
	assert_ptr_not_equal(sampled(*state, 1, 2, 30), a);
	assert_string_equal(path_at(sampled(*state, 1, 2, 30), 0x1000, 30), NONE);
	assert_string_equal(path_at(a, 0x1000, 30), "/old");
	assert_int_equal(targets_counters(*state).known, 2);
}

static void sample_and_announcement_tell_of_the_same_process(void **state)
{
	struct process_record r = { .tgid = 1,
				    .start_time = 1,
				    .time = 5,
				    .uid = 7,
				    .comm = "announced",
				    .cgroup = (const uint8_t *)"0::/a.service\n",
				    .cgroup_len = 14 };
	struct target *t = sampled(*state, 1, 1, 10);

	assert_false(t->announced);
	assert_int_equal(t->uid, 1000);
	assert_string_equal(t->comm, "sampled");
	targets_process(*state, &r);
	assert_true(t->announced);
	assert_int_equal(t->uid, 7);
	assert_string_equal(t->comm, "announced");
	assert_string_equal(t->cgroup.systemd_unit, "a.service");
	/* the freshest word counts, and a record without a cgroup takes none away */
	r.cgroup_len = 0;
	targets_process(*state, &r);
	assert_ptr_equal(sampled(*state, 1, 1, 11), t);
	assert_string_equal(t->comm, "sampled");
	assert_string_equal(t->cgroup.systemd_unit, "a.service");
}

static void hostile_name_becomes_text(void **state)
{
	struct sample_record s = { .tgid = 1, .start_time = 1 };
	struct target *t;

	/* 16 bytes, no NUL, none of them UTF-8: 16 replacement characters of 3 bytes */
	memset(s.process_comm, 0xff, sizeof(s.process_comm));
	t = targets_of_sample(*state, &s);
	assert_int_equal(strlen(t->comm), 48);
}

/* ---- mappings over time
 * ---------------------------------------------------------------------------- */

static void address_is_found_in_its_mapping_only(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x3000, 0x4000, 0, "/b");
	mapped(*state, 0x1000, 0x2000, 0, "/a");
	mapped(*state, 0x5000, 0x6000, 0, "/c");
	assert_string_equal(path_at(t, 0xfff, 1), NONE);
	assert_string_equal(path_at(t, 0x1000, 1), "/a");
	assert_string_equal(path_at(t, 0x1fff, 1), "/a");
	assert_string_equal(path_at(t, 0x2000, 1), NONE);
	assert_string_equal(path_at(t, 0x3000, 1), "/b");
	assert_string_equal(path_at(t, 0x5fff, 1), "/c");
	assert_string_equal(path_at(t, 0x6000, 1), NONE);
	assert_string_equal(path_at(t, UINT64_MAX, 1), NONE);
}

static void sample_finds_what_was_mapped_at_its_time(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 100, "/first");
	mapped(*state, 0x1000, 0x2000, 200, "/second");
	mapped(*state, 0x1000, 0x2000, 300, "/third");
	assert_string_equal(path_at(t, 0x1000, 100), "/first");
	assert_string_equal(path_at(t, 0x1000, 199), "/first");
	assert_string_equal(path_at(t, 0x1000, 200), "/second");
	assert_string_equal(path_at(t, 0x1000, 299), "/second");
	assert_string_equal(path_at(t, 0x1000, 300), "/third");
	assert_string_equal(path_at(t, 0x1000, UINT64_MAX), "/third");
}

static void mapping_that_came_a_moment_later_is_better_than_none(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 100, "/late");
	assert_string_equal(path_at(t, 0x1000, 50), "/late");
}

static void exec_ends_all_mappings(void **state)
{
	struct process_record exec = {
		.tgid = 1, .start_time = 1, .time = 200, .reason = PROCESS_EXEC
	};
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 100, "/old/program");
	mapped(*state, 0x3000, 0x4000, 100, "/old/library");
	targets_process(*state, &exec);
	assert_string_equal(target_exe(t), "");
	mapped(*state, 0x1000, 0x2000, 200, "/new/program");
	assert_string_equal(path_at(t, 0x1000, 150), "/old/program");
	assert_string_equal(path_at(t, 0x3000, 150), "/old/library");
	assert_string_equal(path_at(t, 0x1000, 200), "/new/program");
	assert_string_equal(path_at(t, 0x3000, 200), NONE);
	assert_string_equal(target_exe(t), "/new/program");
}

static struct target *executed(struct targets *t, uint64_t time, const char *comm)
{
	struct process_record exec = {
		.tgid = 1, .start_time = 1, .time = time, .reason = PROCESS_EXEC
	};

	strcpy(exec.comm, comm);
	targets_process(t, &exec);
	return sampled(t, 1, 1, time);
}

static void program_that_a_window_holds_keeps_its_name_after_an_exec(void **state)
{
	struct target *first = sampled(*state, 1, 1, 1);
	struct target *second;

	mapped(*state, 0x1000, 0x2000, 1, "/old/program");
	target_hold(first);
	second = executed(*state, 200, "second");
	assert_ptr_not_equal(first, second);
	mapped(*state, 0x1000, 0x2000, 200, "/new/program");
	assert_string_equal(target_exe(first), "/old/program");
	assert_string_equal(first->comm, "sampled");
	assert_string_equal(path_at(first, 0x1000, 100), "/old/program");
	assert_string_equal(target_exe(second), "/new/program");
	assert_int_equal(targets_counters(*state).known, 1);
	target_release(first);
}

/* Each is held by a window: the 16th exec gives the last target, later ones change that one. */
static void process_that_only_execs_gets_a_bounded_number_of_targets(void **state)
{
	struct target *held[40];
	uint32_t different = 1;

	held[0] = sampled(*state, 1, 1, 1);
	target_hold(held[0]);
	for (uint32_t i = 1; i < 40; i++) {
		held[i] = executed(*state, i, "x");
		target_hold(held[i]);
		different += held[i] != held[i - 1];
	}
	assert_int_equal(different, 1 + TARGET_IMAGES_MAX);
	for (uint32_t i = 0; i < 40; i++)
		target_release(held[i]);
}

static void main_program_is_the_lowest_file(void **state)
{
	struct mapping_record anonymous = { .tgid = 1,
					    .start_time = 1,
					    .start = 0x1000,
					    .end = 0x2000,
					    .kind = MAPPING_ANONYMOUS };
	struct target *t = sampled(*state, 1, 1, 1);

	assert_string_equal(target_exe(t), "");
	mapped(*state, 0x7000, 0x8000, 0, "/lib/libc.so");
	targets_mapping(*state, &anonymous);
	mapped(*state, 0x4000, 0x5000, 0, "/bin/sh");
	assert_string_equal(target_exe(t), "/bin/sh");
}

/* ---- overlaps: the new mapping wins, what sticks out of the old one stays with its own offset
 * ------- */

static void expect_part(const struct target *t, uint64_t address, uint64_t start, uint64_t end)
{
	const struct target_mapping *m = target_find(t, address, 200);

	assert_non_null(m);
	assert_string_equal(m->path->text, "/old");
	assert_int_equal(m->start, start);
	assert_int_equal(m->end, end);
	assert_int_equal(m->offset,
			 start); /* mapped() gives offset = start, so that both move together */
}

static void overlap_in_the_middle_leaves_both_sides(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x5000, 100, "/old");
	mapped(*state, 0x2000, 0x3000, 200, "/new");
	assert_int_equal(t->live_count, 3);
	expect_part(t, 0x1000, 0x1000, 0x2000);
	expect_part(t, 0x4fff, 0x3000, 0x5000);
	assert_string_equal(path_at(t, 0x2000, 200), "/new");
	assert_string_equal(path_at(t, 0x2000, 150), "/old");
}

static void overlap_on_the_left_leaves_the_right_side(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x2000, 0x4000, 100, "/old");
	mapped(*state, 0x1000, 0x3000, 200, "/new");
	assert_int_equal(t->live_count, 2);
	expect_part(t, 0x3000, 0x3000, 0x4000);
	assert_string_equal(path_at(t, 0x2fff, 200), "/new");
}

static void overlap_on_the_right_leaves_the_left_side(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x3000, 100, "/old");
	mapped(*state, 0x2000, 0x4000, 200, "/new");
	assert_int_equal(t->live_count, 2);
	expect_part(t, 0x1fff, 0x1000, 0x2000);
	assert_string_equal(path_at(t, 0x2000, 200), "/new");
}

static void overlap_of_several_ends_those_inside(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	for (uint64_t start = 0x1000; start < 0x9000; start += 0x2000)
		mapped(*state, start, start + 0x1800, 100, "/old"); /* 1000, 3000, 5000, 7000 */
	mapped(*state, 0x1800, 0x7800, 200, "/new");
	assert_int_equal(t->live_count, 3);
	expect_part(t, 0x17ff, 0x1000, 0x1800);
	expect_part(t, 0x7800, 0x7800, 0x8800);
	assert_string_equal(path_at(t, 0x3000, 200), "/new");
	assert_string_equal(path_at(t, 0x3000, 199), "/old");
}

static void touching_mappings_do_not_overlap(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 100, "/old");
	mapped(*state, 0x2000, 0x3000, 200, "/new");
	assert_int_equal(t->live_count, 2);
	assert_int_equal(t->past_count, 0);
	/* the whole address space */
	mapped(*state, 0, UINT64_MAX, 300, "/all");
	assert_int_equal(t->live_count, 1);
	assert_string_equal(path_at(t, UINT64_MAX - 1, 300), "/all");
}

/* Against a plain array of what each page belongs to: 20,000 random mappings, then each page at
 * each stage. */
static void random_mappings_agree_with_a_page_by_page_model(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);
	uint32_t owner[64] = { 0 };
	uint32_t seed = 1;

	for (uint32_t i = 1; i <= 20000; i++) {
		uint32_t start, end;
		char path[16];

		seed = seed * 1664525u + 1013904223u;
		start = seed >> 26;
		end = start + 1 + (seed >> 20 & 7);
		end = end > 64 ? 64 : end;
		snprintf(path, sizeof(path), "%u", i);
		mapped(*state, start, end, i, path);
		for (uint32_t page = start; page < end; page++)
			owner[page] = i;
		for (uint32_t page = 0; page < 64; page++) {
			snprintf(path, sizeof(path), "%u", owner[page]);
			assert_string_equal(path_at(t, page, i), owner[page] ? path : NONE);
		}
	}
	assert_int_equal(targets_counters(*state).mappings_refused, 0);
}

/* ---- bounds
 * ---------------------------------------------------------------------------------------- */

static void least_recently_sampled_goes_first(void **state)
{
	sampled(*state, 1, 1, 50);
	sampled(*state, 2, 1, 10); /* the oldest */
	sampled(*state, 3, 1, 20); /* the next */
	sampled(*state, 4, 1, 40);
	/* Full: makes room for a quarter and one. */
	sampled(*state, 5, 1, 60);
	assert_int_equal(targets_counters(*state).evicted, 2);
	assert_int_equal(targets_counters(*state).known, 3);
	assert_true(sampled(*state, 1, 1, 50)->last_sample == 50);
	assert_int_equal(targets_counters(*state).known, 3); /* 1 was still known */
	sampled(*state, 4, 1, 40);
	assert_int_equal(targets_counters(*state).known, 3); /* and so was 4 */
	sampled(*state, 2, 1, 70);
	assert_int_equal(targets_counters(*state).known, 4); /* 2 was not */
}

static void exited_go_before_the_living(void **state)
{
	struct exit_record gone = { .tgid = 4, .start_time = 1, .time = 45 };

	sampled(*state, 1, 1, 1);
	sampled(*state, 2, 1, 2);
	sampled(*state, 3, 1, 3);
	sampled(*state, 4, 1, 40);
	targets_exit(*state, &gone);
	sampled(*state, 5, 1, 50);
	/* 4, though sampled last, and 1 went */
	sampled(*state, 2, 1, 51);
	sampled(*state, 3, 1, 52);
	assert_int_equal(targets_counters(*state).known, 3);
}

static void table_of_one_still_holds_one(void **state)
{
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(sampled(*state, i, 1, i)->tgid, i);
	assert_int_equal(targets_counters(*state).known, 1);
	assert_int_equal(targets_counters(*state).evicted, 98);
}

static void many_come_and_go(void **state)
{
	for (uint32_t i = 1; i <= 10000; i++) {
		struct exit_record gone = { .tgid = i, .start_time = i, .time = i };

		sampled(*state, i, i, i);
		announced(*state, i, i, i);
		targets_exit(*state, &gone);
		if (i % 16 == 0)
			targets_expire(*state,
				       i - 4); /* of 16 gone, those of the last 5 ticks stay */
	}
	assert_int_equal(targets_counters(*state).known, 5);
	assert_int_equal(targets_counters(*state).evicted, 0);
}

static void exited_is_remembered_until_it_expires(void **state)
{
	struct exit_record gone = { .tgid = 1, .start_time = 1, .time = 100 };

	sampled(*state, 1, 1, 1);
	sampled(*state, 2, 1, 1);
	targets_exit(*state, &gone);
	targets_expire(*state, 100);
	assert_int_equal(targets_counters(*state).known, 2);
	targets_expire(*state, 101);
	assert_int_equal(targets_counters(*state).known, 1);
	gone.tgid = 99; /* not known: nothing happens */
	targets_exit(*state, &gone);
	assert_int_equal(targets_counters(*state).known, 1);
}

static void held_target_outlives_eviction_and_reset(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 0, "/held");
	target_hold(t);
	targets_reset(*state);
	assert_int_equal(targets_counters(*state).known, 0);
	assert_string_equal(path_at(t, 0x1000, 1), "/held");
	assert_ptr_not_equal(sampled(*state, 1, 1, 1),
			     t); /* a new one, since a new collector tells all anew */
	assert_true(targets_counters(*state).memory > 0); /* what is held still counts */
	target_release(t);
	assert_int_equal(targets_counters(*state).memory, 0);
}

static void mapping_of_an_unknown_process_is_refused(void **state)
{
	mapped(*state, 0x1000, 0x2000, 0, "/x");
	assert_int_equal(targets_counters(*state).mappings_refused, 1);
	assert_int_equal(targets_counters(*state).known, 0);
}

static void too_many_mappings_are_refused(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	for (uint64_t i = 0; i < 100; i++)
		mapped(*state, i << 12, (i + 1) << 12, 0, "/x");
	assert_in_range(t->live_count, 13, 16); /* a cut may need room for two more */
	assert_int_equal(targets_counters(*state).mappings_refused, 100 - t->live_count);
}

static void past_mappings_are_bounded_the_newest_stay(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);
	char path[16];

	for (uint32_t i = 1; i <= 1000; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		mapped(*state, 0x1000, 0x2000, i, path);
	}
	assert_int_equal(t->past_count, TARGET_PAST_MAX);
	/* 1000 is live; of the 999 before, the last 256 are kept: 744 to 999 */
	assert_string_equal(path_at(t, 0x1000, 744), "/744");
	assert_string_equal(path_at(t, 0x1000, 999), "/999");
	assert_string_equal(path_at(t, 0x1000, 743), "/1000");
}

static void mapping_that_was_valid_at_no_time_is_not_kept(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 100, "/told");
	mapped(*state, 0x1000, 0x2000, 100, "/told again");
	assert_int_equal(t->past_count, 0);
	assert_string_equal(path_at(t, 0x1000, 100), "/told again");
}

static void long_path_is_cut_at_a_character(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);
	static char path[4096];

	/* "/" and 2047 times e acute: byte 1023 is the first half of one */
	path[0] = '/';
	for (uint32_t i = 1; i + 1 < sizeof(path); i += 2)
		memcpy(path + i, "\xc3\xa9", 2);
	mapped(*state, 0x1000, 0x2000, 0, path);
	assert_int_equal(strlen(path_at(t, 0x1000, 1)), TARGET_PATH_MAX - 1); /* 1 + 2 * 511 */
}

static void neighbours_share_their_path(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	mapped(*state, 0x1000, 0x2000, 0, "/lib/a.so");
	mapped(*state, 0x2000, 0x3000, 0, "/lib/a.so");
	assert_ptr_equal(target_find(t, 0x1000, 1)->path, target_find(t, 0x2000, 1)->path);
	mapped(*state, 0x3000, 0x4000, 0, "/lib/b.so");
	assert_ptr_not_equal(target_find(t, 0x2000, 1)->path, target_find(t, 0x3000, 1)->path);
}

/* 60,000 mappings from the top down, each with a path of 1,000 bytes of its own: some 60 MB, were
 * they kept. */
static void one_target_takes_its_share_only(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);
	char path[1000];
	uint32_t kept;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	for (uint64_t i = 60000; i > 0; i--) {
		snprintf(path, 8, "/%06u", (uint32_t)i);
		path[7] = 'x';
		mapped(*state, i << 12, (i + 1) << 12, 0, path);
	}
	kept = t->live_count;
	assert_true(targets_counters(*state).memory <= 1 << 20);
	assert_in_range(kept, 800, 1048); /* of about 1,100 bytes each in 1 MiB; arrays that doubled
					     take more than half */
	assert_int_equal(targets_counters(*state).mappings_refused, 60000 - kept);
	/* Another target has room. */
	sampled(*state, 2, 1, 1);
	assert_int_equal(t->memory_used, targets_counters(*state).memory);
}

static void all_targets_together_are_bounded(void **state)
{
	char path[1000];
	uint64_t refused = 0;

	memset(path, 'x', sizeof(path));
	for (uint32_t tgid = 1; tgid <= 16; tgid++) {
		sampled(*state, tgid, 1, tgid);
		for (uint64_t i = 1; i <= 1000; i++) {
			struct mapping_record r = { .tgid = tgid,
						    .start_time = 1,
						    .start = i << 12,
						    .end = (i + 1) << 12,
						    .kind = MAPPING_OTHER_FILE,
						    .path = (const uint8_t *)path,
						    .path_len = 1000 };

			snprintf(path, 8, "/%06u", (uint32_t)i);
			path[7] = 'x';
			targets_mapping(*state, &r);
			assert_true(targets_counters(*state).memory <= 8 << 20);
		}
		if (tgid == 4)
			refused = targets_counters(*state).mappings_refused;
	}
	assert_true(targets_counters(*state).mappings_refused > refused);
	/* What is given back can be taken again. */
	targets_reset(*state);
	assert_int_equal(targets_counters(*state).memory, 0);
	sampled(*state, 1, 1, 1);
	mapped(*state, 0x1000, 0x2000, 0, "/x");
	assert_string_equal(path_at(sampled(*state, 1, 1, 1), 0x1000, 1), "/x");
}

static void mappings_that_share_a_path_are_cheap(void **state)
{
	struct target *t = sampled(*state, 1, 1, 1);

	/* Room for 8,192 of 76 bytes is 608 KiB: within the share of 1 MiB. */
	for (uint64_t i = 8000; i > 0; i--)
		mapped(*state, i << 12, (i + 1) << 12, 0, "/x");
	assert_int_equal(targets_counters(*state).mappings_refused, 0);
	assert_int_equal(t->live_count, 8000);
	for (uint64_t i = 1; i <= 8000; i++)
		assert_int_equal(target_find(t, i << 12, 1)->start, i << 12);
}

#define TEST(f)		   cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_OF(f, limits) cmocka_unit_test_setup_teardown(f, setup_##limits, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_pid_with_another_start_time_is_another_process),
		TEST(sample_and_announcement_tell_of_the_same_process),
		TEST(hostile_name_becomes_text),
		TEST(address_is_found_in_its_mapping_only),
		TEST(sample_finds_what_was_mapped_at_its_time),
		TEST(mapping_that_came_a_moment_later_is_better_than_none),
		TEST(exec_ends_all_mappings),
		TEST(program_that_a_window_holds_keeps_its_name_after_an_exec),
		TEST(process_that_only_execs_gets_a_bounded_number_of_targets),
		TEST(main_program_is_the_lowest_file),
		TEST(overlap_in_the_middle_leaves_both_sides),
		TEST(overlap_on_the_left_leaves_the_right_side),
		TEST(overlap_on_the_right_leaves_the_left_side),
		TEST(overlap_of_several_ends_those_inside),
		TEST(touching_mappings_do_not_overlap),
		TEST(random_mappings_agree_with_a_page_by_page_model),
		TEST_OF(least_recently_sampled_goes_first, four),
		TEST_OF(exited_go_before_the_living, four),
		TEST_OF(table_of_one_still_holds_one, one),
		TEST(many_come_and_go),
		TEST(exited_is_remembered_until_it_expires),
		TEST(held_target_outlives_eviction_and_reset),
		TEST(mapping_of_an_unknown_process_is_refused),
		TEST_OF(too_many_mappings_are_refused, four),
		TEST(past_mappings_are_bounded_the_newest_stay),
		TEST(mapping_that_was_valid_at_no_time_is_not_kept),
		TEST(long_path_is_cut_at_a_character),
		TEST(neighbours_share_their_path),
		TEST_OF(one_target_takes_its_share_only, many_mappings),
		TEST_OF(all_targets_together_are_bounded, many_mappings),
		TEST_OF(mappings_that_share_a_path_are_cheap, many_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
