/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/audit_compare.h"
#include "cli/audit_sockets.h"
#include "tests/unit/cmocka_all.h"

#define BIT(n) (1ull << (n))

static const struct policy_limit limits[] = { { "CORE", 0, "" }, { "NOFILE", 100, "" } };
static const struct policy_descriptor descriptors[] = {
	{ "standard:*", 3, "" },
	{ "memfd:belfry-report", 1, "" },
	{ "pipe", 2, "" },
	{ "file-write:@directory/*", 1, "" },
	{ "file-read:/proc/*", UINT32_MAX, "" },
};

static const struct policy policy = {
	.role = "collector",
	.user = "no-such-user-here",
	.group = "no-such-group-here",
	.capabilities = { BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE),
			  BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) },
	.capabilities_optional = BIT(CAP_PERFMON),
	.capabilities_old_kernel = BIT(CAP_BPF),
	.landlock = true,
	.limits = limits,
	.limit_count = 2,
	.descriptors = descriptors,
	.descriptor_count = 5,
};

/* A process that is as the policy says: two threads, six descriptors, its report. */
struct example {
	struct policy policy;
	struct audit_host host;
	struct audit_process process;
	struct audit_thread threads[2];
	struct audit_descriptor fds[8];
};

static struct example *example_new(void)
{
	static const char command[] =
		"belfry-collector\0--run-dir\0/run/x\0--directory=/srv/profiles\0--user\0"
		"61301\0--group\0"
		"61302\0";
	static const char *const kinds[] = {
		"device:/dev/null",    "file-write:/var/log/x",		  "pipe", "pipe",
		"memfd:belfry-report", "file-write:/srv/profiles/journal"
	};
	struct example *e = calloc(1, sizeof(*e));
	struct audit_process *a = &e->process;

	assert_non_null(e);
	e->policy = policy;
	e->host = (struct audit_host){ .old_kernel = false, .landlock_abi = 4 };
	*a = (struct audit_process){ .pid = 10,
				     .role = "collector",
				     .process = "main",
				     .threads = e->threads,
				     .thread_count = 2 };
	memcpy(a->command, command, sizeof(command));
	for (int t = 0; t < 2; t++) {
		struct thread_status *s = &e->threads[t].status;

		e->threads[t].tid = 10 + t;
		for (int i = 0; i < 4; i++) {
			s->uid[i] = 61301;
			s->gid[i] = 61302;
		}
		s->inner_pid = 10;
		s->permitted = s->effective = BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE);
		s->no_new_privileges = 1;
		s->seccomp = 2;
	}
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++)
		a->limits[i] = strcmp(limit_names[i].name, "CORE") == 0 ? 0 : 100;
	a->descriptors.list = e->fds;
	a->descriptors.count = 6;
	for (int i = 0; i < 6; i++) {
		e->fds[i].fd = i;
		strcpy(e->fds[i].kind, kinds[i]);
	}
	a->descriptors.has_report = true;
	a->descriptors.report = (struct report){
		.pid = 10, .landlock_abi = 4, .role = "collector", .process = "main"
	};
	return e;
}

/* Frees the example after it was compared. `expected` is all that was printed. */
static void assert_compared(struct example *e, const char *expected)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	uint32_t lines = 0;
	uint32_t mismatches;

	assert_non_null(out);
	mismatches = audit_compare(&e->policy, &e->process, &e->host, out);
	fclose(out);
	assert_string_equal(text, expected);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(mismatches, lines);
	free(text);
	free(e);
}

static void a_process_as_the_policy_says_has_no_mismatch(void **state)
{
	(void)state;
	assert_compared(example_new(), "");
}

static void one_thread_that_kept_a_right_is_found(void **state)
{
	struct example *e = example_new();

	(void)state;
	e->threads[1].status.permitted |= BIT(CAP_BPF);
	assert_compared(
		e,
		"MISMATCH collector main 10/11: permitted capabilities: has BPF, policy has not\n");
	e = example_new();
	e->threads[1].status.effective &= ~BIT(CAP_SYS_PTRACE);
	assert_compared(e, "MISMATCH collector main 10/11: effective capabilities: lacks "
			   "SYS_PTRACE and has not said so\n");
	e = example_new();
	e->threads[1].status.no_new_privileges = 0;
	assert_compared(e, "MISMATCH collector main 10/11: no_new_privs is not set\n");
	e = example_new();
	e->threads[1].status.seccomp = 0;
	assert_compared(e,
			"MISMATCH collector main 10/11: seccomp mode 0, policy has 2 (filter)\n");
}

static void each_set_is_compared(void **state)
{
	struct example *e = example_new();

	(void)state;
	e->threads[0].status.ambient = BIT(CAP_PERFMON);
	assert_compared(
		e, "MISMATCH collector main 10: ambient capabilities PERFMON, policy has none\n");
	e = example_new();
	e->threads[0].status.inheritable = BIT(CAP_PERFMON);
	assert_compared(
		e,
		"MISMATCH collector main 10: inheritable capabilities PERFMON, policy has none\n");
	/* A unit leaves the load phase's in the bounding set; nothing else may be in it. */
	e = example_new();
	e->threads[0].status.bounding = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE);
	assert_compared(e, "");
	e = example_new();
	e->threads[0].status.bounding = BIT(CAP_BPF) | BIT(CAP_KILL);
	assert_compared(
		e, "MISMATCH collector main 10: bounding capabilities KILL, policy has none\n");
}

static void identity_is_compared_in_all_four_forms(void **state)
{
	struct example *e = example_new();

	(void)state;
	e->threads[0].status.uid[2] = 0; /* saved: one setuid() away from root */
	assert_compared(e, "MISMATCH collector main 10: runs as root\n");
	e = example_new();
	e->threads[0].status.uid[3] = 1;
	assert_compared(e, "MISMATCH collector main 10: uid 1, policy has 61301\n");
	e = example_new();
	e->threads[0].status.gid[0] = 1;
	assert_compared(e, "MISMATCH collector main 10: gid 1, policy has 61302\n");
	/* Its own group may be listed once more, as initgroups() does; no other. */
	e = example_new();
	e->threads[0].status.groups[0] = 61302;
	e->threads[0].status.group_count = 1;
	assert_compared(e, "");
	e = example_new();
	e->threads[0].status.groups[0] = 4;
	e->threads[0].status.group_count = 1;
	assert_compared(e, "MISMATCH collector main 10: supplementary group, policy has none\n");
}

static void an_optional_right_may_be_missing_when_the_role_says_so(void **state)
{
	struct example *e = example_new();

	(void)state;
	for (int t = 0; t < 2; t++)
		e->threads[t].status.permitted = e->threads[t].status.effective =
			BIT(CAP_SYS_PTRACE);
	e->process.descriptors.report.given_up = BIT(CAP_PERFMON);
	assert_compared(e, "");
	e = example_new();
	e->process.descriptors.report.given_up = BIT(CAP_PERFMON);
	assert_compared(
		e,
		"MISMATCH collector main 10: effective capabilities: has PERFMON, policy has not\n"
		"MISMATCH collector main 10: permitted capabilities: has PERFMON, policy has not\n"
		"MISMATCH collector main 10/11: effective capabilities: has PERFMON, policy has "
		"not\n"
		"MISMATCH collector main 10/11: permitted capabilities: has PERFMON, policy has "
		"not\n");
	e = example_new();
	e->process.descriptors.report.given_up = BIT(CAP_SYS_PTRACE);
	assert_compared(e,
			"MISMATCH collector main 10: gave up SYS_PTRACE, which is not optional\n");
}

static void bpf_stays_on_an_old_kernel_only(void **state)
{
	struct example *e = example_new();

	(void)state;
	for (int t = 0; t < 2; t++)
		e->threads[t].status.permitted = e->threads[t].status.effective |= BIT(CAP_BPF);
	e->process.descriptors.report.old_kernel = true;
	e->host.old_kernel = true;
	assert_compared(e, "");
	e = example_new();
	e->process.descriptors.report.old_kernel = true;
	assert_compared(e, "MISMATCH collector main 10: acts as on a kernel before 5.19, which "
			   "this one is not\n");
}

static void a_report_must_be_the_processs_own(void **state)
{
	struct example *e = example_new();

	(void)state;
	e->process.descriptors.has_report = false;
	assert_compared(
		e, "MISMATCH collector main 10: no report: it has not finished confining itself\n");
	e = example_new();
	e->process.descriptors.report_problem = "report is not sealed";
	assert_compared(e, "MISMATCH collector main 10: report is not sealed\n");
	e = example_new();
	e->process.descriptors.report.pid = 9;
	assert_compared(e, "MISMATCH collector main 10: report is that of collector main 9\n");
	/* A worker carries the zygote's. */
	e = example_new();
	e->process.process = "worker";
	strcpy(e->process.descriptors.report.process, "zygote");
	e->process.descriptors.report.pid = 9;
	assert_compared(e, "");
	e = example_new();
	e->process.descriptors.report.landlock_abi = 0;
	assert_compared(e, "MISMATCH collector main 10: no Landlock, the kernel has ABI 4\n");
	e = example_new();
	e->process.descriptors.report.landlock_abi = 0;
	e->host.landlock_abi = 0;
	assert_compared(e, "");
}

static void limits_and_dumpability_are_compared(void **state)
{
	struct example *e = example_new();

	(void)state;
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++)
		if (strcmp(limit_names[i].name, "NOFILE") == 0)
			e->process.limits[i] = 101;
	assert_compared(e, "MISMATCH collector main 10: limit NOFILE is 101, policy has 100\n");
	e = example_new();
	e->process.dumpable = true;
	assert_compared(e,
			"MISMATCH collector main 10: may be dumped and traced by its own user\n");
}

static void descriptors_are_compared_by_kind_and_number(void **state)
{
	struct example *e = example_new();

	(void)state;
	strcpy(e->fds[3].kind, "socket:tcp");
	assert_compared(
		e, "MISMATCH collector main 10: descriptor 3 is socket:tcp, policy has no such\n");
	/* fd 2 is a standard stream although it is a pipe: three more are one too many. */
	e = example_new();
	for (int i = 6; i < 8; i++) {
		e->fds[i].fd = i;
		strcpy(e->fds[i].kind, "pipe");
	}
	e->process.descriptors.count = 8;
	assert_compared(e,
			"MISMATCH collector main 10: 3 descriptors pipe, policy has 2 at most\n");
	/* The same file below another directory than the one of its command line. */
	e = example_new();
	strcpy(e->fds[5].kind, "file-write:/srv/other/journal");
	assert_compared(e, "MISMATCH collector main 10: descriptor 5 is "
			   "file-write:/srv/other/journal, policy has no such\n");
	e = example_new();
	e->fds[0].fd = 7; /* a device that is no standard stream */
	assert_compared(e, "MISMATCH collector main 10: descriptor 7 is device:/dev/null, policy "
			   "has no such\n");
}

static void one_changed_line_of_a_policy_is_a_mismatch(void **state)
{
	struct example *e = example_new();

	(void)state;
	e->policy.capabilities[POLICY_PHASE_STEADY] = BIT(CAP_SYS_PTRACE);
	e->process.thread_count = 1;
	assert_compared(
		e,
		"MISMATCH collector main 10: effective capabilities: has PERFMON, policy has not\n"
		"MISMATCH collector main 10: permitted capabilities: has PERFMON, policy has "
		"not\n");
	e = example_new();
	e->policy.descriptor_count = 4;
	strcpy(e->fds[3].kind, "file-read:/proc/kallsyms");
	assert_compared(e, "MISMATCH collector main 10: descriptor 3 is file-read:/proc/kallsyms, "
			   "policy has no such\n");
}

static void options_are_found_in_a_command_line(void **state)
{
	struct example *e = example_new();

	(void)state;
	assert_string_equal(audit_process_option(&e->process, "run-dir"), "/run/x");
	assert_string_equal(audit_process_option(&e->process, "directory"), "/srv/profiles");
	assert_null(audit_process_option(&e->process, "run"));
	assert_null(audit_process_option(&e->process, "direct"));
	/* The last word has no value: the empty one. */
	memcpy(e->process.command, "x\0--user\0\0", 10);
	assert_string_equal(audit_process_option(&e->process, "user"), "");
	free(e);
}

static void unix_sockets_are_told_apart(void **state)
{
	(void)state;
	assert_string_equal(audit_unix_kind(SOCK_STREAM, true), "socket:unix-stream-listen");
	assert_string_equal(audit_unix_kind(SOCK_SEQPACKET, false), "socket:unix-seqpacket");
	assert_string_equal(audit_unix_kind(SOCK_DGRAM, false), "socket:unix-dgram");
	assert_string_equal(audit_unix_kind(SOCK_RAW, false), "socket:unix-other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_as_the_policy_says_has_no_mismatch),
		cmocka_unit_test(one_thread_that_kept_a_right_is_found),
		cmocka_unit_test(each_set_is_compared),
		cmocka_unit_test(identity_is_compared_in_all_four_forms),
		cmocka_unit_test(an_optional_right_may_be_missing_when_the_role_says_so),
		cmocka_unit_test(bpf_stays_on_an_old_kernel_only),
		cmocka_unit_test(a_report_must_be_the_processs_own),
		cmocka_unit_test(limits_and_dumpability_are_compared),
		cmocka_unit_test(descriptors_are_compared_by_kind_and_number),
		cmocka_unit_test(one_changed_line_of_a_policy_is_a_mismatch),
		cmocka_unit_test(options_are_found_in_a_command_line),
		cmocka_unit_test(unix_sockets_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
