// SPDX-License-Identifier: Apache-2.0
/* The directory sink: whole files or none, no link followed, limits kept, a full disk survived. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/unit/sink_fixture.h"
#include "uploader/folder.h"
#include "uploader/sink_directory.h"

#define NOON 1796126400ull /* 2026-12-01 12:00:00 */
#define DAY 86400ull

struct removed {
	uint32_t count;
	char last[JOURNAL_FILE_MAX];
};

static void on_removed(void *context, const char *file, uint64_t bytes)
{
	struct removed *r = context;

	(void)bytes;
	r->count++;
	snprintf(r->last, sizeof(r->last), "%s", file);
}

static struct sink *open_sink(const struct sink_fixture *f, uint64_t max_bytes, uint64_t max_age,
			      struct removed *r)
{
	const struct sink_options o = { .directory = f->directory,
					.max_bytes = max_bytes,
					.max_age = max_age,
					.on_removed = r ? on_removed : NULL,
					.context = r };
	struct sink *s;

	assert_int_equal(sink_new(&s, &o), 0);
	return s;
}

static struct sink_profile profile(uint64_t time, const char *comm, uint32_t len)
{
	static uint8_t bytes[1 << 20];

	return (struct sink_profile){ .time = time,
				      .comm = { comm, (uint32_t)strlen(comm) },
				      .pid = { "42", 2 },
				      .bytes = bytes,
				      .len = len };
}

static int write_one(struct sink *s, uint64_t time, const char *comm, uint32_t len)
{
	struct sink_profile p = profile(time, comm, len);
	struct sink_file f;
	int error = sink_prepare(s, &p, &f);

	return error ? error : sink_commit(s, &f);
}

static void file_appears_whole_under_its_name(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s = open_sink(f, 1 << 20, DAY, NULL);
	struct sink_profile p = profile(NOON, "nginx", 1000);
	struct sink_file file;
	struct stat st;

	assert_int_equal(sink_prepare(s, &p, &file), 0);
	assert_false(fixture_exists(f, "20261201/120000-nginx-42-0.pb.gz"));
	assert_true(fixture_exists(f, "20261201/.120000-nginx-42-0.pb.gz.tmp"));
	assert_int_equal(sink_commit(s, &file), 0);
	assert_false(fixture_exists(f, "20261201/.120000-nginx-42-0.pb.gz.tmp"));
	assert_int_equal(fstatat(f->directory, "20261201/120000-nginx-42-0.pb.gz", &st, 0), 0);
	assert_int_equal(st.st_size, 1000);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fstatat(f->directory, "20261201", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(sink_bytes(s), 1000);
	sink_free(s);
}

static void same_name_gets_the_next_number(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s = open_sink(f, 1 << 20, DAY, NULL);

	assert_int_equal(write_one(s, NOON, "nginx", 10), 0);
	assert_int_equal(write_one(s, NOON, "nginx", 20), 0);
	assert_true(fixture_exists(f, "20261201/120000-nginx-42-0.pb.gz"));
	assert_true(fixture_exists(f, "20261201/120000-nginx-42-1.pb.gz"));
	assert_int_equal(sink_files(s), 2);
	sink_free(s);
}

static void abandoned_file_leaves_nothing(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s = open_sink(f, 1 << 20, DAY, NULL);
	struct sink_profile p = profile(NOON, "nginx", 1000);
	struct sink_file file;

	assert_int_equal(sink_prepare(s, &p, &file), 0);
	sink_abandon(&file);
	assert_false(fixture_exists(f, "20261201/.120000-nginx-42-0.pb.gz.tmp"));
	assert_int_equal(sink_bytes(s), 0);
	sink_free(s);
}

/* Somebody plants a link where the day's folder belongs, and one where the file belongs. */
static void planted_links_are_not_followed(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s = open_sink(f, 1 << 20, DAY, NULL);

	assert_int_equal(mkdirat(f->directory, "elsewhere", 0750), 0);
	assert_int_equal(symlinkat("elsewhere", f->directory, "20261201"), 0);
	assert_int_equal(write_one(s, NOON, "nginx", 10), -ENOTDIR);
	assert_false(fixture_exists(f, "elsewhere/120000-nginx-42-0.pb.gz"));

	assert_int_equal(unlinkat(f->directory, "20261201", 0), 0);
	assert_int_equal(mkdirat(f->directory, "20261201", 0750), 0);
	assert_int_equal(symlinkat("../target", f->directory, "20261201/120000-nginx-42-0.pb.gz"), 0);
	assert_int_equal(symlinkat("../target", f->directory, "20261201/.120000-nginx-42-1.pb.gz.tmp"),
			 0);
	assert_int_equal(write_one(s, NOON, "nginx", 10), -EEXIST); /* the temporary name is taken */
	assert_false(fixture_exists(f, "target"));
	sink_free(s);
}

/* A link put under the final name between writing and renaming is not replaced. */
static void final_name_is_never_replaced(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s = open_sink(f, 1 << 20, DAY, NULL);
	struct sink_profile p = profile(NOON, "nginx", 10);
	struct sink_file file;

	assert_int_equal(sink_prepare(s, &p, &file), 0);
	fixture_write(f, "20261201/120000-nginx-42-0.pb.gz", "theirs", 6);
	assert_int_equal(sink_commit(s, &file), -EEXIST);
	assert_false(fixture_exists(f, "20261201/.120000-nginx-42-0.pb.gz.tmp"));
	assert_int_equal(sink_bytes(s), 0);
	sink_free(s);
}

static void sink_directory_itself_is_no_link_and_not_for_everybody(void **state)
{
	const struct sink_fixture *f = *state;
	char path[128];
	struct stat st;
	int fd;

	assert_int_equal(mkdirat(f->directory, "real", 0750), 0);
	assert_int_equal(symlinkat("real", f->directory, "link"), 0);
	snprintf(path, sizeof(path), "%s/link", f->path);
	assert_int_equal(folder_open_sink(path, getuid(), getgid()), -ENOTDIR);

	snprintf(path, sizeof(path), "%s/real", f->path);
	chmod(path, 0777);
	assert_int_equal(folder_open_sink(path, getuid(), getgid()), -EPERM);

	snprintf(path, sizeof(path), "%s/made", f->path);
	fd = folder_open_sink(path, getuid(), getgid());
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	close(fd);
}

static void folder_of_somebody_else_is_refused(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s;

	if (geteuid() != 0)
		skip();
	s = open_sink(f, 1 << 20, DAY, NULL);
	assert_int_equal(mkdirat(f->directory, "20261201", 0750), 0);
	assert_int_equal(fchownat(f->directory, "20261201", 12345, 12345, 0), 0);
	assert_int_equal(write_one(s, NOON, "nginx", 10), -EPERM);
	sink_free(s);
}

/* A limit of 100 bytes: of four files of 30 the oldest goes. */
static void oldest_goes_first_when_the_bytes_are_too_many(void **state)
{
	const struct sink_fixture *f = *state;
	struct removed removed = { 0 };
	struct sink *s = open_sink(f, 100, 30 * DAY, &removed);

	assert_int_equal(write_one(s, NOON - DAY, "yesterday", 30), 0);
	assert_int_equal(write_one(s, NOON + 1, "b", 30), 0);
	assert_int_equal(write_one(s, NOON, "a", 30), 0);
	assert_int_equal(removed.count, 0);
	assert_int_equal(write_one(s, NOON + 2, "c", 30), 0);
	assert_int_equal(removed.count, 1);
	assert_string_equal(removed.last, "20261130/120000-yesterday-42-0.pb.gz");
	assert_false(fixture_exists(f, "20261130")); /* the empty folder went as well */
	assert_int_equal(sink_bytes(s), 90);
	assert_int_equal(write_one(s, NOON + 3, "d", 30), 0);
	assert_string_equal(removed.last, "20261201/120000-a-42-0.pb.gz");
	assert_int_equal(write_one(s, NOON + 4, "all", 100), 0);
	assert_int_equal(removed.count, 5);
	assert_int_equal(sink_bytes(s), 100);
	assert_int_equal(sink_files(s), 1);
	assert_int_equal(write_one(s, NOON + 5, "more", 101), -EFBIG);
	assert_int_equal(sink_files(s), 1);
	sink_free(s);
}

static void old_files_go_by_age(void **state)
{
	const struct sink_fixture *f = *state;
	struct removed removed = { 0 };
	struct sink *s = open_sink(f, 1 << 20, 3600, &removed);

	assert_int_equal(write_one(s, NOON - 7200, "a", 30), 0);
	assert_int_equal(write_one(s, NOON - 3600, "b", 30), 0);
	assert_int_equal(write_one(s, NOON, "c", 30), 0);
	sink_keep_limits(s, NOON);
	assert_int_equal(removed.count, 1);
	assert_string_equal(removed.last, "20261201/100000-a-42-0.pb.gz");
	sink_keep_limits(s, NOON + 1);
	assert_int_equal(removed.count, 2);
	sink_keep_limits(s, NOON + 3601);
	assert_int_equal(removed.count, 3);
	assert_int_equal(sink_bytes(s), 0);
	assert_false(fixture_exists(f, "20261201"));
	assert_int_equal(write_one(s, NOON + 4000, "d", 30), 0);
	sink_free(s);
}

/* More files than names are kept in memory at once. */
static void many_files_go_in_order(void **state)
{
	const struct sink_fixture *f = *state;
	struct removed removed = { 0 };
	struct sink *s = open_sink(f, 200, 30 * DAY, &removed);

	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(write_one(s, NOON + (i * 37) % 200, "x", 1), 0);
	assert_int_equal(write_one(s, NOON + 300, "big", 150), 0);
	assert_int_equal(removed.count, 150);
	/* 149 s after noon: 12:02:29 */
	assert_string_equal(removed.last, "20261201/120229-x-42-0.pb.gz");
	sink_free(s);
}

static void what_is_there_counts_and_leftovers_go(void **state)
{
	const struct sink_fixture *f = *state;
	struct sink *s;

	assert_int_equal(mkdirat(f->directory, "20261201", 0750), 0);
	assert_int_equal(mkdirat(f->directory, "notes", 0750), 0);
	fixture_write(f, "20261201/110000-a-1-0.pb.gz", "12345", 5);
	fixture_write(f, "20261201/.110000-a-1-1.pb.gz.tmp", "12", 2);
	fixture_write(f, "20261201/mine.txt", "123", 3);
	fixture_write(f, "notes/110000-a-1-0.pb.gz", "12345", 5);
	assert_int_equal(symlinkat("/etc", f->directory, "20261130"), 0);
	s = open_sink(f, 10, 30 * DAY, NULL);
	assert_int_equal(sink_bytes(s), 5);
	assert_int_equal(sink_files(s), 1);
	assert_false(fixture_exists(f, "20261201/.110000-a-1-1.pb.gz.tmp"));
	assert_int_equal(write_one(s, NOON, "b", 8), 0);
	assert_false(fixture_exists(f, "20261201/110000-a-1-0.pb.gz"));
	assert_true(fixture_exists(f, "20261201/mine.txt"));
	assert_true(fixture_exists(f, "notes/110000-a-1-0.pb.gz"));
	assert_true(fixture_exists(f, "20261130"));
	sink_free(s);
}

/* A folder swapped for a link after it was counted: its files are forgotten, the link's target is left alone. */
static void folder_swapped_for_a_link_is_forgotten(void **state)
{
	const struct sink_fixture *f = *state;
	struct removed removed = { 0 };
	struct sink *s = open_sink(f, 100, 30 * DAY, &removed);

	assert_int_equal(write_one(s, NOON - DAY, "a", 60), 0);
	assert_int_equal(renameat(f->directory, "20261130", f->directory, "kept"), 0);
	assert_int_equal(symlinkat("kept", f->directory, "20261130"), 0);
	assert_int_equal(write_one(s, NOON, "b", 60), 0);
	assert_int_equal(removed.count, 0);
	assert_true(fixture_exists(f, "kept/120000-a-42-0.pb.gz"));
	assert_int_equal(sink_bytes(s), 60);
	sink_free(s);
}

static void unfinished_rename_is_settled(void **state)
{
	const struct sink_fixture *f = *state;
	const char *name = "20261201/110000-a-1-0.pb.gz";

	assert_int_equal(sink_settle(f->directory, name, 5), -ENOENT);
	assert_int_equal(mkdirat(f->directory, "20261201", 0750), 0);
	assert_int_equal(sink_settle(f->directory, name, 5), -ENOENT);
	fixture_write(f, "20261201/.110000-a-1-0.pb.gz.tmp", "123", 3);
	assert_int_equal(sink_settle(f->directory, name, 5), -ENOENT); /* cut */
	fixture_write(f, "20261201/.110000-a-1-0.pb.gz.tmp", "45", 2);
	assert_int_equal(sink_settle(f->directory, name, 5), 0);
	assert_true(fixture_exists(f, name));
	assert_int_equal(sink_settle(f->directory, name, 5), 0);
	assert_int_equal(sink_settle(f->directory, "../x/110000-a-1-0.pb.gz", 5), -EINVAL);
}

/* A file system of 256 KiB: full after some files, usable again when one is gone. */
static void full_disk_is_survived(void **state)
{
	const struct sink_fixture *outer = *state;
	struct sink_fixture f = *outer;
	struct sink *s;
	int error = 0;
	int written = 0;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", f.path, "tmpfs", 0, "size=262144") != 0)
		skip();
	f.directory = open(f.path, O_RDONLY | O_DIRECTORY);
	s = open_sink(&f, 1 << 20, 30 * DAY, NULL);
	while (written < 100 && !(error = write_one(s, NOON + (uint64_t)written, "x", 40000)))
		written++;
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(written, 6); /* 6 * 40000 = 240000; a 7th needs 10 pages of the 4 left */
	assert_int_equal(sink_bytes(s), 240000);
	assert_false(fixture_exists(&f, "20261201/.120006-x-42-0.pb.gz.tmp"));
	assert_int_equal(unlinkat(f.directory, "20261201/120000-x-42-0.pb.gz", 0), 0);
	assert_int_equal(write_one(s, NOON + 100, "y", 40000), 0);
	sink_free(s);
	close(f.directory);
	umount(f.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(file_appears_whole_under_its_name),
		FIXTURE_TEST(same_name_gets_the_next_number),
		FIXTURE_TEST(abandoned_file_leaves_nothing),
		FIXTURE_TEST(planted_links_are_not_followed),
		FIXTURE_TEST(final_name_is_never_replaced),
		FIXTURE_TEST(sink_directory_itself_is_no_link_and_not_for_everybody),
		FIXTURE_TEST(folder_of_somebody_else_is_refused),
		FIXTURE_TEST(oldest_goes_first_when_the_bytes_are_too_many),
		FIXTURE_TEST(old_files_go_by_age),
		FIXTURE_TEST(many_files_go_in_order),
		FIXTURE_TEST(what_is_there_counts_and_leftovers_go),
		FIXTURE_TEST(folder_swapped_for_a_link_is_forgotten),
		FIXTURE_TEST(unfinished_rename_is_settled),
		FIXTURE_TEST(full_disk_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
