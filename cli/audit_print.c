/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_print.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>

#include "cli/terminal_text.h"

static void print_identity(const struct thread_status *s)
{
	const struct passwd *account = getpwuid(s->uid[0]);

	printf("  %-14s%u%s%s%s, group %u, %u supplementary group%s\n", "user", s->uid[0],
	       account ? " (" : "", account ? account->pw_name : "", account ? ")" : "", s->gid[0],
	       s->group_count, s->group_count == 1 ? "" : "s");
}

static void print_set(const char *name, uint64_t set)
{
	char text[AUDIT_SET_MAX];

	printf("  %-14s%s\n", name, audit_set_text(set, text));
}

/* True when every thread has the rights of the first. */
static bool threads_alike(const struct audit_process *a)
{
	for (uint32_t i = 1; i < a->thread_count; i++)
		if (memcmp(&a->threads[0].status, &a->threads[i].status,
			   sizeof(a->threads[0].status)) != 0)
			return false;
	return true;
}

static void print_rights(const struct audit_thread *t)
{
	const struct thread_status *s = &t->status;

	print_identity(s);
	print_set("effective", s->effective);
	if (s->permitted != s->effective)
		print_set("permitted", s->permitted);
	print_set("bounding", s->bounding);
	print_set("ambient", s->ambient);
	if (s->inheritable)
		print_set("inheritable", s->inheritable);
	printf("  %-14s%s\n", "no_new_privs", s->no_new_privileges ? "yes" : "no");
	printf("  %-14s%s\n", "seccomp",
	       s->seccomp == 2	 ? "filter"
	       : s->seccomp == 1 ? "strict"
				 : "none");
}

static void print_landlock(const struct policy *p, const struct audit_process *a,
			   const struct audit_host *h)
{
	printf("  %-14s", "landlock");
	if (!p->landlock)
		printf("none, as in the policy\n");
	else if (!a->descriptors.has_report || a->descriptors.report_problem)
		printf("unknown\n");
	else if (a->descriptors.report.landlock_abi)
		printf("ABI %u (by its report)\n", a->descriptors.report.landlock_abi);
	else
		printf("none (kernel: ABI %d)\n", h->landlock_abi);
}

static void print_limits(const struct policy *p, const struct audit_process *a)
{
	printf("  %-14s", "limits");
	for (uint32_t i = 0; i < p->limit_count; i++) {
		for (size_t n = 0; n < LIMIT_NAME_COUNT; n++) {
			if (strcmp(limit_names[n].name, p->limits[i].name) != 0)
				continue;
			if (a->limits[n] == UINT64_MAX)
				printf("%s%s unlimited", i ? ", " : "", limit_names[n].name);
			else
				printf("%s%s %" PRIu64, i ? ", " : "", limit_names[n].name,
				       a->limits[n]);
		}
	}
	putchar('\n');
}

/* Each kind once, with its number; files by their access only, there may be hundreds. */
static size_t kind_length(const char *kind)
{
	if (strncmp(kind, "file-", 5) == 0)
		return strcspn(kind, ":");
	return strlen(kind);
}

static bool same_kind(const char *a, const char *b)
{
	size_t len = kind_length(a);

	return len == kind_length(b) && strncmp(a, b, len) == 0;
}

static void print_descriptors(const struct audit_descriptors *d)
{
	printf("  %-14s%u:", "descriptors", d->count);
	for (uint32_t i = 0; i < d->count; i++) {
		const char *kind = d->list[i].kind;
		uint32_t same = 0;
		bool first = true;

		for (uint32_t k = 0; k < d->count; k++) {
			if (!same_kind(kind, d->list[k].kind))
				continue;
			first = first && k >= i;
			same++;
		}
		if (!first)
			continue;
		printf("%s %u %.*s", i ? "," : "", same, (int)kind_length(kind), kind);
	}
	putchar('\n');
}

void audit_print(const struct policy *p, const struct audit_process *a, const struct audit_host *h,
		 const char *kernel)
{
	char shown[TERMINAL_TEXT_MAX(PATH_MAX) + 1];
	char text[AUDIT_SET_MAX];

	shown[terminal_text_escape(a->program, (uint32_t)strlen(a->program), 0, shown)] = '\0';
	printf("%s %s, process %d, %s\n", a->role, a->process, a->pid, shown);
	if (threads_alike(a)) {
		printf("  %-14s%u, all with the same rights\n", "threads", a->thread_count);
		print_rights(&a->threads[0]);
	} else {
		for (uint32_t i = 0; i < a->thread_count; i++) {
			printf("  thread %d\n", a->threads[i].tid);
			print_rights(&a->threads[i]);
		}
	}
	print_landlock(p, a, h);
	print_limits(p, a);
	print_descriptors(&a->descriptors);
	if (a->descriptors.has_report && !a->descriptors.report_problem) {
		const struct report *r = &a->descriptors.report;

		if (r->given_up)
			printf("  %-14s%s\n", "given up", audit_set_text(r->given_up, text));
		if (r->old_kernel && h->old_kernel && p->capabilities_old_kernel)
			printf("  %-14s%s is kept: kernel %s is older than 5.19, where every bpf() "
			       "call needs it\n",
			       "old kernel", audit_set_text(p->capabilities_old_kernel, text),
			       kernel);
	}
}
