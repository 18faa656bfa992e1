/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_parser.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/constants.h"

int parser_fail(struct parser *p, const char *format, ...)
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

const char *parser_word(const struct parser *p, unsigned int i)
{
	return i < p->line.count ? p->line.words[i] : "";
}

int parser_expect_words(struct parser *p, unsigned int count, const char *shape)
{
	if (p->line.count == count)
		return 0;
	return parser_fail(p, "expected \"%s\", found %u words", shape, p->line.count);
}

int parser_expect_once(struct parser *p, unsigned int *seen)
{
	if (*seen)
		return parser_fail(p, "\"%s\" stands at line %u already, expected it once",
				   parser_word(p, 0), *seen);
	*seen = p->line.number;
	return 0;
}

int parser_expect_room(struct parser *p, uint32_t used, uint32_t most)
{
	if (used < most)
		return 0;
	return parser_fail(p, "expected at most %u \"%s\" lines", most, parser_word(p, 0));
}

bool parser_number(const char *text, uint64_t *value)
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
	return parser_number(name, value);
}

int parser_value(struct parser *p, const char *text, uint64_t *value)
{
	*value = 0;
	for (;;) {
		size_t len = strcspn(text, "|");
		uint64_t part;

		if (!constant_of(text, len, &part))
			return parser_fail(p, "\"%.*s\": expected a constant's name or a number",
					   (int)len, text);
		*value |= part;
		if (text[len] == '\0')
			return 0;
		text += len + 1;
	}
}

int parser_amount(struct parser *p, const char *text, uint64_t *value)
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
		return parser_fail(p, "\"%s\": expected a number, or \"unlimited\"", text);
	if (*end == 'K')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (shift)
		end++;
	if (*end != '\0' || *value > UINT64_MAX >> shift)
		return parser_fail(p, "\"%s\": expected a number, with K, M or G at most", text);
	*value <<= shift;
	return 0;
}

int parser_yes(struct parser *p, bool *value)
{
	if (strcmp(parser_word(p, 1), "yes") != 0 && strcmp(parser_word(p, 1), "no") != 0)
		return parser_fail(p, "\"%s\": expected yes or no", parser_word(p, 1));
	*value = strcmp(parser_word(p, 1), "yes") == 0;
	return 0;
}

static const struct policy_constant error_names[] = {
	{ "EACCES", EACCES }, { "EAGAIN", EAGAIN }, { "EINVAL", EINVAL },
	{ "ENOENT", ENOENT }, { "ENOSYS", ENOSYS }, { "EPERM", EPERM },
};

int parser_errno(struct parser *p, const char *text, int *error)
{
	for (size_t i = 0; i < sizeof(error_names) / sizeof(error_names[0]); i++) {
		if (strcmp(error_names[i].name, text) == 0) {
			*error = (int)error_names[i].value;
			return 0;
		}
	}
	return parser_fail(
		p, "\"%s\": expected an errno: EACCES, EAGAIN, EINVAL, ENOENT, ENOSYS or EPERM",
		text);
}
