/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>

#include "policy/limit_names.h"
#include "policy/policy_parser.h"

/* -- all other lines ---------------------------------------------------------------------- */

static int parse_role(struct parser *p)
{
	int error = parser_expect_words(p, 2, "role NAME");

	if (!error)
		error = parser_expect_once(p, &p->role_line);
	/* The name becomes part of a C identifier. */
	if (!error &&
	    parser_word(p, 1)[strspn(parser_word(p, 1), "abcdefghijklmnopqrstuvwxyz_")] != '\0')
		error = parser_fail(p, "\"%s\": expected lower-case letters", parser_word(p, 1));
	p->t->policy.role = parser_word(p, 1);
	return error;
}

static int parse_user(struct parser *p)
{
	int error = parser_expect_words(p, 2, "user NAME");

	if (!error)
		error = parser_expect_once(p, &p->user_line);
	if (!error && strcmp(parser_word(p, 1), "root") == 0)
		error = parser_fail(p, "expected a user other than root");
	p->t->policy.user = parser_word(p, 1);
	p->t->user_reason = p->line.reason;
	return error;
}

static int parse_group(struct parser *p)
{
	int error = parser_expect_words(p, 2, "group NAME");

	if (!error)
		error = parser_expect_once(p, &p->group_line);
	if (!error && strcmp(parser_word(p, 1), "root") == 0)
		error = parser_fail(p, "expected a group other than root");
	p->t->policy.group = parser_word(p, 1);
	p->t->group_reason = p->line.reason;
	return error;
}

static int parse_landlock(struct parser *p)
{
	int error = parser_expect_words(p, 2, "landlock yes|no");

	if (!error)
		error = parser_expect_once(p, &p->landlock_line);
	p->t->landlock_reason = p->line.reason;
	return error ? error : parser_yes(p, &p->t->policy.landlock);
}

static int parse_network(struct parser *p)
{
	int error = parser_expect_words(p, 2, "network yes|no");

	if (!error)
		error = parser_expect_once(p, &p->network_line);
	p->t->network_reason = p->line.reason;
	return error ? error : parser_yes(p, &p->t->policy.network);
}

static int capability_number(struct parser *p, const char *name, uint8_t *number)
{
	cap_value_t value;

	char full[64];

	/* libcap also takes numbers and other spellings; here there is one. */
	if (*name < 'A' || *name > 'Z' || strncmp(name, "CAP_", 4) == 0 ||
	    (size_t)snprintf(full, sizeof(full), "cap_%s", name) >= sizeof(full) ||
	    cap_from_name(full, &value) != 0 || value < 0 || value > 63)
		return parser_fail(
			p, "\"%s\": expected the name of a capability, as BPF for CAP_BPF", name);
	*number = (uint8_t)value;
	return 0;
}

static int parse_capability(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_capability c = { .phase = parser_word(p, 1),
				       .name = parser_word(p, 2),
				       .optional = strcmp(parser_word(p, 3), "optional") == 0,
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
	int error = parser_expect_words(p, c.optional ? 4 : 3, "capability PHASE NAME [optional]");

	if (!error)
		error = parser_expect_room(p, t->policy.capability_count,
					   POLICY_TEXT_CAPABILITIES_MAX);
	if (!error)
		error = capability_number(p, c.name, &c.number);
	if (error)
		return error;
	while (phase < phase_count && strcmp(phases[phase].name, c.phase) != 0)
		phase++;
	if (phase == phase_count)
		return parser_fail(
			p, "\"%s\": expected load, load-if-granted, steady or old-kernel", c.phase);
	if (*phases[phase].mask & 1ULL << c.number)
		return parser_fail(p, "%s is there in phase %s already, expected it once", c.name,
				   c.phase);
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
	struct policy_limit limit = { .name = parser_word(p, 1), .reason = p->line.reason };
	bool known = false;
	int error = parser_expect_words(p, 3, "limit NAME VALUE");

	if (!error)
		error = parser_expect_room(p, t->policy.limit_count, POLICY_TEXT_LIMITS_MAX);
	if (error)
		return error;
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++)
		known |= strcmp(limit_names[i].name, limit.name) == 0;
	if (!known)
		return parser_fail(
			p, "\"%s\": expected the name of a limit, as NOFILE for RLIMIT_NOFILE",
			limit.name);
	for (uint32_t i = 0; i < t->policy.limit_count; i++)
		if (strcmp(t->limits[i].name, limit.name) == 0)
			return parser_fail(p, "limit %s is there already, expected it once",
					   limit.name);
	error = parser_amount(p, parser_word(p, 2), &limit.value);
	if (!error)
		t->limits[t->policy.limit_count++] = limit;
	return error;
}

static int parse_path(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_path path = { .access = parser_word(p, 1),
				    .path = parser_word(p, 2),
				    .reason = p->line.reason };
	int error = parser_expect_words(p, 3, "path ACCESS PATH");

	if (!error)
		error = parser_expect_room(p, t->policy.path_count, POLICY_TEXT_PATHS_MAX);
	if (error)
		return error;
	if (strcmp(path.access, "read") != 0 && strcmp(path.access, "write") != 0)
		return parser_fail(p, "\"%s\": expected read or write", path.access);
	if (path.path[0] != '/' && path.path[0] != '@')
		return parser_fail(p, "\"%s\": expected an absolute path or @NAME", path.path);
	t->paths[t->policy.path_count++] = path;
	return 0;
}

static int parse_descriptor(struct parser *p)
{
	struct policy_text *t = p->t;
	struct policy_descriptor d = { .kind = parser_word(p, 1),
				       .most = UINT32_MAX,
				       .reason = p->line.reason };
	uint64_t most;
	int error = parser_expect_words(p, 3, "descriptor KIND MOST");

	if (!error)
		error = parser_expect_room(p, t->policy.descriptor_count,
					   POLICY_TEXT_DESCRIPTORS_MAX);
	if (error)
		return error;
	for (uint32_t i = 0; i < t->policy.descriptor_count; i++)
		if (strcmp(t->descriptors[i].kind, d.kind) == 0)
			return parser_fail(p, "descriptor %s is there already, expected it once",
					   d.kind);
	if (strcmp(parser_word(p, 2), "any") != 0) {
		if (!parser_number(parser_word(p, 2), &most) || most == 0 || most >= UINT32_MAX)
			return parser_fail(p, "\"%s\": expected how many at most, or \"any\"",
					   parser_word(p, 2));
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
	{ "syscall", true, syscall_line_parse },
};

#define DIRECTIVE_COUNT (sizeof(directives) / sizeof(directives[0]))

static int parse_directive(struct parser *p)
{
	for (size_t i = 0; i < DIRECTIVE_COUNT; i++) {
		if (strcmp(directives[i].name, parser_word(p, 0)) != 0)
			continue;
		if (directives[i].needs_reason && !p->line.reason)
			return parser_fail(p, "\"%s\": expected its reason behind a #",
					   parser_word(p, 0));
		return directives[i].parse(p);
	}
	return parser_fail(
		p,
		"\"%s\": expected role, user, group, capability, landlock, network, limit, "
		"path, descriptor or syscall",
		parser_word(p, 0));
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
		if (p->line.count == PARSER_WORDS_MAX)
			return parser_fail(p, "expected at most %u words", PARSER_WORDS_MAX);
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
		return parser_fail(
			p, "end of file: expected role, user, group, landlock and network lines");
	for (uint32_t i = 0; i < t->policy.capability_count; i++) {
		p->line.number = p->capability_lines[i];
		if (!(load & 1ULL << t->capabilities[i].number))
			return parser_fail(
				p,
				"%s in phase %s: expected it in phase load as well, a right "
				"never comes back",
				t->capabilities[i].name, t->capabilities[i].phase);
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
		return parser_fail(&p, "file of %zu bytes, expected at most %u", len,
				   POLICY_TEXT_MAX);
	if (memchr(text, '\0', len))
		return parser_fail(&p, "a NUL byte, expected text");
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
