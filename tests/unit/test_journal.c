// SPDX-License-Identifier: Apache-2.0
/* The journal: what it says after kills, full disks and rotations is what happened. */
#include <errno.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "ipc/journal_replay.h"
#include "tests/unit/sink_fixture.h"
#include "uploader/journal.h"

#define LIMIT (1 << 20)

static struct window_account window(uint64_t number)
{
	return (struct window_account){ .collector_stream = 7,
					.symbolizer_id = 100,
					.window = number,
					.first_sample = number * 100,
					.end_sample = number * 100 + 100,
					.received = 100,
					.in_profiles = 100,
					.profiles = 2 };
}

static struct journal *open_journal(const struct sink_fixture *f, uint64_t limit)
{
	struct journal *j;

	assert_int_equal(journal_open(&j, f->directory, limit), 0);
	return j;
}

/* Ends as SIGKILL would: nothing more is written. The lock goes with the descriptors of the process. */
static void kill_journal(const struct sink_fixture *f, struct journal *j)
{
	ledger_free(journal_ledger(j));
	free(j);
	flock(f->directory, LOCK_UN);
}

static void close_journal(const struct sink_fixture *f, struct journal *j)
{
	journal_close(j);
	flock(f->directory, LOCK_UN);
}

static void add_window(struct journal *j, uint64_t number)
{
	struct journal_entry e = { .kind = JOURNAL_WINDOW, .account = window(number) };

	assert_int_equal(ledger_window(journal_ledger(j), &e.account), LEDGER_NEW);
	assert_int_equal(journal_append(j, &e), 0);
}

static struct journal_entry profile_entry(uint64_t number, uint32_t index, uint64_t samples)
{
	struct journal_entry e = { .kind = JOURNAL_PROFILE, .account = window(number) };

	e.index = index;
	e.samples = samples;
	e.bytes = 5;
	snprintf(e.file, sizeof(e.file), "20261201/120000-x-%u-%u.pb.gz", (unsigned)number, index);
	return e;
}

/* With its file, as the intake leaves it. */
static void add_profile(const struct sink_fixture *f, struct journal *j, uint64_t number,
			uint32_t index, uint64_t samples)
{
	struct journal_entry e = profile_entry(number, index, samples);

	assert_int_equal(journal_append(j, &e), 0);
	assert_int_equal(ledger_profile(journal_ledger(j), 100, number, index, samples, true),
			 LEDGER_NEW);
	mkdirat(f->directory, "20261201", 0750);
	fixture_write(f, e.file, "12345", 5);
}

static struct ledger_table table(struct journal *j)
{
	struct ledger_table t;

	ledger_sum(journal_ledger(j), true, &t);
	return t;
}

static void account_is_rebuilt_after_a_kill(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct ledger_table before, after;

	add_window(j, 0);
	add_profile(f, j, 0, 0, 60);
	add_profile(f, j, 0, 1, 40);
	add_window(j, 2); /* window 1 is missing: 100 samples */
	add_profile(f, j, 2, 1, 30);
	before = table(j);
	kill_journal(f, j);
	j = open_journal(f, LIMIT);
	after = table(j);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(after.delivered, 130);
	assert_int_equal(after.lost[LEDGER_PROFILE_LOST], 170);
	assert_true(after.balanced);
	assert_int_equal(ledger_ask_profile(journal_ledger(j), 100, 2, 1, 30), LEDGER_KNOWN);
	assert_int_equal(ledger_ask_profile(journal_ledger(j), 100, 2, 0, 70), LEDGER_NEW);
	close_journal(f, j);
}

static void torn_last_line_is_passed_over_and_cut_off(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct ledger_table t;
	char *text;

	add_window(j, 0);
	kill_journal(f, j);
	fixture_write(f, "journal", "profile time=12 stre", 20);
	j = open_journal(f, LIMIT);
	t = table(j);
	assert_int_equal(t.contradictions[LEDGER_JOURNAL_DAMAGED], 0);
	assert_int_equal(t.windows, 1);
	assert_true(t.balanced);
	add_profile(f, j, 0, 0, 60);
	close_journal(f, j);
	text = fixture_read(f, "journal");
	assert_null(strstr(text, "time=12 stre"));
	free(text);
	j = open_journal(f, LIMIT);
	assert_int_equal(table(j).delivered, 60);
	assert_true(table(j).balanced);
	close_journal(f, j);
}

static void damaged_line_is_reported(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);

	add_window(j, 0);
	kill_journal(f, j);
	fixture_write(f, "journal", "profile time=12 stre\n", 21);
	j = open_journal(f, LIMIT);
	assert_int_equal(table(j).contradictions[LEDGER_JOURNAL_DAMAGED], 1);
	assert_false(table(j).balanced);
	close_journal(f, j);
}

/* Killed after the line, before the rename; the written file still lies there. */
static void profile_without_its_name_is_completed(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct journal_entry e = profile_entry(0, 0, 60);

	add_window(j, 0);
	mkdirat(f->directory, "20261201", 0750);
	fixture_write(f, "20261201/.120000-x-0-0.pb.gz.tmp", "12345", 5);
	assert_int_equal(journal_append(j, &e), 0);
	kill_journal(f, j);
	j = open_journal(f, LIMIT);
	assert_true(fixture_exists(f, "20261201/120000-x-0-0.pb.gz"));
	assert_int_equal(table(j).delivered, 60);
	close_journal(f, j);
}

/* The same, but what was written is gone (the disk lost it). */
static void profile_whose_file_is_gone_is_undone(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct journal_entry e = profile_entry(0, 0, 60);

	add_window(j, 0);
	assert_int_equal(journal_append(j, &e), 0);
	kill_journal(f, j);
	for (int i = 0; i < 2; i++) { /* and the second start finds it said */
		j = open_journal(f, LIMIT);
		assert_int_equal(table(j).delivered, 0);
		assert_int_equal(table(j).lost[LEDGER_WRITE_FAILED], 60);
		assert_true(table(j).balanced);
		kill_journal(f, j);
	}
}

/* After a clean end users may move files away: their samples stay delivered. */
static void file_that_a_user_took_away_stays_delivered(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);

	add_window(j, 0);
	add_profile(f, j, 0, 0, 60);
	close_journal(f, j);
	assert_int_equal(unlinkat(f->directory, "20261201/120000-x-0-0.pb.gz", 0), 0);
	j = open_journal(f, LIMIT);
	assert_int_equal(table(j).delivered, 60);
	close_journal(f, j);
}

static void end_without_a_clean_stop_is_noticed(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct journal_entry e = { .kind = JOURNAL_END, .account = window(0) };

	assert_false(journal_found_end(j));
	assert_int_equal(journal_append(j, &e), 0);
	kill_journal(f, j);
	j = open_journal(f, LIMIT);
	assert_true(journal_found_end(j));
	close_journal(f, j);
	j = open_journal(f, LIMIT);
	assert_false(journal_found_end(j));
	close_journal(f, j);
}

/* Every 4096 bytes a new journal begins; 200 windows with a missing profile each go through 40 of them. */
static void rotation_carries_the_account_over(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, 4096);
	struct ledger_table t, again;
	struct stat st;

	for (uint64_t i = 0; i < 200; i++) {
		struct journal_entry removed = { .kind = JOURNAL_REMOVED, .bytes = 10 };

		add_window(j, i);
		add_profile(f, j, i, i % 2, 60);
		snprintf(removed.file, sizeof(removed.file), "20261201/120000-x-%u.pb.gz",
			 (unsigned)i);
		assert_int_equal(journal_append(j, &removed), 0);
		ledger_removed(journal_ledger(j), 10);
	}
	t = table(j);
	assert_int_equal(t.delivered, 12000);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 8000);
	assert_int_equal(t.removed_bytes, 2000);
	assert_int_equal(t.windows, 200);
	assert_true(t.balanced);
	kill_journal(f, j);
	assert_int_equal(fstatat(f->directory, "journal", &st, 0), 0);
	assert_true(st.st_size < 32768);
	assert_true(fixture_exists(f, "journal.1"));
	assert_false(fixture_exists(f, ".journal.tmp"));
	j = open_journal(f, 4096);
	again = table(j);
	assert_memory_equal(&t, &again, sizeof(t));
	close_journal(f, j);
}

/* Killed in the middle of a checkpoint: what stood before it holds. */
static void half_a_checkpoint_is_dropped(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct journal_entry e = { .kind = JOURNAL_CHECKPOINT };
	char line[JOURNAL_LINE_MAX];
	uint32_t len = journal_entry_encode(&e, line, sizeof(line));

	add_window(j, 0);
	add_profile(f, j, 0, 0, 60);
	kill_journal(f, j);
	fixture_write(f, "journal", line, len);
	j = open_journal(f, LIMIT);
	assert_int_equal(table(j).delivered, 60);
	assert_true(table(j).balanced);
	close_journal(f, j);
	j = open_journal(f, LIMIT); /* and so it is when lines follow */
	assert_int_equal(table(j).delivered, 60);
	assert_true(table(j).balanced);
	close_journal(f, j);
}

static void planted_link_is_not_followed(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j;

	assert_int_equal(symlinkat("target", f->directory, "journal"), 0);
	assert_int_equal(journal_open(&j, f->directory, LIMIT), -ELOOP);
	assert_false(fixture_exists(f, "target"));
}

static void second_uploader_is_refused(void **state)
{
	const struct sink_fixture *f = *state;
	struct journal *j = open_journal(f, LIMIT);
	struct journal *second;
	int directory = open(f->path, O_RDONLY | O_DIRECTORY);

	assert_int_equal(journal_open(&second, directory, LIMIT), -EBUSY);
	close(directory);
	close_journal(f, j);
}

/* 64 KiB of disk: lines fail, the account goes on in memory, and is told whole once there is room again. */
static void full_disk_is_made_up_for(void **state)
{
	const struct sink_fixture *outer = *state;
	struct sink_fixture f = *outer;
	struct ledger_table t, again;
	char filling[4096] = { 0 };
	struct journal *j;
	uint64_t failed = 0;
	uint64_t i;
	int fd;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", f.path, "tmpfs", 0, "size=65536") != 0)
		skip();
	f.directory = open(f.path, O_RDONLY | O_DIRECTORY);
	j = open_journal(&f, LIMIT);
	fd = openat(f.directory, "filling", O_WRONLY | O_CREAT, 0640);
	while (write(fd, filling, sizeof(filling)) > 0)
		;
	close(fd);
	for (i = 0; i < 20; i++) {
		struct journal_entry e = { .kind = JOURNAL_WINDOW, .account = window(i) };

		assert_int_equal(ledger_window(journal_ledger(j), &e.account), LEDGER_NEW);
		failed += journal_append(j, &e) != 0;
	}
	assert_true(failed > 10);
	t = table(j);
	assert_int_equal(t.windows, 20);
	assert_int_equal(unlinkat(f.directory, "filling", 0), 0);
	add_profile(&f, j, 19, 0, 60);
	t = table(j);
	kill_journal(&f, j);
	j = open_journal(&f, LIMIT);
	again = table(j);
	assert_memory_equal(&t, &again, sizeof(t));
	assert_int_equal(again.delivered, 60);
	assert_true(again.balanced);
	close_journal(&f, j);
	close(f.directory);
	umount(f.path);
}

/* Each kind of line comes back as it was written, and no shorter or longer line is taken. */
static void every_kind_is_read_back(void **state)
{
	char line[JOURNAL_LINE_MAX];
	char again[JOURNAL_LINE_MAX];

	(void)state;
	for (int kind = 1; kind < JOURNAL_KINDS; kind++) {
		struct journal_entry e = { .kind = (enum journal_kind)kind };
		struct journal_entry back;
		uint32_t len;

		e.account = window(UINT64_MAX);
		e.account.collector.value[COLLECTOR_COUNTERS - 1] = UINT64_MAX;
		e.index = UINT32_MAX;
		e.samples = UINT64_MAX;
		strcpy(e.file, "20261201/120000-x-1-0.pb.gz");
		e.table.lost[LEDGER_LOSSES - 1] = 3;
		len = journal_entry_encode(&e, line, sizeof(line));
		assert_true(len > 1);
		assert_int_equal(line[len - 1], '\n');
		assert_null(journal_entry_decode(line, len - 1, &back));
		assert_int_equal(journal_entry_encode(&back, again, sizeof(again)), len);
		assert_memory_equal(line, again, len);
		assert_non_null(journal_entry_decode(line, len, &back));
		line[len - 1] = ' ';
		assert_non_null(journal_entry_decode(line, len, &back));
	}
}

static void reader_is_strict(void **state)
{
	static const char *const wrong[] = {
		"",
		"removed",
		"removed time=1 bytes=2",
		"removed time=1 bytes=2 file=",
		"removed time=1 bytes=2 file=/etc/passwd",
		"removed time=1 bytes=2 file=../x",
		"removed time=1 bytes=2 file=a/../x",
		"removed time=1 bytes=2 file=a/b/c",
		"removed time=1 bytes=2 file=a/.b",
		"removed time=1 bytes=2 file=a/",
		"removed time=1 bytes=2 file=a b",
		"removed time=1 bytes=2 file=a\xff",
		"removed time=01 bytes=2 file=a",
		"removed time=+1 bytes=2 file=a",
		"removed time=-1 bytes=2 file=a",
		"removed time= bytes=2 file=a",
		"removed time=18446744073709551616 bytes=2 file=a",
		"removed bytes=2 time=1 file=a",
		"removed  time=1 bytes=2 file=a",
		"removed time=1 bytes=2 file=a more=1",
		"gone stream=000000000000000",
		"gone stream=000000000000000G",
		"gone stream=000000000000000A",
		"Removed time=1 bytes=2 file=a",
	};
	struct journal_entry e;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_non_null(journal_entry_decode(wrong[i], (uint32_t)strlen(wrong[i]), &e));
	assert_non_null(journal_entry_decode("removed time=1 bytes=2 file=a\0b", 31, &e));
	assert_null(journal_entry_decode("removed time=1 bytes=2 file=a", 29, &e));
	assert_null(journal_entry_decode("gone stream=00000000000000ff", 28, &e));
	assert_int_equal(e.account.collector_stream, 255);
}

/* A forged checkpoint cannot make the account look balanced. */
static void forged_totals_do_not_balance(void **state)
{
	struct journal_replay *r = malloc(sizeof(*r));
	struct journal_entry e = { .kind = JOURNAL_CHECKPOINT };
	struct ledger_table t;
	char line[JOURNAL_LINE_MAX];

	(void)state;
	e.table.taken = 10;
	e.table.delivered = 1000;
	assert_int_equal(journal_replay_begin(r), 0);
	journal_replay_feed(r, line, journal_entry_encode(&e, line, sizeof(line)));
	e.kind = JOURNAL_CHECKPOINT_END;
	journal_replay_feed(r, line, journal_entry_encode(&e, line, sizeof(line)));
	ledger_sum(r->ledger, true, &t);
	assert_int_equal(t.contradictions[LEDGER_SUM_WRONG], 1);
	assert_false(t.balanced);
	journal_replay_end(r);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(account_is_rebuilt_after_a_kill),
		FIXTURE_TEST(torn_last_line_is_passed_over_and_cut_off),
		FIXTURE_TEST(damaged_line_is_reported),
		FIXTURE_TEST(profile_without_its_name_is_completed),
		FIXTURE_TEST(profile_whose_file_is_gone_is_undone),
		FIXTURE_TEST(file_that_a_user_took_away_stays_delivered),
		FIXTURE_TEST(end_without_a_clean_stop_is_noticed),
		FIXTURE_TEST(rotation_carries_the_account_over),
		FIXTURE_TEST(half_a_checkpoint_is_dropped),
		FIXTURE_TEST(planted_link_is_not_followed),
		FIXTURE_TEST(second_uploader_is_refused),
		FIXTURE_TEST(full_disk_is_made_up_for),
		cmocka_unit_test(every_kind_is_read_back),
		cmocka_unit_test(reader_is_strict),
		cmocka_unit_test(forged_totals_do_not_balance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
