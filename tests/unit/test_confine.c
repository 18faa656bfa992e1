/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each test forks a child that confines itself as a role does, and sees what the kernel says of it,
 * or what becomes of a call that it should not make. As root only; what is expected stands here by
 * hand, not taken from the policies.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <errno.h>

#include "policy/confine.h"
#include "policy/selftest.h"
#include "policy/thread_status.h"
#include "tests/unit/cmocka_all.h"

#define BIT(n)	 (1ull << (n))
#define ROLE_UID 61309
#define ROLE_GID 61310

#ifdef __SANITIZE_ADDRESS__
#define CAN_FILTER 0 /* a sanitizer makes calls of its own */
#else
#define CAN_FILTER 1
#endif

static const struct identity who = { .uid = ROLE_UID, .gid = ROLE_GID };

/* What a child finds out, in memory that it shares with the test. */
struct findings {
	int result;
	struct thread_status status;
};

static struct findings *shared(void)
{
	struct findings *f =
		mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(f != MAP_FAILED);
	memset(f, 0, sizeof(*f));
	return f;
}

/* Runs `child` in a process of its own. Returns its wait status. */
static int in_child(void (*child)(struct findings *, const void *), struct findings *f,
		    const void *argument)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		int nowhere = open("/dev/null", O_WRONLY);

		setrlimit(RLIMIT_CORE, &none); /* dying is what many of them are for */
		dup2(nowhere, STDERR_FILENO);
		child(f, argument);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int skip_unless_root(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	return 0;
}

/* -- steps and what the kernel says afterwards --------------------------------------------- */

static void read_own(struct findings *f)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", gettid());
	if (thread_status_read(path, &f->status) != 0)
		f->result = -1;
}

static void confine_to_steady(struct findings *f, const void *policy)
{
	const struct policy *p = policy;

	f->result = confine_limits(p);
	if (!f->result)
		f->result = confine_become(p, &who);
	if (!f->result)
		f->result = confine_no_new_privileges();
	if (!f->result)
		f->result = confine_drop_capabilities(p, 0, false);
	read_own(f);
}

static void assert_steady(const struct policy *p, uint64_t capabilities)
{
	struct findings *f = shared();

	assert_int_equal(in_child(confine_to_steady, f, p), 0);
	assert_int_equal(f->result, 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(f->status.uid[i], ROLE_UID);
		assert_int_equal(f->status.gid[i], ROLE_GID);
	}
	assert_int_equal(f->status.group_count, 0);
	assert_int_equal(f->status.permitted, capabilities);
	assert_int_equal(f->status.effective, capabilities);
	assert_int_equal(f->status.inheritable, 0);
	assert_int_equal(f->status.ambient, 0);
	assert_int_equal(f->status.bounding, 0);
	assert_int_equal(f->status.no_new_privileges, 1);
	munmap(f, sizeof(*f));
}

static void a_role_started_as_root_ends_with_its_steady_rights(void **state)
{
	(void)state;
	assert_steady(&policy_collector, BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) |
						 BIT(CAP_DAC_READ_SEARCH) |
						 BIT(CAP_CHECKPOINT_RESTORE));
	assert_steady(&policy_symbolizer, 0);
	assert_steady(&policy_uploader, 0);
}

static void confine_to_load(struct findings *f, const void *policy)
{
	f->result = confine_become(policy, &who);
	read_own(f);
	f->result = f->result ? f->result : prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	if (!f->result && setresuid(0, 0, 0) == 0)
		f->result = 1;
}

static void the_load_phase_holds_what_the_policy_says_and_never_uid_0(void **state)
{
	struct findings *f = shared();

	(void)state;
	assert_int_equal(in_child(confine_to_load, f, &policy_collector), 0);
	assert_int_equal(f->result, 0);
	/* SYS_ADMIN for Debian's perf_event_paranoid=3, when started as root. */
	assert_int_equal(f->status.permitted,
			 BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYSLOG) | BIT(CAP_SYS_PTRACE) |
				 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) |
				 BIT(CAP_SYS_ADMIN));
	assert_int_equal(f->status.bounding, 0);
	munmap(f, sizeof(*f));
}

static void become_root(struct findings *f, const void *policy)
{
	struct identity root = { 0, 0 };

	f->result = confine_become(policy, &root);
}

static void become_unprivileged(struct findings *f, const void *policy)
{
	if (setresgid(ROLE_GID, ROLE_GID, ROLE_GID) || setresuid(ROLE_UID, ROLE_UID, ROLE_UID))
		_exit(9);
	f->result = confine_become(policy, &who);
}

static void become_another(struct findings *f, const void *policy)
{
	if (setresgid(ROLE_GID, ROLE_GID, ROLE_GID) ||
	    setresuid(ROLE_UID + 1, ROLE_UID + 1, ROLE_UID + 1))
		_exit(9);
	f->result = confine_become(policy, &who);
}

static void drop_what_is_not_optional(struct findings *f, const void *policy)
{
	f->result = confine_become(policy, &who);
	if (!f->result)
		f->result = confine_drop_capabilities(policy, BIT(CAP_SYS_PTRACE), false);
}

static void a_role_refuses_to_go_on_with_less_than_it_needs_or_as_another(void **state)
{
	struct findings *f = shared();

	(void)state;
	assert_int_equal(in_child(become_root, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, -EPERM);
	assert_int_equal(in_child(become_unprivileged, f, &policy_collector), 0);
	assert_int_equal(f->result, -EPERM);
	/* The other two need nothing. */
	assert_int_equal(in_child(become_unprivileged, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, 0);
	assert_int_equal(in_child(become_another, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, -EPERM);
	assert_int_equal(in_child(drop_what_is_not_optional, f, &policy_collector), 0);
	assert_int_equal(f->result, -EINVAL);
	munmap(f, sizeof(*f));
}

static void give_up_hotplug(struct findings *f, const void *policy)
{
	f->result = confine_become(policy, &who);
	if (!f->result)
		f->result = confine_drop_capabilities(policy, BIT(CAP_PERFMON), false);
	read_own(f);
}

static void keep_for_old_kernel(struct findings *f, const void *policy)
{
	f->result = confine_become(policy, &who);
	if (!f->result)
		f->result = confine_drop_capabilities(policy, 0, true);
	read_own(f);
}

static void what_is_given_up_goes_and_an_old_kernel_keeps_bpf(void **state)
{
	struct findings *f = shared();
	const uint64_t files =
		BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE);

	(void)state;
	assert_int_equal(in_child(give_up_hotplug, f, &policy_collector), 0);
	assert_int_equal(f->result, 0);
	assert_int_equal(f->status.permitted, files);
	assert_int_equal(in_child(keep_for_old_kernel, f, &policy_collector), 0);
	assert_int_equal(f->result, 0);
	assert_int_equal(f->status.permitted, files | BIT(CAP_PERFMON) | BIT(CAP_BPF));
	munmap(f, sizeof(*f));
}

static void *wait_for_ever(void *argument)
{
	(void)argument;
	pause();
	return NULL;
}

static void confine_with_a_second_thread(struct findings *f, const void *policy)
{
	pthread_t second;

	if (pthread_create(&second, NULL, wait_for_ever, NULL) != 0)
		_exit(9);
	f->result = confine_become(policy, &who) == -EBUSY &&
		    confine_no_new_privileges() == -EBUSY &&
		    confine_landlock(policy, NULL, 0) == -EBUSY &&
		    confine_drop_capabilities(policy, 0, false) == -EBUSY;
}

static void rights_of_one_thread_are_not_given_up_while_there_is_another(void **state)
{
	struct findings *f = shared();

	(void)state;
	assert_int_equal(in_child(confine_with_a_second_thread, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, 1);
	munmap(f, sizeof(*f));
}

static void limit_files(struct findings *f, const void *policy)
{
	struct rlimit low = { 64, 64 };
	struct rlimit core, files;

	setrlimit(RLIMIT_NOFILE, &low);
	f->result = confine_limits(policy);
	getrlimit(RLIMIT_CORE, &core);
	getrlimit(RLIMIT_NOFILE, &files);
	/* Raised where there is CAP_SYS_RESOURCE, else left where it was. */
	if (core.rlim_max != 0 || files.rlim_cur != files.rlim_max)
		f->result = 1;
}

static void a_limit_that_cannot_be_raised_is_no_error(void **state)
{
	struct findings *f = shared();

	(void)state;
	assert_int_equal(in_child(limit_files, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, 0);
	munmap(f, sizeof(*f));
}

/* -- Landlock ------------------------------------------------------------------------------ */

static void landlock_folder(struct findings *f, const void *policy)
{
	struct landlock_path path = { .fd = open("/tmp", O_PATH | O_DIRECTORY), .write = true };
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/tmp/belfry-confine.%d", getpid());
	f->result = confine_no_new_privileges();
	if (!f->result && confine_landlock(policy, &path, 1) != landlock_abi())
		f->result = 1;
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0 || unlink(name) != 0)
		f->result = 2;
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		f->result = 3;
	if (symlink("x", name) == 0) /* not a link: what is written are files and folders */
		f->result = 4;
	/* Nothing in /proc can be opened any more: later steps read back by system calls. */
	if (!f->result)
		f->result = confine_drop_capabilities(policy, 0, false);
}

static void landlock_nothing(struct findings *f, const void *policy)
{
	f->result = confine_no_new_privileges();
	if (!f->result && confine_landlock(policy, NULL, 0) != landlock_abi())
		f->result = 1;
	if (open("/", O_RDONLY | O_DIRECTORY) >= 0 || open("/proc/self/status", O_RDONLY) >= 0)
		f->result = 2;
}

static void landlock_leaves_the_given_path_only(void **state)
{
	struct findings *f = shared();

	(void)state;
	if (landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(landlock_folder, f, &policy_uploader), 0);
	assert_int_equal(f->result, 0);
	assert_int_equal(in_child(landlock_nothing, f, &policy_symbolizer), 0);
	assert_int_equal(f->result, 0);
	munmap(f, sizeof(*f));
}

/* -- seccomp ------------------------------------------------------------------------------- */

struct attempt {
	const struct policy *policy;
	const char *process;
	const char *call;
};

static void make_call(struct findings *f, const void *argument)
{
	const struct attempt *a = argument;

	if (confine_no_new_privileges() != 0 || confine_seccomp(a->policy, a->process) != 0)
		_exit(9);
	f->result = selftest_syscall(a->call);
}

#define KILLED (-2)
#define ANY    (-3) /* goes through the filter; the kernel's own answer is not the filter's business \
		     */

/* Every call that does not stand here is one that kills. */
static const struct exception {
	const char *role;
	const char *process;
	const char *call;
	int answer;
} exceptions[] = {
	{ "collector", "main", "openat_read", ANY },
	{ "collector", "main", "perf_event_open", ANY },
	{ "symbolizer", "main", "openat_read", ENOENT },
	{ "symbolizer", "main", "openat_write", ENOENT },
	{ "symbolizer", "main", "openat_create", ENOENT },
	{ "symbolizer", "main", "readlinkat", ENOENT },
	{ "symbolizer", "zygote", "openat_read", ENOENT },
	{ "symbolizer", "zygote", "openat_write", ENOENT },
	{ "symbolizer", "zygote", "openat_create", ENOENT },
	{ "symbolizer", "zygote", "readlinkat", ENOENT },
	{ "symbolizer", "worker", "openat_read", ENOENT },
	{ "symbolizer", "worker", "openat_write", ENOENT },
	{ "symbolizer", "worker", "openat_create", ENOENT },
	{ "symbolizer", "worker", "readlinkat", ENOENT },
	/* The uploader writes files: Landlock, not seccomp, says where. */
	{ "uploader", "main", "openat_read", ANY },
	{ "uploader", "main", "openat_write", ANY },
	{ "uploader", "main", "openat_create", ANY },
	{ "uploader", "main", "readlinkat", ENOENT },
};

static int answer_expected(const struct attempt *a)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (strcmp(exceptions[i].role, a->policy->role) == 0 &&
		    strcmp(exceptions[i].process, a->process) == 0 &&
		    strcmp(exceptions[i].call, a->call) == 0)
			return exceptions[i].answer;
	return KILLED;
}

static void assert_answer(const struct attempt *a)
{
	struct findings *f = shared();
	int expected = answer_expected(a);
	int status = in_child(make_call, f, a);
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;

	/* A kernel without 32-bit calls faults at the instruction. */
	killed |=
		strcmp(a->call, "int80") == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
	if (expected == KILLED && !killed)
		fail_msg("%s %s: %s: not killed, status 0x%x, errno %d", a->policy->role,
			 a->process, a->call, status, f->result);
	if (expected != KILLED && status != 0)
		fail_msg("%s %s: %s: status 0x%x", a->policy->role, a->process, a->call, status);
	if (expected >= 0 && f->result != expected)
		fail_msg("%s %s: %s: errno %d, expected %d", a->policy->role, a->process, a->call,
			 f->result, expected);
	unlink("/tmp/belfry-selftest"); /* openat_create, where only Landlock would refuse it */
	munmap(f, sizeof(*f));
}

static void each_process_dies_of_each_call_it_may_not_make(void **state)
{
	static const struct attempt processes[] = {
		{ &policy_collector, "main", NULL },	{ &policy_symbolizer, "main", NULL },
		{ &policy_symbolizer, "zygote", NULL }, { &policy_symbolizer, "worker", NULL },
		{ &policy_uploader, "main", NULL },
	};

	(void)state;
	if (!CAN_FILTER)
		skip();
	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		for (unsigned int n = 0; selftest_name(n); n++) {
			struct attempt a = processes[i];

			a.call = selftest_name(n);
			assert_answer(&a);
		}
	}
}

static void filter_and_fork(struct findings *f, const void *argument)
{
	pid_t pid;
	int status;

	(void)argument;
	if (confine_no_new_privileges() != 0 || confine_seccomp(&policy_symbolizer, "zygote") != 0)
		_exit(9);
	pid = fork();
	if (pid == 0) {
		f->result = confine_seccomp(&policy_symbolizer, "worker") == 0;
		fork(); /* a worker may not */
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		_exit(8);
}

static void a_worker_takes_its_filter_inside_the_zygotes_and_may_not_fork(void **state)
{
	struct findings *f = shared();

	(void)state;
	if (!CAN_FILTER)
		skip();
	assert_int_equal(in_child(filter_and_fork, f, NULL), 0);
	assert_int_equal(f->result, 1);
	munmap(f, sizeof(*f));
}

static void filter_too_early(struct findings *f, const void *argument)
{
	(void)argument;
	f->result = confine_seccomp(&policy_symbolizer, "main");
}

static void filter_unknown(struct findings *f, const void *argument)
{
	(void)argument;
	confine_no_new_privileges();
	f->result = confine_seccomp(&policy_uploader, "zygote");
}

static void a_filter_needs_no_new_privs_and_a_process_that_the_policy_knows(void **state)
{
	struct findings *f = shared();

	(void)state;
	assert_int_equal(in_child(filter_too_early, f, NULL), 0);
	assert_int_equal(f->result, -EPERM);
	assert_int_equal(in_child(filter_unknown, f, NULL), 0);
	assert_int_equal(f->result, -ENOENT);
	munmap(f, sizeof(*f));
}

/* -- identity ------------------------------------------------------------------------------ */

static void names_and_numbers_are_resolved_and_root_is_refused(void **state)
{
	struct identity id;

	(void)state;
	assert_int_equal(identity_resolve(&policy_uploader, "61301", "61302", &id), 0);
	assert_int_equal(id.uid, 61301);
	assert_int_equal(id.gid, 61302);
	assert_int_equal(identity_resolve(&policy_uploader, "daemon", "daemon", &id), 0);
	assert_int_not_equal(id.uid, 0);
	assert_int_equal(identity_resolve(&policy_uploader, "no-such-user", "1", &id), -ENOENT);
	assert_int_equal(identity_resolve(&policy_uploader, "1", "no-such-group", &id), -ENOENT);
	assert_int_equal(identity_resolve(&policy_uploader, "root", "1", &id), -EPERM);
	assert_int_equal(identity_resolve(&policy_uploader, "0", "1", &id), -EPERM);
	/* 2^32 - 1 means "unchanged" to setresuid(). */
	assert_int_equal(identity_resolve(&policy_uploader, "4294967295", "1", &id), -ENOENT);
	assert_int_equal(identity_resolve(&policy_uploader, "1x", "1", &id), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_role_started_as_root_ends_with_its_steady_rights,
				       skip_unless_root),
		cmocka_unit_test_setup(the_load_phase_holds_what_the_policy_says_and_never_uid_0,
				       skip_unless_root),
		cmocka_unit_test_setup(
			a_role_refuses_to_go_on_with_less_than_it_needs_or_as_another,
			skip_unless_root),
		cmocka_unit_test_setup(what_is_given_up_goes_and_an_old_kernel_keeps_bpf,
				       skip_unless_root),
		cmocka_unit_test(rights_of_one_thread_are_not_given_up_while_there_is_another),
		cmocka_unit_test(a_limit_that_cannot_be_raised_is_no_error),
		cmocka_unit_test(landlock_leaves_the_given_path_only),
		cmocka_unit_test(each_process_dies_of_each_call_it_may_not_make),
		cmocka_unit_test(a_worker_takes_its_filter_inside_the_zygotes_and_may_not_fork),
		cmocka_unit_test(a_filter_needs_no_new_privs_and_a_process_that_the_policy_knows),
		cmocka_unit_test(names_and_numbers_are_resolved_and_root_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
