/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's syscall lines: names, conditions on arguments, and the answer. */
#include "policy/policy_parser.h"

#include <seccomp.h>
#include <stdio.h>
#include <string.h>

#define LOW_32_BITS 0xffffffffULL

/* argN == VALUE, argN & MASK == VALUE; *at is the next word. */
static int parse_condition(struct parser *p, unsigned int *at, struct policy_condition *c)
{
	const char *arg = parser_word(p, *at);
	bool masked = strcmp(parser_word(p, *at + 1), "&") == 0;
	unsigned int equals = *at + (masked ? 3 : 1);
	int error;

	if (strncmp(arg, "arg", 3) != 0 || arg[3] < '0' || arg[3] > '5' || arg[4] != '\0')
		return parser_fail(p, "\"%s\": expected arg0 to arg5", arg);
	if (strcmp(parser_word(p, equals), "==") != 0)
		return parser_fail(p, "\"%s\": expected \"%s == VALUE\" or \"%s & MASK == VALUE\"",
				   parser_word(p, equals), arg, arg);
	c->arg = (uint8_t)(arg[3] - '0');
	/* Each of these is an int or a flag word: the kernel looks at its low half only. */
	c->mask = LOW_32_BITS;
	if (masked) {
		error = parser_value(p, parser_word(p, *at + 2), &c->mask);
		if (error)
			return error;
	}
	error = parser_value(p, parser_word(p, equals + 1), &c->value);
	if (error)
		return error;
	if (c->value & ~c->mask)
		return parser_fail(
			p, "value 0x%llx has bits outside of mask 0x%llx: it could never hold",
			(unsigned long long)c->value, (unsigned long long)c->mask);
	*at = equals + 2;
	return 0;
}

/* where CONDITION [and CONDITION]...; *at moves to the first word that is no part of it. */
static int parse_conditions(struct parser *p, unsigned int *at, struct policy_syscall *s)
{
	if (strcmp(parser_word(p, *at), "where") != 0)
		return 0;
	do {
		struct policy_condition c = { 0 };
		int error;

		if (s->condition_count == POLICY_CONDITIONS_MAX)
			return parser_fail(p, "expected at most %u conditions",
					   POLICY_CONDITIONS_MAX);
		++*at;
		error = parse_condition(p, at, &c);
		if (error)
			return error;
		/* libseccomp takes one comparison an argument and rule. */
		for (unsigned int i = 0; i < s->condition_count; i++)
			if (s->conditions[i].arg == c.arg)
				return parser_fail(p, "arg%u has a condition already, expected one",
						   c.arg);
		s->conditions[s->condition_count++] = c;
	} while (strcmp(parser_word(p, *at), "and") == 0);
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
 * Lines on one syscall are alternatives. One without a condition would make all others void without
 * a sound, so it must stand alone.
 */
static int check_alternatives(struct parser *p, const struct policy_syscall *s)
{
	const struct policy_text *t = p->t;

	for (uint32_t i = 0; i < t->policy.syscall_count; i++) {
		const struct policy_syscall *other = &t->syscalls[i];

		if (strcmp(other->process, s->process) != 0 || strcmp(other->name, s->name) != 0)
			continue;
		if (same_conditions(other, s))
			return parser_fail(p, "%s stands at line %u already, expected it once",
					   s->name, t->syscall_lines[i]);
		if (!other->condition_count || !s->condition_count)
			return parser_fail(
				p, "%s at line %u: expected conditions on both lines or one line",
				s->name, t->syscall_lines[i]);
		if (other->action != s->action)
			return parser_fail(p, "%s at line %u has another action, expected the same",
					   s->name, t->syscall_lines[i]);
	}
	return 0;
}

/* The words between "where" and "errno". */
static void copy_conditions(const struct parser *p, char *out)
{
	unsigned int i = 0;
	size_t len = 0;

	while (i < p->line.count && strcmp(parser_word(p, i), "where") != 0)
		i++;
	for (i++; i < p->line.count && strcmp(parser_word(p, i), "errno") != 0; i++) {
		len += (size_t)snprintf(out + len, POLICY_TEXT_CONDITION_MAX - len, "%s%s",
					len ? " " : "", parser_word(p, i));
		if (len >= POLICY_TEXT_CONDITION_MAX)
			return;
	}
}

static int add_syscall(struct parser *p, const char *name, struct policy_syscall s)
{
	struct policy_text *t = p->t;
	int error = parser_expect_room(p, t->policy.syscall_count, POLICY_TEXT_SYSCALLS_MAX);

	if (error)
		return error;
	s.name = name;
	if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
		return parser_fail(p, "\"%s\": expected the name of a syscall", name);
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
	return parser_fail(p, "\"%s\": expected main, zygote or worker", name);
}

int syscall_line_parse(struct parser *p)
{
	struct policy_syscall s = { .action = POLICY_ALLOW, .reason = p->line.reason };
	unsigned int names_end = 2;
	unsigned int at;
	int error = parse_process(p, parser_word(p, 1), &s.process);

	if (error)
		return error;
	while (names_end < p->line.count && strcmp(parser_word(p, names_end), "where") != 0 &&
	       strcmp(parser_word(p, names_end), "errno") != 0)
		names_end++;
	if (names_end == 2)
		return parser_fail(p, "\"%s\": expected the name of a syscall", parser_word(p, 2));
	at = names_end;
	error = parse_conditions(p, &at, &s);
	if (error)
		return error;
	if (strcmp(parser_word(p, at), "errno") == 0) {
		s.action = POLICY_ERRNO;
		error = parser_errno(p, parser_word(p, at + 1), &s.error);
		at += 2;
	}
	if (!error && at < p->line.count)
		error = parser_fail(
			p, "\"%s\": expected \"where\", \"and\", \"errno\" or the end of the line",
			parser_word(p, at));
	for (unsigned int i = 2; i < names_end && !error; i++)
		error = add_syscall(p, parser_word(p, i), s);
	return error;
}
