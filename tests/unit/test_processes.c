/* SPDX-License-Identifier: Apache-2.0 */
/* Events and samples in, records out. Broker and stream are stubs: the linker takes these before
 * the archive's. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "collector/processes.h"
#include "collector/procfs_read.h"

#define TICK_NS 10000000ull

/* -- what the stream was told: one line a record ------------------------------------------- */
static char told[64][96];
static unsigned int told_count;

static void tell(const char *line)
{
	assert_true(told_count < 64);
	snprintf(told[told_count++], sizeof(told[0]), "%s", line);
}

void stream_add_process(struct stream *s, const struct process_record *p)
{
	char line[96];

	(void)s;
	snprintf(line, sizeof(line), "%s %u parent %u at %llu %.16s",
		 p->reason == PROCESS_EXEC ? "exec" : "seen", p->tgid, p->parent_tgid,
		 (unsigned long long)p->time, p->comm);
	tell(line);
}

void stream_add_mapping(struct stream *s, const struct mapping_record *m)
{
	char line[96];

	(void)s;
	snprintf(line, sizeof(line), "map %u %llx-%llx+%llx file %llu kind %u at %llu %.*s",
		 m->tgid, (unsigned long long)m->start, (unsigned long long)m->end,
		 (unsigned long long)m->offset, (unsigned long long)m->file_id, m->kind,
		 (unsigned long long)m->time, m->path_len < 40 ? m->path_len : 40,
		 (const char *)m->path);
	tell(line);
}

void stream_add_exit(struct stream *s, const struct exit_record *e)
{
	char line[96];

	(void)s;
	snprintf(line, sizeof(line), "exit %u at %llu", e->tgid, (unsigned long long)e->time);
	tell(line);
}

/* -- the broker: file id = 1000 + inode, unless told otherwise ------------------------------ */
static enum broker_retry refuse_with;
static bool refuses;
static unsigned int asked;
static pid_t without_memory; /* a process whose links are not there */

uint64_t broker_file(struct broker *b, pid_t pid, uint64_t start, uint64_t end,
		     const struct mapped_file *f, enum broker_retry *retry)
{
	(void)b, (void)start, (void)end;
	asked++;
	if (pid == without_memory) {
		*retry = BROKER_OTHER_RANGE;
		return 0;
	}
	*retry = refuses ? refuse_with : BROKER_FINAL;
	return refuses ? 0 : 1000 + f->inode;
}

/* -- given ----------------------------------------------------------------------------------- */
#define GONE 2000000000u /* above any pid: /proc has no such process */

static struct processes *p;

static int set_up(void **state)
{
	struct processes_limits limits = { .processes = 4,
					   .mappings_per_process = 16384,
					   .exit_grace_ms = 1000 };

	(void)state;
	told_count = 0;
	asked = 0;
	refuses = false;
	without_memory = 0;
	return processes_new(&p, NULL, NULL, &limits);
}

static int tear_down(void **state)
{
	(void)state;
	processes_free(p);
	return 0;
}

static void fork_at(uint64_t time, uint32_t parent, uint32_t child)
{
	struct sideband_event e = { .type = SIDEBAND_FORK,
				    .time = time,
				    .tgid = child,
				    .tid = child,
				    .parent_tgid = parent };

	processes_event(p, &e);
}

static void exec_at(uint64_t time, uint32_t tgid, const char *comm)
{
	struct sideband_event e = {
		.type = SIDEBAND_EXEC, .time = time, .tgid = tgid, .tid = tgid
	};

	snprintf(e.comm, sizeof(e.comm), "%s", comm);
	processes_event(p, &e);
}

static void map_at(uint64_t time, uint32_t tgid, uint64_t start, uint64_t inode, const char *path)
{
	struct sideband_event e = { .type = SIDEBAND_MMAP,
				    .time = time,
				    .tgid = tgid,
				    .tid = tgid,
				    .start = start,
				    .length = 0x1000,
				    .inode = inode,
				    .protection = PROT_EXEC,
				    .path = (const uint8_t *)path,
				    .path_len = (uint32_t)strlen(path) };

	processes_event(p, &e);
}

static void exit_at(uint64_t time, uint32_t tgid, uint32_t tid)
{
	struct sideband_event e = { .type = SIDEBAND_EXIT, .time = time, .tgid = tgid, .tid = tid };

	processes_event(p, &e);
}

static void thread_sample_at(uint64_t time, uint32_t tgid, uint32_t tid, uint64_t start_time)
{
	struct sample_record s = { .time = time,
				   .tgid = tgid,
				   .tid = tid,
				   .start_time = start_time,
				   .process_comm = "comm" };

	processes_before_sample(p, &s);
}

static void sample_at(uint64_t time, uint32_t tgid, uint64_t start_time)
{
	thread_sample_at(time, tgid, tgid, start_time);
}

/* -- then ------------------------------------------------------------------------------------ */
static void expect(unsigned int count, ...)
{
	va_list lines;

	va_start(lines, count);
	for (unsigned int i = 0; i < count && i < told_count; i++)
		assert_string_equal(told[i], va_arg(lines, const char *));
	va_end(lines);
	assert_int_equal(told_count, count);
	told_count = 0;
}

static void a_process_that_is_gone_keeps_what_its_events_told(void **state)
{
	(void)state;
	fork_at(100, GONE - 1, GONE);
	exec_at(200, GONE, "true");
	map_at(210, GONE, 0x400000, 7, "/bin/true");
	map_at(220, GONE, 0x7000000, 0, "[vdso]");
	map_at(230, GONE, 0x8000000, 0, "//anon");
	exit_at(300, GONE, GONE);
	assert_int_equal(told_count, 0); /* nothing before a sample needs it */
	assert_int_equal(asked, 1);	 /* but its file was opened at once */
	sample_at(250, GONE, 5);
	expect(4, "seen 2000000000 parent 1999999999 at 200 comm",
	       "map 2000000000 400000-401000+0 file 1007 kind 1 at 210 /bin/true",
	       "map 2000000000 7000000-7001000+0 file 1 kind 3 at 220 [vdso]",
	       "map 2000000000 8000000-8001000+0 file 0 kind 2 at 230 //anon");
	sample_at(260, GONE, 5);
	expect(0);
}

static void a_sample_sees_its_process_as_it_was_then(void **state)
{
	(void)state;
	exec_at(10, GONE - 1, "sh");
	map_at(11, GONE - 1, 0x1000, 1, "/bin/sh");
	fork_at(100, GONE - 1, GONE);
	exec_at(200, GONE, "ls");
	map_at(201, GONE, 0x5000, 2, "/bin/ls");
	map_at(300, GONE, 0x9000, 3, "/lib/late");
	/* All of that is known before the first sample of the ring is looked at. */
	sample_at(150, GONE, 5);
	expect(2, "seen 2000000000 parent 1999999999 at 0 comm",
	       "map 2000000000 1000-2000+0 file 1001 kind 1 at 11 /bin/sh");
	sample_at(250, GONE, 5);
	expect(2, "exec 2000000000 parent 1999999999 at 200 ls",
	       "map 2000000000 5000-6000+0 file 1002 kind 1 at 201 /bin/ls");
	sample_at(350, GONE, 5);
	expect(1, "map 2000000000 9000-a000+0 file 1003 kind 1 at 300 /lib/late");
	sample_at(350, GONE - 1, 4);
	expect(2, "seen 1999999999 parent 0 at 10 comm",
	       "map 1999999999 1000-2000+0 file 1001 kind 1 at 11 /bin/sh");
}

static void events_out_of_order_between_drains_find_their_place(void **state)
{
	(void)state;
	exec_at(100, GONE, "a");
	map_at(130, GONE, 0x2000, 2, "/b");
	map_at(120, GONE, 0x2000, 1, "/a"); /* came late, was earlier: /b is newer */
	sample_at(200, GONE, 5);
	expect(2, "seen 2000000000 parent 0 at 100 comm",
	       "map 2000000000 2000-3000+0 file 1002 kind 1 at 130 /b");
}

static void exit_is_told_after_the_grace_period(void **state)
{
	(void)state;
	exec_at(1000, GONE, "a");
	sample_at(2000, GONE, 5);
	expect(1, "seen 2000000000 parent 0 at 1000 comm");
	exit_at(3000, GONE, GONE);
	processes_expire(p, 1000000000 + 2999);
	expect(0);
	processes_expire(p, 1000000000 +
				    3000); /* the event is applied (1 s) and its grace (1 s) over */
	expect(1, "exit 2000000000 at 3000");
	assert_int_equal(processes_counters(p)->known, 0);
}

static void threads_that_outlive_their_leader_keep_the_process(void **state)
{
	(void)state;
	exec_at(1000, GONE, "a");
	map_at(1001, GONE, 0x1000, 1, "/a");
	exit_at(2000, GONE, GONE);
	sample_at(5000, GONE, 5); /* another thread */
	expect(2, "seen 2000000000 parent 0 at 1000 comm",
	       "map 2000000000 1000-2000+0 file 1001 kind 1 at 1001 /a");
	processes_expire(p, 1000000000 + 4000);
	expect(0);
	/* The last thread's end is the process's, although it is not the leader. */
	exit_at(7000, GONE, GONE + 1);
	processes_expire(p, 1000000000 + 6999);
	expect(0);
	processes_expire(p, 1000000000 + 7000);
	expect(1, "exit 2000000000 at 7000");
}

/* The leader ended before its file could be opened: its memory is found under a living thread's number only. */
static void files_of_a_process_without_its_leader_are_opened_through_a_thread(void **state)
{
	(void)state;
	without_memory = (pid_t)GONE;
	exec_at(1000, GONE, "a");
	map_at(1001, GONE, 0x1000, 1, "/a");
	exit_at(1002, GONE, GONE);
	thread_sample_at(2000, GONE, GONE + 1, 5);
	expect(2, "seen 2000000000 parent 0 at 1000 comm",
	       "map 2000000000 1000-2000+0 file 1001 kind 1 at 1001 /a");
}

static void a_used_again_pid_is_another_process(void **state)
{
	(void)state;
	exec_at(100, GONE, "old");
	map_at(101, GONE, 0x1000, 1, "/old");
	sample_at(150, GONE, 5);
	told_count = 0;
	sample_at(900, GONE, 77); /* its fork was not seen */
	assert_int_equal(processes_counters(p)->reused, 1);
	expect(1, "seen 2000000000 parent 0 at 0 comm"); /* nothing of the old one's mappings */
	fork_at(1000, GONE - 1, GONE);
	exec_at(1001, GONE, "new");
	map_at(1002, GONE, 0x1000, 2, "/new");
	sample_at(1100, GONE, 99);
	expect(2, "seen 2000000000 parent 1999999999 at 1001 comm",
	       "map 2000000000 1000-2000+0 file 1002 kind 1 at 1002 /new");
	sample_at(160, GONE, 5); /* a late sample of the first one */
	expect(0);
}

static void a_new_symbolizer_is_told_everything_again(void **state)
{
	(void)state;
	exec_at(100, GONE, "a");
	map_at(101, GONE, 0x1000, 1, "/a");
	sample_at(150, GONE, 5);
	told_count = 0;
	processes_forget_announcements(p);
	asked = 0;
	sample_at(160, GONE, 5);
	assert_int_equal(asked, 1); /* so that the broker sends the file again */
	expect(2, "seen 2000000000 parent 0 at 100 comm",
	       "map 2000000000 1000-2000+0 file 1001 kind 1 at 101 /a");
}

static void a_refused_file_is_named_by_its_path_and_not_asked_for_again(void **state)
{
	(void)state;
	refuses = true;
	refuse_with = BROKER_FINAL;
	exec_at(100, GONE, "a");
	map_at(101, GONE, 0x1000, 1, "/mnt/fuse/a");
	sample_at(150, GONE, 5);
	expect(2, "seen 2000000000 parent 0 at 100 comm",
	       "map 2000000000 1000-2000+0 file 0 kind 5 at 101 /mnt/fuse/a");
	assert_int_equal(asked, 1);
}

static void a_deferred_file_is_asked_for_again_before_the_sample(void **state)
{
	(void)state;
	refuses = true;
	refuse_with = BROKER_LATER;
	exec_at(100, GONE, "a");
	map_at(101, GONE, 0x1000, 1, "/a");
	refuses = false; /* there is room now */
	sample_at(150, GONE, 5);
	expect(2, "seen 2000000000 parent 0 at 100 comm",
	       "map 2000000000 1000-2000+0 file 1001 kind 1 at 101 /a");
}

static void the_least_recently_sampled_leaves_a_full_table(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		sample_at(100 + i, GONE + i, 5);
	sample_at(110, GONE, 5);
	told_count = 0;
	sample_at(120, GONE + 9, 5);
	assert_int_equal(processes_counters(p)->evicted, 1);
	expect(2, "exit 2000000001 at 0", "seen 2000000009 parent 0 at 0 comm");
}

static void data_mappings_and_threads_are_nothing_to_us(void **state)
{
	struct sideband_event e = { .type = SIDEBAND_MMAP,
				    .time = 5,
				    .tgid = GONE,
				    .tid = GONE,
				    .start = 0x1000,
				    .length = 0x1000,
				    .inode = 4,
				    .protection = PROT_READ };

	(void)state;
	processes_event(p, &e);
	fork_at(6, GONE, GONE); /* a thread */
	processes_expire(p, 3000000000);
	assert_int_equal(asked, 0);
	assert_int_equal(processes_counters(p)->known, 0);
}

/* -- with real processes --------------------------------------------------------------------- */
static uint64_t start_of(pid_t pid)
{
	struct proc_stat s;

	assert_int_equal(proc_read_stat(pid, &s), 0);
	return s.start_ticks * TICK_NS + 1234;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The line told for the mapping that holds this test's code, or NULL. */
static const char *own_code_line(void)
{
	uint64_t here = (uint64_t)(uintptr_t)&own_code_line;
	unsigned long long from, to;

	for (unsigned int i = 0; i < told_count; i++) {
		if (sscanf(told[i], "map %*u %llx-%llx", &from, &to) == 2 && from <= here &&
		    here < to)
			return told[i];
	}
	return NULL;
}

static void one_that_was_there_before_is_read_from_proc(void **state)
{
	pid_t pid = sleeper();

	(void)state;
	sample_at(1000, (uint32_t)pid, start_of(pid));
	assert_non_null(own_code_line());
	assert_non_null(strstr(own_code_line(), "kind 1 at 0 "));
	assert_non_null(strstr(told[0], "seen"));
	assert_int_equal(processes_counters(p)->gone, 0);
	end(pid);
}

static void *leave_thread(void *tell)
{
	pid_t tid = gettid();

	if (write(*(int *)tell, &tid, sizeof(tid)) == sizeof(tid))
		pause();
	return NULL;
}

static void one_whose_leader_has_ended_is_read_through_a_thread(void **state)
{
	static int ready[2];
	pthread_t thread;
	pid_t pid, tid;
	struct proc_stat st;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, leave_thread, &ready[1]);
		pthread_exit(NULL);
	}
	assert_int_equal(read(ready[0], &tid, sizeof(tid)), sizeof(tid));
	usleep(50000); /* the leader ends */
	assert_int_equal(proc_read_stat(pid, &st), 0);
	thread_sample_at(1000, (uint32_t)pid, (uint32_t)tid, start_of(pid));
	assert_non_null(own_code_line());
	end(pid);
}

static void proc_of_another_start_time_is_not_believed(void **state)
{
	pid_t pid = sleeper();

	(void)state;
	sample_at(1000, (uint32_t)pid, start_of(pid) + TICK_NS);
	assert_null(own_code_line());
	assert_int_equal(told_count, 1);
	assert_int_equal(processes_counters(p)->gone, 1);
	end(pid);
}

static void a_child_of_an_unknown_parent_has_its_parents_mappings(void **state)
{
	(void)state;
	fork_at(100, (uint32_t)getpid(),
		GONE); /* we were there before, the child is gone already */
	sample_at(150, GONE, 5);
	assert_non_null(own_code_line());
	assert_int_equal(processes_counters(p)->gone, 1);
}

static void after_a_loss_mappings_are_read_again_and_only_news_is_told(void **state)
{
	pid_t pid = sleeper();
	unsigned int before;

	(void)state;
	sample_at(1000, (uint32_t)pid, start_of(pid));
	before = told_count;
	assert_true(before > 1);
	told_count = 0;
	processes_events_lost(p, 1);
	usleep(50000); /* a process is not read again before twenty times as long has passed as it
			  took */
	sample_at(2000, (uint32_t)pid, start_of(pid));
	expect(0);
	/* A mapping that is there no more must have been an exec that we missed. */
	map_at(3000, (uint32_t)pid, 0x1000, 5, "/was/here");
	sample_at(3000, (uint32_t)pid, start_of(pid));
	assert_int_equal(told_count, 1);
	told_count = 0;
	processes_events_lost(p, 1);
	usleep(50000);
	sample_at(4000, (uint32_t)pid, start_of(pid));
	assert_int_equal(told_count, before);
	assert_non_null(strstr(told[0], "exec"));
	end(pid);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_is_gone_keeps_what_its_events_told),
		TEST(a_sample_sees_its_process_as_it_was_then),
		TEST(events_out_of_order_between_drains_find_their_place),
		TEST(exit_is_told_after_the_grace_period),
		TEST(threads_that_outlive_their_leader_keep_the_process),
		TEST(files_of_a_process_without_its_leader_are_opened_through_a_thread),
		TEST(a_used_again_pid_is_another_process),
		TEST(a_new_symbolizer_is_told_everything_again),
		TEST(a_refused_file_is_named_by_its_path_and_not_asked_for_again),
		TEST(a_deferred_file_is_asked_for_again_before_the_sample),
		TEST(the_least_recently_sampled_leaves_a_full_table),
		TEST(data_mappings_and_threads_are_nothing_to_us),
		TEST(one_that_was_there_before_is_read_from_proc),
		TEST(one_whose_leader_has_ended_is_read_through_a_thread),
		TEST(proc_of_another_start_time_is_not_believed),
		TEST(a_child_of_an_unknown_parent_has_its_parents_mappings),
		TEST(after_a_loss_mappings_are_read_again_and_only_news_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
