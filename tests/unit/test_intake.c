// SPDX-License-Identifier: Apache-2.0
/* The intake: every message is checked, and ends up in a file, in a counter, or in the account as lost. */
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>

#include "ipc/builder.h"
#include "tests/unit/sink_fixture.h"
#include "uploader/intake.h"

#define BYTES 100

struct bench {
	struct sink_fixture *fixture;
	struct intake *intake;
	uint64_t sequence;
};

static void start(struct bench *b)
{
	struct sink_options o = { .directory = b->fixture->directory,
				  .max_bytes = 1 << 20,
				  .max_age = 86400,
				  .on_removed = intake_on_removed };

	b->intake = calloc(1, sizeof(*b->intake));
	assert_int_equal(journal_open(&b->intake->journal, o.directory, 1 << 20), 0);
	o.context = b->intake->journal;
	assert_int_equal(sink_new(&b->intake->sink, &o), 0);
}

static void stop(struct bench *b)
{
	journal_close(b->intake->journal);
	flock(b->fixture->directory, LOCK_UN);
	sink_free(b->intake->sink);
	free(b->intake);
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	void *fixture;

	if (fixture_setup(&fixture) != 0)
		return -1;
	b->fixture = fixture;
	start(b);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;
	void *fixture = b->fixture;

	stop(b);
	free(b);
	return fixture_teardown(&fixture);
}

/* Begins now: a window far from the clock would be filed under now anyway. */
static struct window_account window(uint64_t number)
{
	struct counters_record counters = { .value = {
						    [COLLECTOR_TAKEN] = number * 100 + 100,
						    [COLLECTOR_SENT] = number * 100 + 100,
					    } };

	return (struct window_account){ .collector_stream = 7,
					.symbolizer_id = 100,
					.window = number,
					.start_time = (uint64_t)time(NULL) * 1000000000,
					.first_sample = number * 100,
					.end_sample = number * 100 + 100,
					.received = 100,
					.in_profiles = 100,
					.profiles = 2,
					.collector = counters };
}

static void send_bytes(struct bench *b, const void *bytes, uint32_t len)
{
	/* A block of the exact length, so that the sanitizer sees a read beyond it. */
	uint8_t *copy = calloc(1, len ? len : 1);

	memcpy(copy, bytes, len);
	intake_message(b->intake, copy, len);
	free(copy);
}

static void send_message(struct bench *b, enum profile_message_type type, uint64_t number,
			 uint32_t index, uint64_t samples)
{
	static uint8_t buffer[4096];
	static const uint8_t pprof[BYTES];
	struct builder out = builder_over(buffer, sizeof(buffer));
	struct profile_message m = { .type = type, .sequence = b->sequence++ };

	m.account = window(number);
	m.index = index;
	m.samples = samples;
	m.label_count = 2;
	m.labels[0] = (struct profile_label){ "comm", "my app", 4, 6 };
	m.labels[1] = (struct profile_label){ "pid", "42", 3, 2 };
	m.pprof_len = BYTES;
	profile_message_encode_header(&out, &m);
	if (type == PROFILE_PPROF)
		builder_bytes(&out, pprof, BYTES);
	assert_false(out.bad);
	send_bytes(b, buffer, out.len);
}

static struct ledger_table table(const struct bench *b)
{
	struct ledger_table t;

	ledger_sum(journal_ledger(b->intake->journal), true, &t);
	return t;
}

static void profiles_become_files(void **state)
{
	struct bench *b = *state;
	char *journal;

	send_message(b, PROFILE_WINDOW, 0, 0, 0);
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	send_message(b, PROFILE_PPROF, 0, 1, 40);
	send_message(b, PROFILE_END, 0, 0, 0);
	assert_int_equal(b->intake->counters.written, 2);
	assert_int_equal(b->intake->counters.ends, 1);
	assert_int_equal(sink_files(b->intake->sink), 2);
	assert_int_equal(sink_bytes(b->intake->sink), 2 * BYTES);
	assert_int_equal(table(b).taken, 100);
	assert_int_equal(table(b).delivered, 100);
	assert_int_equal(table(b).unfinished, 0);
	assert_true(table(b).balanced);
	journal = fixture_read(b->fixture, "journal");
	assert_non_null(strstr(journal, "-my_app-42-0.pb.gz\n"));
	assert_non_null(strstr(journal, "-my_app-42-1.pb.gz\n"));
	free(journal);
}

static void duplicates_are_refused_also_after_a_restart(void **state)
{
	struct bench *b = *state;

	send_message(b, PROFILE_PPROF, 0, 0, 60);
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	assert_int_equal(b->intake->counters.duplicates, 1);
	stop(b);
	start(b);
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	assert_int_equal(b->intake->counters.duplicates, 1);
	assert_int_equal(sink_files(b->intake->sink), 1);
	assert_int_equal(table(b).delivered, 60);
}

static void late_profiles_are_refused(void **state)
{
	struct bench *b = *state;

	for (uint64_t i = 0; i <= LEDGER_WINDOWS; i++)
		send_message(b, PROFILE_WINDOW, i, 0, 0);
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	assert_int_equal(b->intake->counters.late, 1);
	assert_int_equal(sink_files(b->intake->sink), 0);
	assert_int_equal(table(b).lost[LEDGER_PROFILE_LOST], 1700);
	assert_true(table(b).balanced);
}

static void profiles_that_exceed_their_window_are_refused_for_good(void **state)
{
	struct bench *b = *state;

	send_message(b, PROFILE_PPROF, 0, 0, 60);
	send_message(b, PROFILE_PPROF, 0, 1, 41);
	assert_int_equal(b->intake->counters.refused, 1);
	assert_int_equal(sink_files(b->intake->sink), 1);
	stop(b);
	start(b);
	assert_int_equal(table(b).contradictions[LEDGER_PROFILE_EXCESS], 1);
	assert_false(table(b).balanced);
}

static void bad_messages_are_counted(void **state)
{
	struct bench *b = *state;

	send_bytes(b, "", 0);
	send_bytes(b, "GET / HTTP/1.0\r\n", 16);
	assert_int_equal(b->intake->counters.bad, 2);
	assert_int_equal(b->intake->counters.messages, 2);
	assert_int_equal(table(b).taken, 0);
}

static void gaps_in_the_numbering_are_counted(void **state)
{
	struct bench *b = *state;

	b->sequence = 5; /* we came late: no gap */
	send_message(b, PROFILE_WINDOW, 0, 0, 0);
	b->sequence += 3;
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	assert_int_equal(b->intake->counters.missing, 3);
}

/* A file stands where the day's folder belongs, whatever day it is when the test runs. */
static void profile_that_cannot_be_written_is_lost_by_name(void **state)
{
	struct bench *b = *state;
	char day[16];
	time_t now = time(NULL);
	struct tm date;
	char *journal;

	for (int i = -1; i <= 1; i++) {
		now = time(NULL) + i * 86400;
		strftime(day, sizeof(day), "%Y%m%d", gmtime_r(&now, &date));
		fixture_write(b->fixture, day, "", 0);
	}
	send_message(b, PROFILE_PPROF, 0, 0, 60);
	assert_int_equal(b->intake->counters.failed, 1);
	assert_int_equal(table(b).lost[LEDGER_WRITE_FAILED], 60);
	assert_true(table(b).balanced);
	journal = fixture_read(b->fixture, "journal");
	assert_non_null(strstr(journal, "\nlost time="));
	assert_null(strstr(journal, "\nprofile time="));
	free(journal);
	stop(b);
	start(b);
	assert_int_equal(table(b).lost[LEDGER_WRITE_FAILED], 60);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(profiles_become_files),
		TEST(duplicates_are_refused_also_after_a_restart),
		TEST(late_profiles_are_refused),
		TEST(profiles_that_exceed_their_window_are_refused_for_good),
		TEST(bad_messages_are_counted),
		TEST(gaps_in_the_numbering_are_counted),
		TEST(profile_that_cannot_be_written_is_lost_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
