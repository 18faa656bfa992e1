/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_compare.h"

#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>

#define SECCOMP_FILTERED 2

struct comparison {
	const struct policy *p;
	const struct audit_process *a;
	const struct audit_host *h;
	FILE *out;
	uint32_t mismatches;
};

static void __attribute__((format(printf, 3, 4)))
mismatch(struct comparison *c, pid_t tid, const char *format, ...)
{
	va_list arguments;

	c->mismatches++;
	fprintf(c->out, "MISMATCH %s %s %d", c->p->role, c->a->process, c->a->pid);
	if (tid != c->a->pid)
		fprintf(c->out, "/%d", tid);
	fprintf(c->out, ": ");
	va_start(arguments, format);
	vfprintf(c->out, format, arguments);
	va_end(arguments);
	fputc('\n', c->out);
}

const char *audit_set_text(uint64_t set, char *text)
{
	size_t len = 0;

	if (!set)
		return "none";
	text[0] = '\0';
	for (int n = 0; n < 64; n++) {
		char *name;

		if (!(set & 1ULL << n))
			continue;
		name = cap_to_name(n);
		len += (size_t)snprintf(text + len, AUDIT_SET_MAX - len, "%s%s", len ? " " : "",
					name ? name + strlen("cap_") : "?");
		cap_free(name);
		if (len >= AUDIT_SET_MAX)
			break;
	}
	for (char *at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return text;
}

/* -- identity ----------------------------------------------------------------------------- */

static bool number_of(const char *text, uint32_t *id)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*id = (uint32_t)value;
	return *text >= '0' && *text <= '9' && *end == '\0' && value < UINT32_MAX;
}

/* From its command line, else the policy's; false where there is no such user here. */
static bool expected_uid(const struct comparison *c, uid_t *uid)
{
	const char *name = audit_process_option(c->a, "user");
	const struct passwd *account;

	if (name && number_of(name, uid))
		return true;
	account = getpwnam(name ? name : c->p->user);
	if (account)
		*uid = account->pw_uid;
	return account;
}

static bool expected_gid(const struct comparison *c, gid_t *gid)
{
	const char *name = audit_process_option(c->a, "group");
	const struct group *account;

	if (name && number_of(name, gid))
		return true;
	account = getgrnam(name ? name : c->p->group);
	if (account)
		*gid = account->gr_gid;
	return account;
}

static void compare_identity(struct comparison *c, const struct audit_thread *t)
{
	const struct thread_status *s = &t->status;
	uid_t uid = 0;
	gid_t gid = 0;
	bool uid_known = expected_uid(c, &uid);
	bool gid_known = expected_gid(c, &gid);

	for (int i = 0; i < 4; i++) {
		if (s->uid[i] == 0)
			mismatch(c, t->tid, "runs as root");
		else if (uid_known && s->uid[i] != uid)
			mismatch(c, t->tid, "uid %u, policy has %u", s->uid[i], uid);
		else if (gid_known && s->gid[i] != gid)
			mismatch(c, t->tid, "gid %u, policy has %u", s->gid[i], gid);
		else
			continue;
		return;
	}
	for (uint32_t i = 0; i < s->group_count; i++) {
		if (i < THREAD_STATUS_GROUPS && s->groups[i] == s->gid[0])
			continue;
		mismatch(c, t->tid, "supplementary group, policy has none");
		return;
	}
}

/* -- capabilities ------------------------------------------------------------------------- */

/* Sets that no role may have anything in; empty is the only right answer. */
static void compare_empty(struct comparison *c, const struct audit_thread *t, const char *what,
			  uint64_t set)
{
	char text[AUDIT_SET_MAX];

	if (set)
		mismatch(c, t->tid, "%s capabilities %s, policy has none", what,
			 audit_set_text(set, text));
}

static void compare_exact(struct comparison *c, const struct audit_thread *t, const char *what,
			  uint64_t set, uint64_t expected)
{
	char text[AUDIT_SET_MAX];

	if (set & ~expected)
		mismatch(c, t->tid, "%s capabilities: has %s, policy has not", what,
			 audit_set_text(set & ~expected, text));
	if (expected & ~set)
		mismatch(c, t->tid, "%s capabilities: lacks %s and has not said so", what,
			 audit_set_text(expected & ~set, text));
}

/* Only what is optional may be missing, and only when the role has said so. */
static uint64_t expected_capabilities(const struct comparison *c)
{
	const struct audit_descriptors *d = &c->a->descriptors;
	uint64_t expected = c->p->capabilities[POLICY_PHASE_STEADY];

	if (!d->has_report || d->report_problem)
		return expected;
	expected &= ~(d->report.given_up & c->p->capabilities_optional);
	if (d->report.old_kernel && c->h->old_kernel)
		expected |= c->p->capabilities_old_kernel;
	return expected;
}

static void compare_capabilities(struct comparison *c, const struct audit_thread *t)
{
	uint64_t expected = expected_capabilities(c);

	compare_exact(c, t, "effective", t->status.effective, expected);
	compare_exact(c, t, "permitted", t->status.permitted, expected);
	compare_empty(c, t, "inheritable", t->status.inheritable);
	compare_empty(c, t, "ambient", t->status.ambient);
	/* A unit cannot empty it and start the role with capabilities; it never holds more than
	 * loading needs. */
	compare_empty(c, t, "bounding",
		      t->status.bounding & ~c->p->capabilities[POLICY_PHASE_LOAD]);
}

/* -- the process's own report ------------------------------------------------------------- */

/* A worker is a fork of the zygote, confined by it; all others speak for themselves. */
static bool is_own_report(const struct comparison *c, const struct report *r)
{
	bool worker = strcmp(c->a->process, "worker") == 0;

	return strcmp(r->role, c->p->role) == 0 &&
	       strcmp(r->process, worker ? "zygote" : c->a->process) == 0 &&
	       (worker || r->pid == (uint32_t)c->a->threads[0].status.inner_pid);
}

static void compare_report(struct comparison *c)
{
	const struct audit_descriptors *d = &c->a->descriptors;
	const struct report *r = &d->report;
	char text[AUDIT_SET_MAX];

	if (!d->has_report) {
		mismatch(c, c->a->pid, "no report: it has not finished confining itself");
		return;
	}
	if (d->report_problem) {
		mismatch(c, c->a->pid, "%s", d->report_problem);
		return;
	}
	if (!is_own_report(c, r))
		mismatch(c, c->a->pid, "report is that of %s %s %u", r->role, r->process, r->pid);
	if (r->given_up & ~c->p->capabilities_optional)
		mismatch(c, c->a->pid, "gave up %s, which is not optional",
			 audit_set_text(r->given_up & ~c->p->capabilities_optional, text));
	if (r->old_kernel && !c->h->old_kernel)
		mismatch(c, c->a->pid, "acts as on a kernel before 5.19, which this one is not");
	if (c->p->landlock && c->h->landlock_abi > 0 && r->landlock_abi == 0)
		mismatch(c, c->a->pid, "no Landlock, the kernel has ABI %d", c->h->landlock_abi);
}

/* -- limits and descriptors --------------------------------------------------------------- */

static void compare_limits(struct comparison *c)
{
	for (uint32_t i = 0; i < c->p->limit_count; i++) {
		const struct policy_limit *l = &c->p->limits[i];

		for (size_t n = 0; n < LIMIT_NAME_COUNT; n++)
			if (strcmp(limit_names[n].name, l->name) == 0 && c->a->limits[n] > l->value)
				mismatch(c, c->a->pid,
					 "limit %s is %" PRIu64 ", policy has %" PRIu64, l->name,
					 c->a->limits[n], l->value);
	}
}

/* Replaces @NAME by the path that its command line gives for --NAME. Returns false when it gives
 * none. */
static bool expand(const struct comparison *c, const char *kind, char *out, size_t size)
{
	const char *at = strchr(kind, '@');
	char name[32];
	const char *value;
	char *real;
	size_t len;

	if (!at)
		return (size_t)snprintf(out, size, "%s", kind) < size;
	len = strcspn(at + 1, "/*");
	if (len >= sizeof(name))
		return false;
	memcpy(name, at + 1, len);
	name[len] = '\0';
	value = audit_process_option(c->a, name);
	if (!value)
		return false;
	real = realpath(value, NULL);
	len = (size_t)snprintf(out, size, "%.*s%s%s", (int)(at - kind), kind, real ? real : value,
			       at + 1 + len);
	free(real);
	return len < size;
}

static bool matches(const char *pattern, const char *kind)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return strncmp(pattern, kind, len - 1) == 0;
	return strcmp(pattern, kind) == 0;
}

/* Standard streams are whatever the starter gave; they match "standard:*" before their own kind. */
static uint32_t line_of(const struct comparison *c, const struct audit_descriptor *d)
{
	char pattern[AUDIT_KIND_MAX + PATH_MAX];
	char standard[32];

	snprintf(standard, sizeof(standard), "standard:%d", d->fd);
	for (uint32_t i = 0; i < c->p->descriptor_count; i++) {
		if (!expand(c, c->p->descriptors[i].kind, pattern, sizeof(pattern)))
			continue;
		if (matches(pattern, d->kind) || (d->fd <= 2 && matches(pattern, standard)))
			return i;
	}
	return c->p->descriptor_count;
}

static void compare_descriptors(struct comparison *c)
{
	const struct audit_descriptors *d = &c->a->descriptors;
	uint32_t used[256] = { 0 }; /* a policy has at most 64 lines */
	uint32_t lines = c->p->descriptor_count < 256 ? c->p->descriptor_count : 256;

	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t line = line_of(c, &d->list[i]);

		if (line < lines) {
			used[line]++;
			continue;
		}
		mismatch(c, c->a->pid, "descriptor %d is %s, policy has no such", d->list[i].fd,
			 d->list[i].kind);
	}
	for (uint32_t i = 0; i < lines; i++)
		if (used[i] > c->p->descriptors[i].most)
			mismatch(c, c->a->pid, "%u descriptors %s, policy has %u at most", used[i],
				 c->p->descriptors[i].kind, c->p->descriptors[i].most);
}

uint32_t audit_compare(const struct policy *p, const struct audit_process *a,
		       const struct audit_host *h, FILE *out)
{
	struct comparison c = { .p = p, .a = a, .h = h, .out = out };

	for (uint32_t i = 0; i < a->thread_count; i++) {
		const struct audit_thread *t = &a->threads[i];

		compare_identity(&c, t);
		compare_capabilities(&c, t);
		if (t->status.no_new_privileges != 1)
			mismatch(&c, t->tid, "no_new_privs is not set");
		if (t->status.seccomp != SECCOMP_FILTERED)
			mismatch(&c, t->tid, "seccomp mode %u, policy has %u (filter)",
				 t->status.seccomp, SECCOMP_FILTERED);
	}
	if (a->dumpable)
		mismatch(&c, a->pid, "may be dumped and traced by its own user");
	compare_report(&c);
	compare_limits(&c);
	compare_descriptors(&c);
	return c.mismatches;
}
