/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024
#define MESSAGE_MAX_BYTES 768

/* Set once by main() before anything else runs. */
static const char *role_name = "belfry";
static int verbose_lines;

void log_init(const char *role, int verbose)
{
	role_name = role;
	verbose_lines = verbose;
}

/* Escapes what would break a key=value line or a terminal: quotes, backslashes, control bytes. */
static size_t escape(const char *in, char *out, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t len = 0;

	for (; *in && len + 5 < size; in++) {
		unsigned char byte = (unsigned char)*in;

		if (byte == '"' || byte == '\\') {
			out[len++] = '\\';
			out[len++] = (char)byte;
		} else if (byte < 0x20 || byte == 0x7f) {
			out[len++] = '\\';
			out[len++] = 'x';
			out[len++] = hex[byte >> 4];
			out[len++] = hex[byte & 15];
		} else {
			out[len++] = (char)byte;
		}
	}
	out[len] = '\0';
	return len;
}

static void __attribute__((format(printf, 3, 0)))
write_line(const char *level, const char *id, const char *format, va_list arguments)
{
	char message[MESSAGE_MAX_BYTES];
	char escaped[MESSAGE_MAX_BYTES];
	char line[LINE_MAX_BYTES];
	int len;
	ssize_t written;

	vsnprintf(message, sizeof(message), format, arguments);
	escape(message, escaped, sizeof(escaped));
	len = snprintf(line, sizeof(line), "level=%s id=%s role=%s msg=\"%s\"\n", level, id,
		       role_name, escaped);
	if (len <= 0)
		return;
	if ((size_t)len >= sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	/* One write a line keeps lines of several roles apart; nothing can be done about a failure. */
	written = write(STDERR_FILENO, line, (size_t)len);
	(void)written;
}

void log_error(const char *id, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line("error", id, format, arguments);
	va_end(arguments);
}

void log_warn(const char *id, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line("warn", id, format, arguments);
	va_end(arguments);
}

void log_info(const char *id, const char *format, ...)
{
	va_list arguments;

	if (!verbose_lines)
		return;
	va_start(arguments, format);
	write_line("info", id, format, arguments);
	va_end(arguments);
}

void log_debug(const char *id, const char *format, ...)
{
	va_list arguments;

	if (verbose_lines < 2)
		return;
	va_start(arguments, format);
	write_line("debug", id, format, arguments);
	va_end(arguments);
}
