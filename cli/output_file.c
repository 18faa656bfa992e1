// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_TRIES 100

/* Named by local time, which is what the person who looks for the file remembers. */
static void make_name(struct output_file *f, enum record_format format, unsigned int attempt)
{
	time_t now = time(NULL);
	char stamp[32] = "unknown";
	char more[16] = "";
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	if (attempt)
		snprintf(more, sizeof(more), "-%u", attempt);
	snprintf(f->path, sizeof(f->path), "belfry-%s%s.%s", stamp, more,
		 format == RECORD_FOLDED ? "folded" : "pb.gz");
}

static int open_folder(struct output_file *f)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", f->path);
	slash = strrchr(folder, '/');
	f->name = slash ? f->path + (slash - folder) + 1 : f->path;
	if (slash)
		slash[slash == folder] = '\0';
	f->folder = open(slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return f->folder < 0 ? -errno : 0;
}

static int create(struct output_file *f)
{
	f->fd = openat(f->folder, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0600);
	f->created = f->fd >= 0;
	return f->fd < 0 ? -errno : 0;
}

/* Opens what is there already; O_NONBLOCK, since opening a FIFO would wait for a reader. */
static const char *open_existing(struct output_file *f, uid_t owner)
{
	struct stat st;

	f->fd = openat(f->folder, f->name,
		       O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
	if (fstat(f->fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it exists and is not a regular file";
	if (st.st_uid != owner)
		return "it exists and belongs to another user";
	return NULL;
}

static const char *open_named(struct output_file *f, uid_t owner)
{
	int error = open_folder(f);

	if (!error)
		error = create(f);
	if (error == -EEXIST)
		return open_existing(f, owner);
	return error ? strerror(-error) : NULL;
}

static const char *open_timed(struct output_file *f, enum record_format format)
{
	int error = 0;

	for (unsigned int i = 0; i < NAME_TRIES; i++) {
		make_name(f, format, i);
		if (f->folder < 0)
			error = open_folder(f);
		else
			f->name = f->path;
		if (!error)
			error = create(f);
		if (error != -EEXIST)
			break;
		error = 0;
	}
	if (f->fd < 0 && !error)
		error = -EEXIST;
	return error ? strerror(-error) : NULL;
}

static const char *open_standard_output(struct output_file *f, enum record_format format)
{
	snprintf(f->path, sizeof(f->path), "-");
	f->name = f->path;
	f->standard_output = true;
	f->fd = STDOUT_FILENO;
	if (format == RECORD_PPROF && isatty(STDOUT_FILENO))
		return "a compressed profile is not written to a terminal";
	return NULL;
}

static const char *open_as_user(struct output_file *f, const struct record_options *o, uid_t owner)
{
	if (!o->output)
		return open_timed(f, o->format);
	snprintf(f->path, sizeof(f->path), "%s", o->output);
	if (strlen(o->output) >= sizeof(f->path))
		return strerror(ENAMETOOLONG);
	return open_named(f, owner);
}

bool output_file_open(struct output_file *f, const struct record_options *o,
		      const struct invoking_user *u, char *problem, size_t size)
{
	const char *reason;
	int error;

	*f = (struct output_file){ .fd = -1, .folder = -1 };
	if (o->format == RECORD_TOP && !o->output)
		return true; /* the table is printed anyway */
	if (o->output && !strcmp(o->output, "-")) {
		reason = open_standard_output(f, o->format);
	} else {
		error = privileges_lend(&u->person);
		reason = error ? strerror(-error) : open_as_user(f, o, u->person.uid);
		if (!error)
			privileges_return();
	}
	if (reason)
		snprintf(problem, size, "cannot write %s as user %u: %s",
			 *f->path ? f->path : o->output, u->person.uid, reason);
	return !reason;
}

int output_file_begin(struct output_file *f)
{
	if (f->standard_output || f->fd < 0)
		return 0;
	return ftruncate(f->fd, 0) ? -errno : 0;
}

int output_file_discard(struct output_file *f)
{
	if (!f->created)
		return 0;
	return unlinkat(f->folder, f->name, 0) ? -errno : 0;
}
