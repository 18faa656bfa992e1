// SPDX-License-Identifier: Apache-2.0
#include "cli/launcher.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/exit_code.h"
#include "cli/reader_seccomp.h"
#include "cli/record_preflight.h"
#include "cli/record_result.h"
#include "cli/recording.h"

#define READY_MS    60000 /* loading and verifying the BPF programs on a slow machine */
#define STARTED_MS  5000
#define PROBLEM_MAX 1024

/* What is found out before anything is started. */
struct plan {
	struct role_command collector;
	struct role_command symbolizer;
	struct role_command uploader;
	uint64_t cgroup_id;
};

static int __attribute__((format(printf, 2, 3))) refuse(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("belfry: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return code;
}

/* -- before anything runs -------------------------------------------------------------------------
 */

static int find_commands(struct plan *p)
{
	struct {
		struct role_command *command;
		const char *role;
	} roles[] = { { &p->collector, "collector" },
		      { &p->symbolizer, "symbolizer" },
		      { &p->uploader, "uploader" } };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!role_command_find(roles[i].command, roles[i].role))
			return refuse(EXIT_CODE_PREFLIGHT,
				      "belfry-%s is neither beside this program nor at %s: make "
				      "builds it, "
				      "make install installs it",
				      roles[i].role, roles[i].command->path);
	return EXIT_CODE_OK;
}

static int check_pids(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->pid_count; i++)
		if (kill(o->pids[i], 0))
			return refuse(EXIT_CODE_PREFLIGHT, "-p %d: %s", o->pids[i],
				      strerror(errno));
	return EXIT_CODE_OK;
}

static void say_users(const struct role_users *u)
{
	if (u->dynamic)
		fprintf(stderr,
			"belfry: the system users belfry-collector, belfry-symbolizer and "
			"belfry-uploader do not "
			"exist; using the free user ids %u, %u and %u\n",
			u->collector, u->symbolizer, u->uploader);
}

static int plan_recording(struct recording *r, struct plan *p)
{
	const struct record_options *o = r->options;
	const char *wrong = invoking_user_find(&r->user);
	char problem[PROBLEM_MAX];
	int code;

	if (wrong)
		return refuse(EXIT_CODE_PREFLIGHT, "%s", wrong);
	if (!preflight_check(problem, sizeof(problem)))
		return refuse(EXIT_CODE_PREFLIGHT, "%s", problem);
	if (o->cgroup && !preflight_cgroup_id(o->cgroup, &p->cgroup_id, problem, sizeof(problem)))
		return refuse(EXIT_CODE_PREFLIGHT, "%s", problem);
	code = check_pids(o);
	if (!code)
		code = find_commands(p);
	return code;
}

/* Everything that is made and must be removed again: recording_close() does, from here on. */
static int make_place(struct recording *r)
{
	char problem[PROBLEM_MAX];
	int error;

	if (!output_file_open(&r->output, r->options, &r->user, problem, sizeof(problem)))
		return refuse(EXIT_CODE_PREFLIGHT, "%s", problem);
	if (!role_users_find(&r->users, problem, sizeof(problem)) ||
	    !run_dir_make(&r->dir, &r->users, problem, sizeof(problem)))
		return refuse(EXIT_CODE_PREFLIGHT, "%s", problem);
	say_users(&r->users);
	error = run_dir_keep(&r->dir, &r->output);
	return error ? refuse(EXIT_CODE_PREFLIGHT, "cannot start a process: %s", strerror(-error))
		     : EXIT_CODE_OK;
}

/* -- starting -------------------------------------------------------------------------------------
 */

static int start_roles(struct recording *r, struct plan *p)
{
	const struct record_options *o = r->options;
	const struct role_users *u = &r->users;
	struct person symbolizer = { .uid = u->symbolizer, .gid = u->ipc };
	struct person uploader = { .uid = u->uploader, .gid = u->ipc };
	int error;

	role_command_collector(&p->collector, o, u, r->dir.ipc, COLLECTOR_CONTROL_FD);
	role_command_symbolizer(&p->symbolizer, o, u, r->dir.ipc);
	role_command_uploader(&p->uploader, o, u, r->dir.ipc, r->dir.profiles,
			      r->dir.profile_bytes);
	error = supervisor_start(&r->symbolizer, &(struct supervisor_options){
							 .role = "symbolizer",
							 .command = &p->symbolizer,
							 .who = &symbolizer,
							 .folder = r->dir.ipc_fd,
						 });
	if (!error)
		error = supervisor_start(&r->uploader, &(struct supervisor_options){
							       .role = "uploader",
							       .command = &p->uploader,
							       .who = &uploader,
							       .folder = r->dir.profiles_fd,
							       .quiet_exit = true,
						       });
	if (!error)
		error = collector_child_start(&r->collector, &p->collector);
	return error ? refuse(EXIT_CODE_PREFLIGHT, "cannot start the roles: %s", strerror(-error))
		     : EXIT_CODE_OK;
}

static bool is_ready(const struct recording *r)
{
	return r->collector.ready || r->interrupts || recording_role_failed(r);
}

static int role_did_not_start(const struct supervisor *s)
{
	bool never_ran = s->gave_up && !s->deaths; /* its program is missing, or not for its user */

	return refuse(never_ran ? EXIT_CODE_PREFLIGHT : EXIT_CODE_ROLE, "the %s could not start",
		      s->role);
}

/* Whoever failed has said why on standard error; the exit code tells whether the host or the
 * program is to blame. */
static int startup_failure(const struct recording *r)
{
	const struct collector_child *c = &r->collector;

	if (r->interrupts)
		return refuse(EXIT_CODE_ABORTED, "interrupted before the recording began");
	if (c->exited && WIFEXITED(c->status) && WEXITSTATUS(c->status) <= EXIT_CODE_PREFLIGHT)
		return EXIT_CODE_PREFLIGHT; /* it refused, and has said why */
	if (c->exited && WIFSIGNALED(c->status))
		return refuse(EXIT_CODE_ROLE,
			      "the collector was killed by signal %d (%s) while it started",
			      WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	if (c->exited)
		return refuse(EXIT_CODE_ROLE, "the collector could not start (exit code %d)",
			      WEXITSTATUS(c->status));
	if (r->symbolizer.gave_up || r->symbolizer.gone)
		return role_did_not_start(&r->symbolizer);
	if (r->uploader.gave_up || r->uploader.gone)
		return role_did_not_start(&r->uploader);
	if (c->broken)
		return refuse(EXIT_CODE_ROLE, "the collector broke the control channel's rules: %s",
			      c->broken);
	return refuse(EXIT_CODE_ROLE, "the collector was not ready after %d s", READY_MS / 1000);
}

static int wait_ready(struct recording *r)
{
	progress_say(&r->progress, "starting");
	recording_wait(r, is_ready, READY_MS);
	progress_clear(&r->progress);
	if (!r->collector.ready || r->interrupts || recording_role_failed(r))
		return startup_failure(r);
	role_users_settled(&r->users);
	return EXIT_CODE_OK;
}

static int start_command(struct recording *r)
{
	int error;

	if (!r->options->command)
		return EXIT_CODE_OK;
	error = command_child_start(&r->command, r->options->command, &r->user);
	return error ? refuse(EXIT_CODE_PREFLIGHT, "cannot start a process for %s: %s",
			      r->options->command[0], strerror(-error))
		     : EXIT_CODE_OK;
}

static void send_filters(struct recording *r, const struct plan *p)
{
	const struct record_options *o = r->options;
	struct collector_child *c = &r->collector;

	for (uint32_t i = 0; i < o->pid_count; i++)
		collector_child_filter(c, FILTER_PROCESS, (uint64_t)o->pids[i], false);
	if (o->cgroup)
		collector_child_filter(c, FILTER_CGROUP, p->cgroup_id, false);
	if (o->by_uid)
		collector_child_filter(c, FILTER_UID, o->uid, false);
	if (record_options_command_only(o))
		collector_child_filter(c, FILTER_PROCESS, (uint64_t)r->command.pid, true);
}

static bool has_started(const struct recording *r)
{
	return r->collector.has_counters || recording_role_failed(r);
}

/* Commands are handled in order: an answer to the second means that the first is done. */
static int start_sampling(struct recording *r)
{
	collector_child_send(&r->collector, CONTROL_START);
	collector_child_send(&r->collector, CONTROL_GET_COUNTERS);
	recording_wait(r, has_started, STARTED_MS);
	if (!r->collector.has_counters)
		return startup_failure(r);
	r->started_ms = recording_now_ms();
	return EXIT_CODE_OK;
}

/*
 * The invoking user with one group, that of the profiles; for root itself the uploader's user,
 * since what reads the profiles must not be root.
 */
static int drop(const struct recording *r)
{
	struct person self = { .uid = r->users.uploader, .gid = r->users.reader };
	int error;

	if (r->user.person.uid) {
		self.uid = r->user.person.uid;
		self.gid = r->user.person.gid;
		self.groups[0] = r->users.reader;
		self.group_count = 1;
	}
	error = privileges_drop(&self);
	if (!error)
		error = reader_seccomp();
	return error ? refuse(EXIT_CODE_PREFLIGHT, "cannot give up root's rights: %s",
			      strerror(-error))
		     : EXIT_CODE_OK;
}

static int start(struct recording *r, struct plan *p)
{
	int code = make_place(r);

	if (!code)
		code = start_roles(r, p);
	if (!code)
		code = wait_ready(r);
	if (!code)
		code = start_command(r);
	if (!code)
		send_filters(r, p);
	if (!code)
		code = start_sampling(r);
	if (!code)
		code = drop(r);
	return code;
}

/* -- the end --------------------------------------------------------------------------------------
 */

static int role_failure(const struct recording *r)
{
	const struct collector_child *c = &r->collector;

	if (c->broken)
		return refuse(EXIT_CODE_ROLE, "the collector: %s", c->broken);
	if (!c->stopped)
		return refuse(EXIT_CODE_ROLE, "the collector ended before its last counters: the "
					      "account is not complete");
	if (r->symbolizer.gave_up || r->symbolizer.gone)
		return refuse(EXIT_CODE_ROLE,
			      "the symbolizer died again and again and was given up");
	if (r->uploader.gave_up || r->uploader.gone)
		return refuse(EXIT_CODE_ROLE, "the uploader died again and again and was given up");
	return EXIT_CODE_OK;
}

static int record(struct recording *r)
{
	int failed;
	int code;

	command_child_release(&r->command);
	recording_run(r);
	progress_clear(&r->progress);
	recording_stop(r);
	if (r->interrupts > 1)
		return refuse(EXIT_CODE_ABORTED, "aborted: nothing was written");
	if (r->command.exec_error)
		return refuse(EXIT_CODE_PREFLIGHT, "cannot run %s: %s", r->options->command[0],
			      strerror(r->command.exec_error));
	failed = role_failure(r);
	code = record_result(r);
	return failed ? failed : code;
}

/* A file that was created for nothing is removed: by this process, or by the keeper where the
 * folder is root's. */
static void discard_output(struct recording *r)
{
	if (output_file_discard(&r->output))
		run_dir_discard_output(&r->dir);
}

static bool left_nothing(int code)
{
	return code == EXIT_CODE_PREFLIGHT || code == EXIT_CODE_ABORTED;
}

static void recording_init(struct recording *r, const struct record_options *o)
{
	r->options = o;
	r->output.fd = r->output.folder = -1;
	r->users.lock = -1;
	r->dir.keeper_pipe = r->dir.ipc_fd = r->dir.profiles_fd = -1;
	r->symbolizer.channel = r->uploader.channel = -1;
	r->symbolizer.role = "symbolizer";
	r->uploader.role = "uploader";
	r->collector.pid = r->collector.pidfd = r->collector.control = -1;
	r->command.channel = -1;
	r->signal_fd = -1;
	r->progress = progress_open();
}

int launcher_record(const struct record_options *o)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct plan *p = calloc(1, sizeof(*p));
	bool recorded = false;
	int code;

	if (!r || !p) {
		free(r);
		free(p);
		return refuse(EXIT_CODE_PREFLIGHT, "no memory");
	}
	recording_init(r, o);
	code = plan_recording(r, p);
	if (!code && recording_signals(r))
		code = refuse(EXIT_CODE_PREFLIGHT, "cannot wait for signals");
	if (!code) {
		code = start(r, p);
		recorded = !code;
		if (recorded)
			code = record(r);
		if (!recorded || left_nothing(code))
			discard_output(r);
		recording_close(r);
	}
	free(p);
	free(r);
	return code;
}
