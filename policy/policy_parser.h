/* SPDX-License-Identifier: Apache-2.0 */
/* policy_parser: what the parser's files share: the current line, its words and values, and the one
 * way to say what is wrong. */
#ifndef BELFRY_POLICY_POLICY_PARSER_H
#define BELFRY_POLICY_POLICY_PARSER_H

#include "policy/policy_text.h"

#define PARSER_WORDS_MAX 24

/* One line, cut into words; `reason` is what stands behind the '#', or NULL. */
struct line {
	unsigned int number;
	char *words[PARSER_WORDS_MAX];
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

/* Writes "FILE:LINE: ..." as the error; returns -EINVAL. */
int parser_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Word `i` of the line, "" where there is none. It is the policy's own memory. */
const char *parser_word(const struct parser *p, unsigned int i);

/* Each returns 0, or -EINVAL with the error set. */
int parser_expect_words(struct parser *p, unsigned int count, const char *shape);
int parser_expect_once(struct parser *p, unsigned int *seen);
int parser_expect_room(struct parser *p, uint32_t used, uint32_t most);
int parser_value(struct parser *p, const char *text, uint64_t *value); /* NAME|NAME|NUMBER */
int parser_amount(struct parser *p, const char *text,
		  uint64_t *value);	       /* number with K, M or G, or "unlimited" */
int parser_yes(struct parser *p, bool *value); /* yes or no, the second word */
int parser_errno(struct parser *p, const char *text, int *error);

bool parser_number(const char *text, uint64_t *value);

/* syscall PROCESS NAME... [where CONDITIONS] [errno ENAME] (syscall_line.c) */
int syscall_line_parse(struct parser *p);

#endif
