/* SPDX-License-Identifier: Apache-2.0 */
/*
 * built_file: programs that a test compiles in a folder of its own, and what binutils say about
 * them.
 */
#ifndef BELFRY_TESTS_UNIT_BUILT_FILE_H
#define BELFRY_TESTS_UNIT_BUILT_FILE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"

struct built_file {
	char directory[64];
	char path[128];
	int fd;
	uint64_t size;
};

static inline void run_command(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void run_command(const char *format, ...)
{
	char command[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

/* Opens (again) the file that a command has made or changed. */
static inline void built_file_open(struct built_file *f)
{
	struct stat s;

	if (f->fd >= 0)
		close(f->fd);
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(fstat(f->fd, &s), 0);
	f->size = (uint64_t)s.st_size;
}

/* Compiles `source` (language by `extension`) with gcc and `flags`. */
static inline struct built_file built_file_from(const char *source, const char *extension,
						const char *flags)
{
	struct built_file f = { .directory = "/tmp/belfry-test.XXXXXX", .fd = -1 };
	char text[128];
	FILE *out;

	assert_non_null(mkdtemp(f.directory));
	snprintf(f.path, sizeof(f.path), "%s/built", f.directory);
	snprintf(text, sizeof(text), "%s/source.%s", f.directory, extension);
	out = fopen(text, "w");
	assert_non_null(out);
	fputs(source, out);
	fclose(out);
	run_command("gcc -w %s -o %s %s", text, f.path, flags);
	built_file_open(&f);
	return f;
}

static inline void built_file_remove(struct built_file *f)
{
	close(f->fd);
	run_command("rm -rf %s", f->directory);
}

#endif
