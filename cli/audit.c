/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/audit_compare.h"
#include "cli/audit_print.h"
#include "cli/audit_process.h"
#include "policy/confine.h"

#define PIDS_MAX 256
#define NEEDS	 " (needs root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH)"
#define AGAIN_NS                                                                                   \
	100000000 /* 100 ms: longer than a role takes to confine itself, or a worker lives */

enum { AUDIT_EQUAL = 0, AUDIT_MISMATCH = 1, AUDIT_CANNOT_LOOK = 2 };

struct audit {
	const char *run_dir; /* only roles that were started with it; NULL = all */
	pid_t pids[PIDS_MAX];
	uint32_t pid_count;
	bool chosen; /* --pid: the caller said which */
	struct audit_host host;
	char kernel[sizeof(((struct utsname *)0)->release)];
	uint32_t seen;
	uint32_t mismatches;
	uint32_t failures;
	uint32_t hidden;    /* processes with a role's name whose program this user may not see */
	uid_t role_uids[3]; /* of the main processes, (uid_t)-1 = not seen */
};

static const struct policy *const policies[3] = { &policy_collector, &policy_symbolizer,
						  &policy_uploader };

/* audit_process_read() takes no other role than these. */
static int role_index(const char *role)
{
	int i = 0;

	while (i < 2 && strcmp(policies[i]->role, role) != 0)
		i++;
	return i;
}

static void print_usage(FILE *out)
{
	fputs("usage: belfry audit [--run-dir DIR] [--pid PID]...\n"
	      "Reads the running roles back from /proc and compares each thread with the policy.\n"
	      "  --run-dir DIR  only the roles that were started with this run directory\n"
	      "  --pid PID      only this process (repeatable)\n"
	      "Exit code: 0 equal, 1 at least one MISMATCH, 2 could not look.\n",
	      out);
}

static bool add_pid(struct audit *a, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*end != '\0' || pid < 1 || pid > INT32_MAX || a->pid_count == PIDS_MAX)
		return false;
	a->pids[a->pid_count++] = (pid_t)pid;
	a->chosen = true;
	return true;
}

/* Returns -1 to go on, or the exit code. */
static int parse(struct audit *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "run-dir", required_argument, NULL, 'r' },
		{ "pid", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":r:p:h", options, NULL)) != -1) {
		if (option == 'h') {
			print_usage(stdout);
			return AUDIT_EQUAL;
		}
		if (option == 'r') {
			a->run_dir = optarg;
		} else if (option != 'p' || !add_pid(a, optarg)) {
			if (option != 'p')
				fprintf(stderr, "belfry audit: %s: %s\n", argv[optind - 1],
					option == ':' ? "a value is missing" : "no such option");
			else
				fprintf(stderr, "belfry audit: --pid %s: expected a process id\n",
					optarg);
			print_usage(stderr);
			return AUDIT_CANNOT_LOOK;
		}
	}
	if (optind == argc)
		return -1;
	print_usage(stderr);
	return AUDIT_CANNOT_LOOK;
}

static void look_at_host(struct audit *a)
{
	struct utsname u;
	unsigned long major, minor;
	char *end;

	uname(&u);
	memcpy(a->kernel, u.release, sizeof(a->kernel));
	major = strtoul(u.release, &end, 10);
	if (*end == '.') {
		minor = strtoul(end + 1, NULL, 10);
		a->host.old_kernel = major < 5 || (major == 5 && minor < 19);
	}
	a->host.landlock_abi = landlock_abi();
}

/* By its name only, which anybody may choose: good enough to say why nothing is shown. */
static bool looks_like_role(pid_t pid)
{
	char path[64];
	char name[32] = "";
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = fopen(path, "re");
	if (!comm)
		return false;
	if (!fgets(name, sizeof(name), comm))
		name[0] = '\0';
	fclose(comm);
	return strncmp(name, "belfry-", strlen("belfry-")) == 0;
}

/* Every process whose program is a role's. */
static int find_roles(struct audit *a)
{
	char program[PATH_MAX];
	struct dirent *entry;
	DIR *processes = opendir("/proc");

	if (!processes) {
		fprintf(stderr, "belfry audit: /proc: %s\n", strerror(errno));
		return -errno;
	}
	while ((entry = readdir(processes)) && a->pid_count < PIDS_MAX) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10); /* 0 where it is no number */

		if (pid <= 0)
			continue;
		errno = 0;
		if (audit_process_role(pid, program))
			a->pids[a->pid_count++] = pid;
		else if (errno == EACCES && looks_like_role(pid))
			a->hidden++;
	}
	closedir(processes);
	return 0;
}

static bool is_meant(const struct audit *a, const struct audit_process *process)
{
	const char *run_dir = audit_process_option(process, "run-dir");

	return !a->run_dir || (run_dir && strcmp(run_dir, a->run_dir) == 0);
}

/* Two roles with one uid could signal and trace each other. */
static void check_distinct(struct audit *a, int role, const struct audit_process *process)
{
	uid_t uid = process->threads[0].status.uid[0];

	if (strcmp(process->process, "main") != 0)
		return;
	for (int i = 0; i < 3; i++) {
		if (i == role || a->role_uids[i] != uid)
			continue;
		printf("MISMATCH %s and %s share uid %u\n", policies[i]->role, process->role, uid);
		a->mismatches++;
	}
	a->role_uids[role] = uid;
}

static uint32_t compare_to(const struct audit *a, const struct audit_process *process, FILE *out)
{
	return audit_compare(policies[role_index(process->role)], process, &a->host, out);
}

/*
 * Reads a process, and once more a little later when it differs: a role that has just started is
 * not confined yet, a worker that was just forked neither, and what does not last is no finding.
 */
static int read_settled(const struct audit *a, pid_t pid, struct audit_process *out)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };
	FILE *nowhere;
	uint32_t differences;
	int error = audit_process_read(pid, out);

	if (error)
		return error;
	nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		return 0;
	differences = compare_to(a, out, nowhere);
	fclose(nowhere);
	if (!differences)
		return 0;
	nanosleep(&pause, NULL);
	audit_process_free(out);
	return audit_process_read(pid, out);
}

static void audit_one(struct audit *a, pid_t pid)
{
	struct audit_process process = { 0 };
	uint32_t mismatches;
	int error = read_settled(a, pid, &process);

	if (error == -ESRCH && !a->chosen)
		return; /* ended meanwhile */
	if (error) {
		fprintf(stderr, "belfry audit: process %d: %s%s\n", pid,
			error == -ESRCH ? "no running role" : strerror(-error),
			error == -EACCES || error == -EPERM ? NEEDS : "");
		a->failures++;
		return;
	}
	if (is_meant(a, &process)) {
		a->seen++;
		audit_print(policies[role_index(process.role)], &process, &a->host, a->kernel);
		check_distinct(a, role_index(process.role), &process);
		mismatches = compare_to(a, &process, stdout);
		if (!mismatches)
			printf("  equal to policy/%s.policy\n", process.role);
		a->mismatches += mismatches;
	}
	audit_process_free(&process);
}

static int conclude(const struct audit *a)
{
	if (a->hidden)
		fprintf(stderr,
			"belfry audit: %u process%s named belfry-...: permission denied" NEEDS "\n",
			a->hidden, a->hidden == 1 ? "" : "es");
	if (!a->seen && a->hidden)
		return AUDIT_CANNOT_LOOK;
	if (!a->seen) {
		fprintf(stderr, "belfry audit: no role is running%s%s\n",
			a->run_dir ? " with run directory " : "", a->run_dir ? a->run_dir : "");
		return AUDIT_CANNOT_LOOK;
	}
	for (int i = 0; i < 3 && !a->chosen; i++)
		if (a->role_uids[i] == (uid_t)-1)
			printf("not running: belfry-%s\n", policies[i]->role);
	printf("%u process%s, %u mismatch%s\n", a->seen, a->seen == 1 ? "" : "es", a->mismatches,
	       a->mismatches == 1 ? "" : "es");
	if (a->mismatches)
		return AUDIT_MISMATCH;
	return a->failures || a->hidden ? AUDIT_CANNOT_LOOK : AUDIT_EQUAL;
}

int audit_main(int argc, char **argv)
{
	struct audit a = { .role_uids = { (uid_t)-1, (uid_t)-1, (uid_t)-1 } };
	int code = parse(&a, argc, argv);

	if (code >= 0)
		return code;
	look_at_host(&a);
	if (!a.chosen && find_roles(&a) != 0)
		return AUDIT_CANNOT_LOOK;
	for (uint32_t i = 0; i < a.pid_count; i++)
		audit_one(&a, a.pids[i]);
	return conclude(&a);
}
