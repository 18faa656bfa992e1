/* SPDX-License-Identifier: Apache-2.0 */
/* sink_fixture: a fresh directory for a test, and small looks into it. */
#ifndef BELFRY_TESTS_UNIT_SINK_FIXTURE_H
#define BELFRY_TESTS_UNIT_SINK_FIXTURE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"

struct sink_fixture {
	char path[64];
	int directory;
};

static inline int fixture_setup(void **state)
{
	struct sink_fixture *f = calloc(1, sizeof(*f));

	umask(0027);
	snprintf(f->path, sizeof(f->path), "/tmp/belfry-test.XXXXXX");
	if (!mkdtemp(f->path))
		return -1;
	f->directory = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return f->directory < 0;
}

static inline int fixture_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline int fixture_teardown(void **state)
{
	struct sink_fixture *f = *state;

	close(f->directory);
	nftw(f->path, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static inline bool fixture_exists(const struct sink_fixture *f, const char *name)
{
	struct stat st;

	return fstatat(f->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes or extends a file. */
static inline void fixture_write(const struct sink_fixture *f, const char *name, const void *bytes,
				 size_t len)
{
	int fd = openat(f->directory, name, O_WRONLY | O_CREAT | O_APPEND, 0640);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* The whole file as a string; the caller frees it. */
static inline char *fixture_read(const struct sink_fixture *f, const char *name)
{
	char *text = calloc(1, 1 << 20);
	int fd = openat(f->directory, name, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, text, (1 << 20) - 1) >= 0);
	close(fd);
	return text;
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
