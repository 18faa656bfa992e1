/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/counters.h"
#include "collector/drain.h"
#include "tests/unit/cmocka_all.h"

#define HEADER 88 /* bytes of struct sample_record */

static struct sample_record sample(uint16_t kernel_frames, uint16_t user_frames)
{
	return (struct sample_record){ .kernel_frames = kernel_frames, .user_frames = user_frames };
}

static void a_record_is_as_long_as_its_frames(void **state)
{
	struct sample_record r = sample(2, 3);

	(void)state;
	assert_null(drain_check_layout(&r, HEADER + 5 * 8));
	assert_non_null(drain_check_layout(&r, HEADER + 5 * 8 - 8));
	assert_non_null(drain_check_layout(&r, HEADER + 5 * 8 + 8));
	assert_non_null(drain_check_layout(&r, HEADER - 1));
	assert_non_null(drain_check_layout(&r, 0));
}

static void more_frames_than_there_can_be_are_refused(void **state)
{
	struct sample_record r = sample(127, 1024);

	(void)state;
	assert_null(drain_check_layout(&r, HEADER + 1151 * 8));
	r = sample(128, 0);
	assert_non_null(drain_check_layout(&r, HEADER + 128 * 8));
	r = sample(0, 1025);
	assert_non_null(drain_check_layout(&r, HEADER + 1025 * 8));
}

static void unknown_status_flag_and_reserved_are_refused(void **state)
{
	struct sample_record r = sample(0, 0);

	(void)state;
	r.status = SAMPLE_STATUS_COUNT;
	assert_non_null(drain_check_layout(&r, HEADER));
	r = sample(0, 0);
	r.flags = 8;
	assert_non_null(drain_check_layout(&r, HEADER));
	r = sample(0, 0);
	r.reserved = 1;
	assert_non_null(drain_check_layout(&r, HEADER));
}

static void every_sample_taken_is_accounted_for(void **state)
{
	/* 100 taken, 10 found the ring full; 80 came out of it, so 10 are in it. Of the 80, 1 was
	 * invalid, 1 is held back by the drain, 50 were sent, 20 wait, 8 were dropped. Inside the
	 * collector: 10 + 1 + 20 = 31. */
	struct sampler_totals sampler = { .value = { [SAMPLER_EVENTS] = 150,
						     [SAMPLER_IDLE] = 50,
						     [SAMPLER_TAKEN] = 100,
						     [SAMPLER_RING_FULL] = 10 } };
	struct drain_counters drain = { .taken = 80, .held = 1, .invalid = 1 };
	struct counters_record c = { 0 };

	(void)state;
	counters_account(&c, &sampler, &drain, 50, 20, 8);
	assert_int_equal(c.value[COLLECTOR_TAKEN], 100);
	assert_int_equal(c.value[COLLECTOR_RING_FULL], 10);
	assert_int_equal(c.value[COLLECTOR_HELD], 31);
	assert_int_equal(c.value[COLLECTOR_RING_FULL] + c.value[COLLECTOR_INVALID] +
				 c.value[COLLECTOR_QUEUE_FULL] + c.value[COLLECTOR_SENT] +
				 c.value[COLLECTOR_HELD],
			 c.value[COLLECTOR_TAKEN]);
	assert_int_equal(c.value[COLLECTOR_EVENTS], 150);
	assert_int_equal(c.value[COLLECTOR_IDLE], 50);
}

static void the_ring_holds_what_comes_between_drains(void **state)
{
	/* Deepest record: 88 + 8 * 1151 = 9296 bytes. An eighth of a second at 999 Hz on 2 CPUs:
	 * 250 of them, 2.3 MB -> 4 MiB. */
	struct sampler_options o = { .frequency = 999, .cpus = 2, .table_memory = 16 << 20 };

	(void)state;
	assert_int_equal(sampler_ring_size_for(&o), 4 << 20);
	o.frequency = 19; /* 5 records: the least size */
	assert_int_equal(sampler_ring_size_for(&o), 256 << 10);
	o.cpus = 8192; /* 181 MB: the most */
	assert_int_equal(sampler_ring_size_for(&o), 8 << 20);
	o.table_memory = 3 << 20; /* the budget rules: the power of two below it */
	assert_int_equal(sampler_ring_size_for(&o), 2 << 20);
	o.table_memory = 1; /* but there is a floor */
	assert_int_equal(sampler_ring_size_for(&o), 64 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_as_long_as_its_frames),
		cmocka_unit_test(more_frames_than_there_can_be_are_refused),
		cmocka_unit_test(unknown_status_flag_and_reserved_are_refused),
		cmocka_unit_test(every_sample_taken_is_accounted_for),
		cmocka_unit_test(the_ring_holds_what_comes_between_drains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
