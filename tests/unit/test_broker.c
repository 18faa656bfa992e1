/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker against real processes, their map_files, and a symbolizer that the test plays. What
 * needs root's rights over other processes is skipped without them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "collector/broker.h"
#include "collector/open_mapped.h"
#include "collector/procfs_read.h"
#include "ipc/file_channel.h"
#include "ipc/seqpacket.h"

struct fixture {
	char folder[64];
	char socket[96];
	int listener;
	int peer; /* the symbolizer's end of the connection, or -1 */
	struct broker *broker;
	pid_t child;
	uint64_t now_ms;
};

static struct fixture f;

static void new_broker(uint32_t queue, bool allow_remote)
{
	struct broker_options o = { .socket_path = f.socket,
				    .peer_uid = getuid(),
				    .stream_id = 77,
				    .kallsyms_fd = -1,
				    .files_known = 8,
				    .queue = queue,
				    .allow_remote_files = allow_remote };

	assert_int_equal(broker_new(&f.broker, &o), 0);
}

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	snprintf(f.folder, sizeof(f.folder), "/tmp/belfry-broker-XXXXXX");
	assert_non_null(mkdtemp(f.folder));
	snprintf(f.socket, sizeof(f.socket), "%s/files.sock", f.folder);
	f.listener = f.peer = -1;
	new_broker(4, false);
	return 0;
}

static void end_child(void)
{
	if (f.child > 0) {
		kill(f.child, SIGKILL);
		waitpid(f.child, NULL, 0);
	}
	f.child = 0;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	end_child();
	broker_free(f.broker);
	close(f.listener);
	close(f.peer);
	snprintf(command, sizeof(command), "rm -r %s", f.folder);
	return system(command);
}

/* A child that maps `fd` executable, one page, at the address that is returned. */
static uint64_t child_maps(int fd, int flags)
{
	int ready[2];
	void *at = NULL;

	assert_int_equal(pipe(ready), 0);
	f.child = fork();
	if (f.child == 0) {
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);
		if (write(ready[1], &at, sizeof(at)) == sizeof(at))
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &at, sizeof(at)), sizeof(at));
	close(ready[0]);
	close(ready[1]);
	assert_ptr_not_equal(at, MAP_FAILED);
	return (uint64_t)(uintptr_t)at;
}

/* A regular file of one page in the test's folder. */
static int page_file(const char *name, char path[128])
{
	char page[4096] = "page";
	int fd;

	snprintf(path, 128, "%s/%s", f.folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	return fd;
}

static struct mapped_file numbers_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (struct mapped_file){ .device_major = major(st.st_dev),
				     .device_minor = minor(st.st_dev),
				     .inode = st.st_ino };
}

static uint64_t ask(uint64_t at, const struct mapped_file *m, enum broker_retry *retry)
{
	return broker_file(f.broker, f.child, at, at + 4096, m, retry);
}

/* -- the symbolizer --------------------------------------------------------------------------- */
static bool run(void)
{
	f.now_ms += 10000; /* every pause is over */
	return broker_run(f.broker, f.now_ms);
}

static void say(const struct file_message *m)
{
	uint8_t data[FILE_MESSAGE_MAX];

	assert_int_equal(seqpacket_send(f.peer, data, file_message_encode(m, data), -1), 0);
}

/* Takes one message; returns its type, 0 when there is none, -1 when the connection is closed. */
static int hear(struct file_message *m, int *fd)
{
	uint8_t data[FILE_MESSAGE_MAX];
	ssize_t n = seqpacket_receive(f.peer, data, sizeof(data), fd);

	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return -1;
	assert_null(file_message_decode(file_rules_to_symbolizer, file_rules_to_symbolizer_count,
					data[0] == FILE_HELLO ? FILE_PHASE_NEW : FILE_PHASE_OPEN,
					data, (uint32_t)n, *fd >= 0, m));
	return (int)m->type;
}

static void connect_symbolizer(void)
{
	struct file_message m;
	int fd;

	if (f.listener < 0)
		f.listener = seqpacket_listen(f.socket);
	assert_true(f.listener >= 0);
	run();
	f.peer = accept4(f.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(f.peer >= 0);
	assert_int_equal(hear(&m, &fd), FILE_HELLO);
	assert_int_equal(m.stream_id, 77);
	m = (struct file_message){ .type = FILE_HELLO };
	say(&m);
	assert_true(broker_run(f.broker, f.now_ms));
}

static void hear_file(uint64_t id, const char *content)
{
	struct file_message m;
	char text[16];
	int fd = -1;

	assert_int_equal(hear(&m, &fd), FILE_OPENED);
	assert_int_equal(m.file_id, id);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(pread(fd, text, strlen(content), 0), (ssize_t)strlen(content));
	assert_memory_equal(text, content, strlen(content));
	close(fd);
}

static void done(uint64_t id, uint32_t result)
{
	struct file_message m = { .type = FILE_DONE, .file_id = id, .result = result };

	say(&m);
	broker_run(f.broker, f.now_ms);
}

/* -- opening ----------------------------------------------------------------------------------- */
static void a_childs_own_binary_is_passed_on(void **state)
{
	struct proc_lines *lines = malloc(sizeof(*lines));
	uint64_t here = (uint64_t)(uintptr_t)&a_childs_own_binary_is_passed_on;
	struct proc_mapping m = { 0 };
	struct mapped_file file;
	enum broker_retry retry;
	const uint8_t *line;
	uint32_t len;
	uint64_t id;

	(void)state;
	f.child = fork();
	if (f.child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(proc_lines_open(lines, f.child, "maps", 1 << 20), 0);
	while (proc_lines_next(lines, &line, &len) == 1) {
		if (!proc_mapping_decode(line, len, &m) && m.start <= here && here < m.end)
			break;
	}
	proc_lines_close(lines);
	free(lines);
	file = (struct mapped_file){ m.device_major, m.device_minor, m.inode, 0 };
	id = broker_file(f.broker, f.child, m.start, m.end, &file, &retry);
	assert_int_equal(id, FILE_ID_FIRST);
	connect_symbolizer();
	hear_file(id, "\177ELF");
	done(id, FILE_ACCEPTED);
	assert_int_equal(broker_counters(f.broker)->sent, 1);
	assert_int_equal(broker_counters(f.broker)->peer_refused, 0);
}

static void deleted_and_unnamed_files_are_opened_all_the_same(void **state)
{
	enum broker_retry retry;
	struct mapped_file m;
	uint64_t at, first;
	char path[128];
	int fd;

	(void)state;
	fd = page_file("gone", path);
	at = child_maps(fd, MAP_PRIVATE);
	m = numbers_of(fd);
	unlink(path);
	close(fd);
	first = ask(at, &m, &retry);
	assert_int_equal(first, FILE_ID_FIRST);
	end_child();

	fd = memfd_create("code", MFD_CLOEXEC);
	assert_int_equal(write(fd, "memory", 6), 6);
	assert_int_equal(ftruncate(fd, 4096), 0);
	at = child_maps(fd, MAP_SHARED);
	m = numbers_of(fd);
	close(fd);
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST + 1);
	connect_symbolizer();
	hear_file(FILE_ID_FIRST, "page");
	hear_file(FILE_ID_FIRST + 1, "memory");
	assert_int_equal(broker_counters(f.broker)->refused, 0);
}

static void a_device_is_refused_once(void **state)
{
	int fd = open("/dev/zero", O_RDWR);
	char story[OPEN_STORY_MAX];
	enum broker_retry retry;
	struct mapped_range range;
	struct file_identity id;
	struct mapped_file m;
	uint64_t at;

	(void)state;
	at = child_maps(fd, MAP_PRIVATE);
	m = numbers_of(fd);
	close(fd);
	/* At the first look: a device must not be opened, since its driver may act on that. */
	range = (struct mapped_range){ f.child, at, at + 4096 };
	assert_int_equal(mapped_look(&range, &m, &fd, &id, story), OPEN_NOT_REGULAR);
	assert_non_null(strstr(story, "not a regular file"));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(at, &m, &retry), FILE_ID_NONE);
		assert_int_equal(retry, BROKER_FINAL);
	}
	assert_int_equal(broker_counters(f.broker)->refused, 1);
}

static void another_inode_than_told_is_refused(void **state)
{
	enum broker_retry retry;
	struct mapped_file m;
	char path[128];
	uint64_t at;
	int fd;

	(void)state;
	fd = page_file("file", path);
	at = child_maps(fd, MAP_PRIVATE);
	m = numbers_of(fd);
	close(fd);
	m.inode++;
	assert_int_equal(ask(at, &m, &retry), FILE_ID_NONE);
	assert_int_equal(retry, BROKER_OTHER_RANGE);
	/* The same with another device as well, on a file system that is no overlay. */
	m.device_minor++;
	assert_int_equal(ask(at, &m, &retry), FILE_ID_NONE);
	assert_int_equal(broker_counters(f.broker)->refused, 2);
	/* btrfs: only the device differs. */
	m.inode--;
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST);
	/* A file that is known by now is no more what it was not before. */
	m.inode++;
	assert_int_equal(ask(at, &m, &retry), FILE_ID_NONE);
	assert_int_equal(retry, BROKER_OTHER_RANGE);
}

static void a_known_file_answers_for_a_process_that_is_gone(void **state)
{
	enum broker_retry retry;
	struct mapped_file m, other;
	char path[128];
	uint64_t at;
	int fd;

	(void)state;
	fd = page_file("file", path);
	at = child_maps(fd, MAP_PRIVATE);
	m = other = numbers_of(fd);
	close(fd);
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST);
	end_child();
	f.child = 2000000000; /* above any pid */
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST);
	other.inode += 1000;
	assert_int_equal(ask(at, &other, &retry), FILE_ID_NONE);
	assert_int_equal(retry, BROKER_OTHER_RANGE);
	assert_int_equal(broker_counters(f.broker)->failed, 1);
	f.child = 0;
}

static void a_changed_file_is_another_file(void **state)
{
	enum broker_retry retry;
	struct mapped_file m;
	char path[128];
	uint64_t at;
	int fd;

	(void)state;
	fd = page_file("file", path);
	at = child_maps(fd, MAP_PRIVATE);
	m = numbers_of(fd);
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST);
	assert_int_equal(pwrite(fd, "more", 4, 4096), 4);     /* size and change time */
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST); /* trusted for a second */
	m.generation = 5; /* a used-again inode number is looked at, though */
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST + 1);
	close(fd);
}

static void a_full_queue_defers(void **state)
{
	enum broker_retry retry;
	char path[128], name[16];
	struct mapped_file m;
	uint64_t at;
	int fd;

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		fd = page_file(name, path);
		at = child_maps(fd, MAP_PRIVATE);
		m = numbers_of(fd);
		close(fd);
		assert_int_equal(ask(at, &m, &retry), i < 4 ? FILE_ID_FIRST + i : FILE_ID_NONE);
		assert_int_equal(retry, i < 4 ? BROKER_FINAL : BROKER_LATER);
		if (i < 4)
			end_child();
	}
	assert_int_equal(broker_counters(f.broker)->deferred, 1);
	connect_symbolizer();
	assert_int_equal(ask(at, &m, &retry), FILE_ID_FIRST + 4);
}

/* -- the channel ------------------------------------------------------------------------------- */
static uint64_t known_file(void)
{
	enum broker_retry retry;
	struct mapped_file m;
	char path[128];
	uint64_t at, id;
	int fd = page_file("file", path);

	at = child_maps(fd, MAP_PRIVATE);
	m = numbers_of(fd);
	close(fd);
	id = ask(at, &m, &retry);
	assert_int_equal(id, FILE_ID_FIRST);
	return id;
}

static void a_wanted_file_is_sent_again_while_someone_maps_it(void **state)
{
	struct file_message want = { .type = FILE_WANT };
	int fd = -1;

	(void)state;
	want.file_id = known_file();
	connect_symbolizer();
	hear_file(want.file_id, "page");
	say(&want); /* still on its way */
	broker_run(f.broker, f.now_ms);
	assert_int_equal(broker_counters(f.broker)->wants_ignored, 1);
	done(want.file_id, FILE_NO_ROOM);
	say(&want);
	broker_run(f.broker, f.now_ms);
	hear_file(want.file_id, "page");
	done(want.file_id, FILE_ACCEPTED);
	say(&want); /* too soon */
	want.file_id = 4711;
	say(&want); /* unknown */
	broker_run(f.broker, f.now_ms);
	assert_int_equal(broker_counters(f.broker)->wants_ignored, 3);
	assert_int_equal(hear(&want, &fd), 0);
	assert_int_equal(broker_counters(f.broker)->peer_refused, 0);
	done(FILE_ID_FIRST, FILE_ACCEPTED); /* a second time */
	assert_int_equal(broker_counters(f.broker)->peer_refused, 1);
}

static void done_for_a_file_that_was_not_sent_closes_the_connection(void **state)
{
	struct file_message m;
	int fd;

	(void)state;
	connect_symbolizer();
	done(4711, FILE_ACCEPTED);
	assert_int_equal(hear(&m, &fd), -1);
	assert_int_equal(broker_counters(f.broker)->peer_refused, 1);
	assert_int_equal(broker_poll(f.broker).fd, -1);
	assert_true(broker_timeout(f.broker, f.now_ms) >= 200);
}

static void what_is_missing_is_named(void **state)
{
	struct mapped_range range = { 2000000000, 0x55d000, 0x55e000 };
	struct mapped_file m = { 8, 1, 5, 0 };
	char story[OPEN_STORY_MAX];
	struct file_identity id;
	int path_fd;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(mapped_look(&range, &m, &path_fd, &id, story), OPEN_GONE);
	assert_string_equal(story,
			    "map_files 2000000000/55d000-55e000: process or mapping is gone");
	pid = fork();
	if (pid == 0) {
		range.pid = getppid();
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(mapped_look(&range, &m, &path_fd, &id, story) == OPEN_DENIED &&
				      strstr(story, "permission denied (needs CAP_")
			      ? 0
			      : 2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void packets_that_break_a_rule_close_the_connection(void **state)
{
	struct file_message hello = { .type = FILE_HELLO };
	uint8_t data[FILE_MESSAGE_MAX + 1] = { 0 };
	uint32_t len = file_message_encode(&hello, data);

	(void)state;
	connect_symbolizer();
	assert_int_equal(seqpacket_send(f.peer, data, len, -1), 0); /* a second HELLO */
	run();
	assert_int_equal(broker_counters(f.broker)->peer_refused, 1);
	close(f.peer);
	connect_symbolizer();
	assert_int_equal(seqpacket_send(f.peer, data, sizeof(data), -1), 0); /* too long */
	run();
	assert_int_equal(broker_counters(f.broker)->peer_refused, 2);
	close(f.peer);
	connect_symbolizer();
	assert_int_equal(seqpacket_send(f.peer, data, len, 0), 0); /* with a descriptor */
	run();
	assert_int_equal(broker_counters(f.broker)->peer_refused, 3);
}

static void a_listener_of_another_user_gets_nothing(void **state)
{
	struct broker_options o = { .socket_path = f.socket,
				    .peer_uid = getuid() + 1,
				    .kallsyms_fd = -1,
				    .files_known = 8,
				    .queue = 4 };
	struct broker *b;

	(void)state;
	f.listener = seqpacket_listen(f.socket);
	assert_int_equal(broker_new(&b, &o), 0);
	assert_false(broker_run(b, 1000));
	assert_int_equal(broker_counters(b)->peer_refused, 1);
	assert_int_equal(broker_poll(b).fd, -1);
	broker_free(b);
}

static void a_new_symbolizer_gets_files_again_at_next_sight(void **state)
{
	enum broker_retry retry;
	struct file_message m;
	struct mapped_file file;
	char path[128];
	uint64_t at, id;
	int fd = page_file("file", path);

	(void)state;
	at = child_maps(fd, MAP_PRIVATE);
	file = numbers_of(fd);
	close(fd);
	id = ask(at, &file, &retry);
	connect_symbolizer();
	hear_file(id, "page");
	close(f.peer); /* dies with the file */
	broker_run(f.broker, f.now_ms);
	connect_symbolizer();
	assert_int_equal(hear(&m, &fd), 0);
	assert_int_equal(ask(at, &file, &retry), id); /* the same number */
	broker_run(f.broker, f.now_ms);
	hear_file(id, "page");
	assert_int_equal(broker_counters(f.broker)->connections, 2);
}

static void no_more_files_are_on_their_way_than_allowed(void **state)
{
	struct broker_options o = { .socket_path = f.socket,
				    .peer_uid = getuid(),
				    .stream_id = 77,
				    .kallsyms_fd = -1,
				    .files_known = 100,
				    .queue = 100 };
	char path[128], name[16];
	enum broker_retry retry;
	struct file_message m;
	struct mapped_file file;
	uint64_t at;
	int fd;

	(void)state;
	broker_free(f.broker);
	assert_int_equal(broker_new(&f.broker, &o), 0);
	for (int i = 0; i < FILES_IN_FLIGHT_MAX + 2; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		fd = page_file(name, path);
		at = child_maps(fd, MAP_PRIVATE);
		file = numbers_of(fd);
		close(fd);
		assert_true(ask(at, &file, &retry));
		end_child();
	}
	connect_symbolizer();
	/* The socket's own queue is shorter than that: keep on. */
	for (int i = 0; i < FILES_IN_FLIGHT_MAX; i++) {
		hear_file((uint64_t)(FILE_ID_FIRST + i), "page");
		broker_run(f.broker, f.now_ms);
	}
	assert_int_equal(hear(&m, &fd), 0);
	assert_int_equal(broker_counters(f.broker)->sent, FILES_IN_FLIGHT_MAX);
	done(FILE_ID_FIRST, FILE_ACCEPTED);
	hear_file(FILE_ID_FIRST + FILES_IN_FLIGHT_MAX, "page");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_childs_own_binary_is_passed_on),
		TEST(deleted_and_unnamed_files_are_opened_all_the_same),
		TEST(a_device_is_refused_once),
		TEST(another_inode_than_told_is_refused),
		TEST(a_known_file_answers_for_a_process_that_is_gone),
		TEST(a_changed_file_is_another_file),
		TEST(a_full_queue_defers),
		TEST(a_wanted_file_is_sent_again_while_someone_maps_it),
		TEST(done_for_a_file_that_was_not_sent_closes_the_connection),
		TEST(what_is_missing_is_named),
		TEST(packets_that_break_a_rule_close_the_connection),
		TEST(a_listener_of_another_user_gets_nothing),
		TEST(a_new_symbolizer_gets_files_again_at_next_sight),
		TEST(no_more_files_are_on_their_way_than_allowed),
	};

	if (geteuid() != 0) {
		printf("map_files of other processes needs root: skipped\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
