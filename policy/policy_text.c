/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_text.h"

#include <errno.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>

#include "policy/constants.h"
#include "policy/limit_names.h"

#define WORDS_MAX 24
#define LOW_32_BITS 0xffffffffULL

/* One line, cut into words; `reason` is what stands behind the '#', or NULL. */
struct line {
	unsigned int number;
	char *words[WORDS_MAX];
	unsigned int count;
	char *reason;
};

struct parser {
	struct policy_text *t;
	const char *file;
	struct line line;
	unsigned int user_line; /* line of each directive that may stand only once, 0 = not yet */
	unsigned int group_line;
	unsigned int landlock_line;
	unsigned int network_line;
	unsigned int role_line;
	unsigned int capability_lines[POLICY_TEXT_CAPABILITIES_MAX];
	char *error;
	size_t error_size;
};

static int __attribute__((format(printf, 2, 3))) fail(struct parser *p, const char *format, ...)
{
	va_list arguments;
	int len = snprintf(p->error, p->error_size, "%s:%u: ", p->file, p->line.number);

	if (len < 0 || (size_t)len >= p->error_size)
		return -EINVAL;
	va_start(arguments, format);
	vsnprintf(p->error + len, p->error_size - (size_t)len, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Words of the current line are the policy's own memory: nothing is copied. */
static const char *word(const struct parser *p, unsigned int i)
{
	return i < p->line.count ? p->line.words[i] : "";
}

static int expect_words(struct parser *p, unsigned int count, const char *shape)
{
	if (p->line.count == count)
		return 0;
	return fail(p, "expected \"%s\", found %u words", shape, p->line.count);
}

static int expect_once(struct parser *p, unsigned int *seen)
{
	if (*seen)
		return fail(p, "\"%s\" stands at line %u already, expected it once", word(p, 0),
			    *seen);
	*seen = p->line.number;
	return 0;
}

static int expect_room(struct parser *p, uint32_t used, uint32_t most)
{
	if (used < most)
		return 0;
	return fail(p, "expected at most %u \"%s\" lines", most, word(p, 0));
}

/* -- values ------------------------------------------------------------------------------- */

static bool number_of(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && *end == '\0';
}

static bool constant_of(const char *text, size_t len, uint64_t *value)
{
	char name[64];

	for (size_t i = 0; i < POLICY_CONSTANT_COUNT; i++) {
		if (strlen(policy_constants[i].name) == len &&
		    memcmp(policy_constants[i].name, text, len) == 0) {
			*value = policy_constants[i].value;
			return true;
		}
	}
	if (len == 0 || len >= sizeof(name))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return number_of(name, value);
}

/* NAME|NAME|NUMBER */
static int parse_value(struct parser *p, const char *text, uint64_t *value)
{
	*value = 0;
	for (;;) {
		size_t len = strcspn(text, "|");
		uint64_t part;

		if (!constant_of(text, len, &part))
			return fail(p, "\"%.*s\": expected a constant's name or a number", (int)len,
				    text);
		*value |= part;
		if (text[len] == '\0')
			return 0;
		text += len + 1;
	}
}

/* Number with K, M or G, or "unlimited". */
static int parse_amount(struct parser *p, const char *text, uint64_t *value)
{
	char *end;
	unsigned int shift = 0;

	if (strcmp(text, "unlimited") == 0) {
		*value = UINT64_MAX;
		return 0;
	}
	errno = 0;
	*value = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (*text < '0' || *text > '9' || errno)
		return fail(p, "\"%s\": expected a number, or \"unlimited\"", text);
	if (*end == 'K')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (shift)
		end++;
	if (*end != '\0' || *value > UINT64_MAX >> shift)
		return fail(p, "\"%s\": expected a number, with K, M or G at most", text);
	*value <<= shift;
	return 0;
}

static int parse_yes(struct parser *p, bool *value)
{
	if (strcmp(word(p, 1), "yes") != 0 && strcmp(word(p, 1), "no") != 0)
		return fail(p, "\"%s\": expected yes or no", word(p, 1));
	*value = strcmp(word(p, 1), "yes") == 0;
	return 0;
}

static const struct policy_constant error_names[] = {
	{ "EACCES", EACCES }, { "EAGAIN", EAGAIN }, { "EINVAL", EINVAL },
	{ "ENOENT", ENOENT }, { "ENOSYS", ENOSYS }, { "EPERM", EPERM },
};

static int parse_errno(struct parser *p, const char *text, int *error)
{
	for (size_t i = 0; i < sizeof(error_names) / sizeof(error_names[0]); i++) {
		if (strcmp(error_names[i].name, text) == 0) {
			*error = (int)error_names[i].value;
			return 0;
		}
	}
	return fail(p, "\"%s\": expected an errno: EACCES, EAGAIN, EINVAL, ENOENT, ENOSYS or EPERM",
		    text);
}

/* -- syscall lines ------------------------------------------------------------------------ */

/* argN == VALUE, argN & MASK == VALUE; *at is the next word. */
static int parse_condition(struct parser *p, unsigned int *at, struct policy_condition *c)
{
	const char *arg = word(p, *at);
	bool masked = strcmp(word(p, *at + 1), "&") == 0;
	unsigned int equals = *at + (masked ? 3 : 1);
	int error;

	if (strncmp(arg, "arg", 3) != 0 || arg[3] < '0' || arg[3] > '5' || arg[4] != '\0')
		return fail(p, "\"%s\": expected arg0 to arg5", arg);
	if (strcmp(word(p, equals), "==") != 0)
		return fail(p, "\"%s\": expected \"%s == VALUE\" or \"%s & MASK == VALUE\"",
			    word(p, equals), arg, arg);
	c->arg = (uint8_t)(arg[3] - '0');
	/* Each of these arguments is an int or a flag word: the kernel looks at its low half only. */
	c->mask = LOW_32_BITS;
	if (masked) {
		error = parse_value(p, word(p, *at + 2), &c->mask);
		if (error)
			return error;
	}
	error = parse_value(p, word(p, equals + 1), &c->value);
	if (error)
		return error;
	if (c->value & ~c->mask)
		return fail(p, "value 0x%llx has bits outside of mask 0x%llx: it could never hold",
			    (unsigned long long)c->value, (unsigned long long)c->mask);
	*at = equals + 2;
	return 0;
}

/* where CONDITION [and CONDITION]...; *at moves to the first word that is no part of it. */
static int parse_conditions(struct parser *p, unsigned int *at, struct policy_syscall *s)
{
	if (strcmp(word(p, *at), "where") != 0)
		return 0;
	do {
		struct policy_condition c = { 0 };
		int error;

		if (s->condition_count == POLICY_CONDITIONS_MAX)
			return fail(p, "expected at most %u conditions", POLICY_CONDITIONS_MAX);
		++*at;
		error = parse_condition(p, at, &c);
		if (error)
			return error;
		/* libseccomp takes one comparison an argument and rule. */
		for (unsigned int i = 0; i < s->condition_count; i++)
			if (s->conditions[i].arg == c.arg)
				return fail(p, "arg%u has a condition already, expected one",
					    c.arg);
		s->conditions[s->condition_count++] = c;
	} while (strcmp(word(p, *at), "and") == 0);
	return 0;
}

static bool same_conditions(const struct policy_syscall *a, const struct policy_syscall *b)
{
	if (a->condition_count != b->condition_count)
		return false;
	for (unsigned int i = 0; i < a->condition_count; i++)
		if (a->conditions[i].arg != b->conditions[i].arg ||
		    a->conditions[i].mask != b->conditions[i].mask ||
		    a->conditions[i].value != b->conditions[i].value)
			return false;
	return true;
}

/*
 * Lines on one syscall are alternatives. One without a condition would make all others void without a sound, so it
 * must stand alone.
 */
static int check_alternatives(struct parser *p, const struct policy_syscall *s)
{
	const struct policy_text *t = p->t;

	for (uint32_t i = 0; i < t->policy.syscall_count; i++) {
		const struct policy_syscall *other = &t->syscalls[i];

		if (strcmp(other->process, s->process) != 0 || strcmp(other->name, s->name) != 0)
			continue;
		if (same_conditions(other, s))
			return fail(p, "%s stands at line %u already, expected it once", s->name,
				    t->syscall_lines[i]);
		if (!other->condition_count || !s->condition_count)
			return fail(p, "%s at line %u: expected conditions on both lines or one line",
				    s->name, t->syscall_lines[i]);
		if (other->action != s->action)
			return fail(p, "%s at line %u has another action, expected the same",
				    s->name, t->syscall_lines[i]);
	}
	return 0;
}

/* The words between "where" and "errno". */
static void copy_conditions(const struct parser *p, char *out)
{
	unsigned int i = 0;
	size_t len = 0;

	while (i < p->line.count && strcmp(word(p, i), "where") != 0)
		i++;
	for (i++; i < p->line.count && strcmp(word(p, i), "errno") != 0; i++) {
		len += (size_t)snprintf(out + len, POLICY_TEXT_CONDITION_MAX - len, "%s%s", len ? " " : "",
					word(p, i));
		if (len >= POLICY_TEXT_CONDITION_MAX)
			return;
	}
}

static int add_syscall(struct parser *p, const char *name, struct policy_syscall s)
{
	struct policy_text *t = p->t;
	int error = expect_room(p, t->policy.syscall_count, POLICY_TEXT_SYSCALLS_MAX);

	if (error)
		return error;
	s.name = name;
	if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
		return fail(p, "\"%s\": expected the name of a syscall", name);
	error = check_alternatives(p, &s);
	if (error)
		return error;
	t->syscall_lines[t->policy.syscall_count] = p->line.number;
	copy_conditions(p, t->conditions[t->policy.syscall_count]);
	t->syscalls[t->policy.syscall_count++] = s;
	return 0;
}

static int parse_process(struct parser *p, const char *name, const char **process)
{
	static const char *const names[] = { "main", "zygote", "worker" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			*process = names[i];
			return 0;
		}
	}
	return fail(p, "\"%s\": expected main, zygote or worker", name);
}

/* syscall PROCESS NAME... [where CONDITIONS] [errno ENAME] */
static int parse_syscall(struct parser *p)
{
	struct policy_syscall s = { .action = POLICY_ALLOW, .reason = p->line.reason };
	unsigned int names_end = 2;
	unsigned int at;
	int error = parse_process(p, word(p, 1), &s.process);

	if (error)
		return error;
	while (names_end < p->line.count && strcmp(word(p, names_end), "where") != 0 &&
	       strcmp(word(p, names_end), "errno") != 0)
		names_end++;
	if (names_end == 2)
		return fail(p, "\"%s\": expected the name of a syscall", word(p, 2));
	at = names_end;
	error = parse_conditions(p, &at, &s);
	if (error)
		return error;
	if (strcmp(word(p, at), "errno") == 0) {
		s.action = POLICY_ERRNO;
		error = parse_errno(p, word(p, at + 1), &s.error);
		at += 2;
	}
	if (!error && at < p->line.count)
		error = fail(p, "\"%s\": expected \"where\", \"and\", \"errno\" or the end of the line",
			     word(p, at));
	for (unsigned int i = 2; i < names_end && !error; i++)
		error = add_syscall(p, word(p, i), s);
	return error;
}

/* -- all other lines ---------------------------------------------------------------------- */

static int parse_role(struct parser *p)
{
	int error = expect_words(p, 2, "role NAME");

	if (!error)
		error = expect_once(p, &p->role_line);
	/* The name becomes part of a C identifier. */
	if (!error && word(p, 1)[strspn(word(p, 1), "abcdefghijklmnopqrstuvwxyz_")] != '\0')
		error = fail(p, "\"%s\": expected lower-case letters", word(p, 1));
	p->t->policy.role = word(p, 1);
	return error;
}

static int parse_user(struct parser *p)
{
	int error = expect_words(p, 2, "user NAME");

	if (!error)
		error = expect_once(p, &p->user_line);
	if (!error && strcmp(word(p, 1), "root") == 0)
		error = fail(p, "expected a user other than root");
	p->t->policy.user = word(p, 1);
	p->t->user_reason = p->line.reason;
	return error;
}

static int parse_group(struct parser *p)
{
	int error = expect_words(p, 2, "group NAME");

	if (!error)
		error = expect_once(p, &p->group_line);
	if (!error && strcmp(word(p, 1), "root") == 0)
		error = fail(p, "expected a group other than root");
	p->t->policy.group = word(p, 1);
	p->t->group_reason = p->line.reason;
	return error;
}

static int parse_landlock(struct parser *p)
{
	int error = expect_words(p, 2, "landlock yes|no");

	if (!error)
		error = expect_once(p, &p->landlock_line);
	p->t->landlock_reason = p->line.reason;
	return error ? error : parse_yes(p, &p->t->policy.landlock);
}

static int parse_network(struct parser *p)
{
	int error = expect_words(p, 2, "network yes|no");

	if (!error)
		error = expect_once(p, &p->network_line);
	p->t->network_reason = p->line.reason;
	return error ? error : parse_yes(p, &p->t->policy.network);
}

static int capability_number(struct parser *p, const char *name, uint8_t *number)
{
	cap_value_t value;

	char full[64];

	/* libcap also takes numbers and other spellings; here there is one. */
	if (*name < 'A' || *name > 'Z' || strncmp(name, "CAP_", 4) == 0 ||
	    (size_t)snprintf(full, sizeof(full), "cap_%s", name) >= sizeof(full) ||
	    cap_from_name(full, &value) != 0 || value < 0 || value > 63)
		return fail(p, "\"%s\": expected the name of a capability, as BPF for CAP_BPF", name);
	*number = (uint8_t)value;
	return 0;
}

static int parse_capability(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_capability c = { .phase = word(p, 1),
				       .name = word(p, 2),
				       .optional = strcmp(word(p, 3), "optional") == 0,
				       .reason = p->line.reason };
	const struct {
		const char *name;
		uint64_t *mask;
	} phases[] = {
		{ "load", &t->policy.capabilities[POLICY_PHASE_LOAD] },
		{ "load-if-granted", &t->policy.capabilities[POLICY_PHASE_LOAD] },
		{ "steady", &t->policy.capabilities[POLICY_PHASE_STEADY] },
		{ "old-kernel", &t->policy.capabilities_old_kernel },
	};
	const unsigned int phase_count = sizeof(phases) / sizeof(phases[0]);
	unsigned int phase = 0;
	int error = expect_words(p, c.optional ? 4 : 3, "capability PHASE NAME [optional]");

	if (!error)
		error = expect_room(p, t->policy.capability_count, POLICY_TEXT_CAPABILITIES_MAX);
	if (!error)
		error = capability_number(p, c.name, &c.number);
	if (error)
		return error;
	while (phase < phase_count && strcmp(phases[phase].name, c.phase) != 0)
		phase++;
	if (phase == phase_count)
		return fail(p, "\"%s\": expected load, load-if-granted, steady or old-kernel", c.phase);
	if (*phases[phase].mask & 1ULL << c.number)
		return fail(p, "%s is there in phase %s already, expected it once", c.name, c.phase);
	*phases[phase].mask |= 1ULL << c.number;
	if (strcmp(c.phase, "load-if-granted") == 0)
		c.optional = true;
	if (c.optional && strcmp(c.phase, "steady") == 0)
		t->policy.capabilities_optional |= 1ULL << c.number;
	p->capability_lines[t->policy.capability_count] = p->line.number;
	t->capabilities[t->policy.capability_count++] = c;
	return 0;
}

static int parse_limit(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_limit limit = { .name = word(p, 1), .reason = p->line.reason };
	bool known = false;
	int error = expect_words(p, 3, "limit NAME VALUE");

	if (!error)
		error = expect_room(p, t->policy.limit_count, POLICY_TEXT_LIMITS_MAX);
	if (error)
		return error;
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++)
		known |= strcmp(limit_names[i].name, limit.name) == 0;
	if (!known)
		return fail(p, "\"%s\": expected the name of a limit, as NOFILE for RLIMIT_NOFILE",
			    limit.name);
	for (uint32_t i = 0; i < t->policy.limit_count; i++)
		if (strcmp(t->limits[i].name, limit.name) == 0)
			return fail(p, "limit %s is there already, expected it once", limit.name);
	error = parse_amount(p, word(p, 2), &limit.value);
	if (!error)
		t->limits[t->policy.limit_count++] = limit;
	return error;
}

static int parse_path(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_path path = { .access = word(p, 1),
				    .path = word(p, 2),
				    .reason = p->line.reason };
	int error = expect_words(p, 3, "path ACCESS PATH");

	if (!error)
		error = expect_room(p, t->policy.path_count, POLICY_TEXT_PATHS_MAX);
	if (error)
		return error;
	if (strcmp(path.access, "read") != 0 && strcmp(path.access, "write") != 0)
		return fail(p, "\"%s\": expected read or write", path.access);
	if (path.path[0] != '/' && path.path[0] != '@')
		return fail(p, "\"%s\": expected an absolute path or @NAME", path.path);
	t->paths[t->policy.path_count++] = path;
	return 0;
}

static int parse_descriptor(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_descriptor d = { .kind = word(p, 1),
				       .most = UINT32_MAX,
				       .reason = p->line.reason };
	uint64_t most;
	int error = expect_words(p, 3, "descriptor KIND MOST");

	if (!error)
		error = expect_room(p, t->policy.descriptor_count, POLICY_TEXT_DESCRIPTORS_MAX);
	if (error)
		return error;
	for (uint32_t i = 0; i < t->policy.descriptor_count; i++)
		if (strcmp(t->descriptors[i].kind, d.kind) == 0)
			return fail(p, "descriptor %s is there already, expected it once", d.kind);
	if (strcmp(word(p, 2), "any") != 0) {
		if (!number_of(word(p, 2), &most) || most == 0 || most >= UINT32_MAX)
			return fail(p, "\"%s\": expected how many at most, or \"any\"", word(p, 2));
		d.most = (uint32_t)most;
	}
	t->descriptors[t->policy.descriptor_count++] = d;
	return 0;
}

/* -- the file ----------------------------------------------------------------------------- */

static const struct directive {
	const char *name;
	bool needs_reason; /* it grants or refuses a right */
	int (*parse)(struct parser *p);
} directives[] = {
	{ "role", false, parse_role },
	{ "user", true, parse_user },
	{ "group", true, parse_group },
	{ "capability", true, parse_capability },
	{ "landlock", true, parse_landlock },
	{ "network", true, parse_network },
	{ "limit", true, parse_limit },
	{ "path", true, parse_path },
	{ "descriptor", true, parse_descriptor },
	{ "syscall", true, parse_syscall },
};

#define DIRECTIVE_COUNT (sizeof(directives) / sizeof(directives[0]))

static int parse_directive(struct parser *p)
{
	for (size_t i = 0; i < DIRECTIVE_COUNT; i++) {
		if (strcmp(directives[i].name, word(p, 0)) != 0)
			continue;
		if (directives[i].needs_reason && !p->line.reason)
			return fail(p, "\"%s\": expected its reason behind a #", word(p, 0));
		return directives[i].parse(p);
	}
	return fail(p, "\"%s\": expected role, user, group, capability, landlock, network, limit, "
		       "path, descriptor or syscall", word(p, 0));
}

/* Cuts a line (without its newline) into words and a reason, in place. */
static int split_line(struct parser *p, char *text)
{
	char *hash = strchr(text, '#');
	char *save = NULL;

	p->line.count = 0;
	p->line.reason = NULL;
	if (hash) {
		size_t len;

		*hash++ = '\0';
		hash += strspn(hash, " \t");
		len = strlen(hash);
		while (len && (hash[len - 1] == ' ' || hash[len - 1] == '\t'))
			hash[--len] = '\0';
		p->line.reason = len ? hash : NULL;
	}
	for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (p->line.count == WORDS_MAX)
			return fail(p, "expected at most %u words", WORDS_MAX);
		p->line.words[p->line.count++] = w;
	}
	return 0;
}

/* What only the whole file can show. */
static int check_whole(struct parser *p)
{
	struct policy_text *t = p->t;
	uint64_t load = t->policy.capabilities[POLICY_PHASE_LOAD];

	if (!p->role_line || !p->user_line || !p->group_line || !p->landlock_line ||
	    !p->network_line)
		return fail(p, "end of file: expected role, user, group, landlock and network lines");
	for (uint32_t i = 0; i < t->policy.capability_count; i++) {
		p->line.number = p->capability_lines[i];
		if (!(load & 1ULL << t->capabilities[i].number))
			return fail(p, "%s in phase %s: expected it in phase load as well, a right "
				       "never comes back", t->capabilities[i].name,
				    t->capabilities[i].phase);
	}
	return 0;
}

static int parse_lines(struct parser *p)
{
	char *text = p->t->text;

	for (p->line.number = 1; *text; p->line.number++) {
		size_t len = strcspn(text, "\n");
		bool last = text[len] == '\0';
		int error;

		text[len] = '\0';
		error = split_line(p, text);
		if (!error && p->line.count)
			error = parse_directive(p);
		if (error)
			return error;
		text += last ? len : len + 1;
	}
	return check_whole(p);
}

int policy_text_parse(const char *name, const char *text, size_t len, struct policy_text **out,
		      char *error, size_t error_size)
{
	struct parser p = { .file = name, .error = error, .error_size = error_size };
	struct policy_text *t;

	*out = NULL;
	p.line.number = 1;
	if (len > POLICY_TEXT_MAX)
		return fail(&p, "file of %zu bytes, expected at most %u", len, POLICY_TEXT_MAX);
	if (memchr(text, '\0', len))
		return fail(&p, "a NUL byte, expected text");
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	memcpy(t->text, text, len);
	p.t = t;
	if (parse_lines(&p) != 0) {
		free(t);
		return -EINVAL;
	}
	t->policy.capability_lines = t->capabilities;
	t->policy.syscalls = t->syscalls;
	t->policy.limits = t->limits;
	t->policy.paths = t->paths;
	t->policy.descriptors = t->descriptors;
	*out = t;
	return 0;
}

void policy_text_free(struct policy_text *t)
{
	free(t);
}
