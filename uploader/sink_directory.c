// SPDX-License-Identifier: Apache-2.0
#include "uploader/sink_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/log.h"
#include "uploader/folder.h"

#define DAYS_MAX       4096 /* folders; more than eleven years */
#define SAME_NAME_MAX  1000 /* files that differ in their number alone */
#define REMOVE_AT_ONCE 64   /* names kept in memory while the oldest are looked for */
#define FILE_MODE      0640

/* What one folder holds. The files' names stay on disk: there may be millions. */
struct day {
	char name[SINK_DAY_LEN + 1];
	uint64_t began; /* s since 1970 */
	uint64_t bytes;
	uint64_t files;
};

struct sink {
	struct sink_options options;
	uint64_t bytes;
	uint64_t files;
	uint64_t failed; /* in a row */
	uint32_t day_count;
	struct day days[DAYS_MAX]; /* oldest first */
};

/* A series of failures is logged when it begins and when it is over, not once for each profile. */
static int failed(struct sink *s, const char *doing, const char *file, int error)
{
	if (s->failed++ == 0)
		log_warn("profile_not_written", "%s: %s: %s", file, doing, strerror(error));
	return -error;
}

static void succeeded(struct sink *s)
{
	if (s->failed)
		log_warn("profiles_written_again", "%llu profiles were lost before",
			 (unsigned long long)s->failed);
	s->failed = 0;
}

/* -- what is there -------------------------------------------------------------------------- */

static struct day *find_day(struct sink *s, const char *name, bool make)
{
	uint64_t began;
	uint32_t i = 0;

	while (i < s->day_count && strcmp(s->days[i].name, name) < 0)
		i++;
	if (i < s->day_count && strcmp(s->days[i].name, name) == 0)
		return &s->days[i];
	if (!make || s->day_count == DAYS_MAX || !sink_name_parse_day(name, &began))
		return NULL;
	memmove(&s->days[i + 1], &s->days[i], (s->day_count - i) * sizeof(s->days[0]));
	s->day_count++;
	s->days[i] = (struct day){ .began = began };
	memcpy(s->days[i].name, name, SINK_DAY_LEN);
	return &s->days[i];
}

static void forget_day(struct sink *s, struct day *d)
{
	s->bytes -= d->bytes;
	s->files -= d->files;
	s->day_count--;
	memmove(d, d + 1, (size_t)(&s->days[s->day_count] - d) * sizeof(*d));
}

static void count_file(struct sink *s, struct day *d, uint64_t bytes)
{
	s->bytes += bytes;
	s->files++;
	d->bytes += bytes;
	d->files++;
}

static void count_folder(struct sink *s, struct day *d, int folder)
{
	const struct dirent *entry;
	DIR *list = folder_list(folder);
	uint32_t seconds;
	int64_t size;

	if (!list)
		return;
	while ((entry = readdir(list))) {
		if (sink_name_is_temporary(entry->d_name)) {
			unlinkat(folder, entry->d_name, 0);
			log_info("temporary_removed", "%s/%s: half-written, left by an earlier run",
				 d->name, entry->d_name);
		} else if (sink_name_parse_file(entry->d_name, &seconds)) {
			size = folder_file_size(folder, entry->d_name);
			if (size >= 0)
				count_file(s, d, (uint64_t)size);
		}
	}
	closedir(list);
}

static int count_all(struct sink *s)
{
	const struct dirent *entry;
	DIR *list = folder_list(s->options.directory);
	uint64_t began;

	if (!list)
		return -errno;
	while ((entry = readdir(list))) {
		struct day *d;
		int folder;

		if (!sink_name_parse_day(entry->d_name, &began))
			continue;
		folder = folder_open(s->options.directory, entry->d_name);
		if (folder < 0) {
			log_warn("folder_refused",
				 "%s: a link, no directory, or not ours: left alone",
				 entry->d_name);
			continue;
		}
		d = find_day(s, entry->d_name, true);
		if (d)
			count_folder(s, d, folder);
		close(folder);
	}
	closedir(list);
	return 0;
}

int sink_new(struct sink **out, const struct sink_options *o)
{
	struct sink *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return -ENOMEM;
	s->options = *o;
	error = count_all(s);
	if (error) {
		log_error("sink_directory", "listing the directory: %s", strerror(-error));
		free(s);
		return error;
	}
	*out = s;
	return 0;
}

void sink_free(struct sink *s)
{
	free(s);
}

uint64_t sink_bytes(const struct sink *s)
{
	return s->bytes;
}

uint64_t sink_files(const struct sink *s)
{
	return s->files;
}

/* -- keeping the limits --------------------------------------------------------------------- */

struct oldest {
	uint32_t count;
	char names[REMOVE_AT_ONCE][JOURNAL_FILE_MAX]; /* ascending */
};

static void offer_name(struct oldest *o, const char *name)
{
	uint32_t i = o->count;

	while (i > 0 && strcmp(name, o->names[i - 1]) < 0)
		i--;
	if (i == REMOVE_AT_ONCE)
		return;
	if (o->count < REMOVE_AT_ONCE)
		o->count++;
	memmove(o->names[i + 1], o->names[i], (o->count - i - 1) * sizeof(o->names[0]));
	/* Names of ours are shorter than that: sink_name_parse_file(). */
	memcpy(o->names[i], name, strnlen(name, JOURNAL_FILE_MAX - 1));
	o->names[i][strnlen(name, JOURNAL_FILE_MAX - 1)] = '\0';
}

static void list_oldest(int folder, struct oldest *o)
{
	const struct dirent *entry;
	DIR *list = folder_list(folder);
	uint32_t seconds;

	o->count = 0;
	if (!list)
		return;
	while ((entry = readdir(list)))
		if (sink_name_parse_file(entry->d_name, &seconds) &&
		    folder_file_size(folder, entry->d_name) >= 0)
			offer_name(o, entry->d_name);
	closedir(list);
}

/* What the limits ask for: nothing older than `not_before`, and `room` bytes free below the limit.
 */
struct limit {
	uint64_t not_before;
	uint64_t room;
};

static bool over_limit(const struct sink *s, const struct limit *limit, uint64_t time)
{
	return time < limit->not_before || s->bytes + limit->room > s->options.max_bytes;
}

static bool remove_file(struct sink *s, struct day *d, int folder, const char *name)
{
	char file[JOURNAL_FILE_MAX + SINK_DAY_LEN + 2];
	int64_t size = folder_file_size(folder, name);

	snprintf(file, sizeof(file), "%s/%s", d->name, name);
	if (unlinkat(folder, name, 0) < 0) {
		log_warn("file_not_removed", "%s: removing to keep the limits: %s", file,
			 strerror(errno));
		return false;
	}
	size = size < 0 ? 0 : size;
	/* A file that grew since it was counted must not pull the sums below zero. */
	size = (uint64_t)size > d->bytes ? (int64_t)d->bytes : size;
	d->bytes -= (uint64_t)size;
	s->bytes -= (uint64_t)size;
	if (d->files) {
		d->files--;
		s->files--;
	}
	if (s->options.on_removed)
		s->options.on_removed(s->options.context, file, (uint64_t)size);
	return true;
}

/* Removes from one folder what must go. Returns false when it stopped before its end. */
static bool thin_folder(struct sink *s, struct day *d, int folder, const struct limit *limit)
{
	struct oldest oldest;
	uint32_t seconds;

	do {
		list_oldest(folder, &oldest);
		for (uint32_t i = 0; i < oldest.count; i++) {
			sink_name_parse_file(oldest.names[i], &seconds);
			if (!over_limit(s, limit, d->began + seconds) ||
			    !remove_file(s, d, folder, oldest.names[i]))
				return false;
		}
	} while (oldest.count);
	return true;
}

/* Oldest folder first; a folder that is empty afterwards goes as well. */
static void keep_limits(struct sink *s, const struct limit *limit)
{
	while (s->day_count && over_limit(s, limit, s->days[0].began)) {
		struct day *d = &s->days[0];
		int folder = folder_open(s->options.directory, d->name);

		if (folder < 0) {
			log_warn("folder_refused", "%s: was ours, and is no longer: forgotten",
				 d->name);
			forget_day(s, d);
			continue;
		}
		if (!thin_folder(s, d, folder, limit)) {
			close(folder);
			return;
		}
		close(folder);
		/* Fails where somebody keeps files of his own there: the folder then stays,
		 * unwatched. */
		unlinkat(s->options.directory, d->name, AT_REMOVEDIR);
		forget_day(s, d);
	}
}

void sink_keep_limits(struct sink *s, uint64_t now)
{
	const struct limit limit = {
		.not_before = now > s->options.max_age ? now - s->options.max_age : 0,
	};

	keep_limits(s, &limit);
}

/* -- writing -------------------------------------------------------------------------------- */

static const char *base_name(const char *file)
{
	return file + SINK_DAY_LEN + 1;
}

static void temporary_name(const char *file, char out[JOURNAL_FILE_MAX + 8])
{
	snprintf(out, JOURNAL_FILE_MAX + 8, ".%s.tmp", base_name(file));
}

static void day_name(const char *file, char out[SINK_DAY_LEN + 1])
{
	memcpy(out, file, SINK_DAY_LEN);
	out[SINK_DAY_LEN] = '\0';
}

/* Picks the first number under which neither a file nor anything else lies. */
static int pick_name(struct sink_file *f, const struct sink_profile *p)
{
	struct stat st;

	for (uint32_t number = 0; number < SAME_NAME_MAX; number++) {
		sink_name_format(f->name, p->time, p->comm, p->pid, number);
		if (fstatat(f->day, base_name(f->name), &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -errno;
	}
	return -EEXIST;
}

static int write_all(int fd, const uint8_t *bytes, uint32_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= (uint32_t)n;
	}
	return 0;
}

static int write_temporary(const struct sink *s, const struct sink_file *f,
			   const struct sink_profile *p)
{
	char name[JOURNAL_FILE_MAX + 8];
	int error;
	int fd;

	temporary_name(f->name, name);
	fd = openat(f->day, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return -errno;
	error = write_all(fd, p->bytes, p->len);
	if (!error && s->options.sync && fdatasync(fd) < 0)
		error = -errno;
	/* Network and quota file systems report a failed write here at the latest. */
	if (close(fd) < 0 && !error)
		error = -errno;
	if (error)
		unlinkat(f->day, name, 0);
	return error;
}

int sink_prepare(struct sink *s, const struct sink_profile *p, struct sink_file *f)
{
	char day[SINK_DAY_LEN + 1];
	int error;

	*f = (struct sink_file){ .day = -1, .bytes = p->len };
	sink_name_format(f->name, p->time, p->comm, p->pid, 0);
	if (p->len > s->options.max_bytes)
		return failed(s, "larger than all profiles together may be", f->name, EFBIG);
	keep_limits(s, &(struct limit){ .room = p->len });
	day_name(f->name, day);
	f->day = folder_make(s->options.directory, day);
	if (f->day < 0)
		return failed(s, "opening its folder, which must be ours and no link", f->name,
			      -f->day);
	error = find_day(s, day, true) ? pick_name(f, p) : -EDQUOT;
	if (error) {
		close(f->day);
		return failed(s, "finding a name for it", f->name, -error);
	}
	error = write_temporary(s, f, p);
	if (error) {
		close(f->day);
		return failed(s, "writing", f->name, -error);
	}
	return 0;
}

/* Renames without replacing; file systems that cannot do that in one step get it in two. */
static int give_name(int day, const char *file)
{
	char from[JOURNAL_FILE_MAX + 8];
	struct stat st;

	temporary_name(file, from);
	if (renameat2(day, from, day, base_name(file), RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (fstatat(day, base_name(file), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(day, from, day, base_name(file)) == 0 ? 0 : -errno;
}

int sink_commit(struct sink *s, struct sink_file *f)
{
	char day[SINK_DAY_LEN + 1];
	struct day *d;
	int error = give_name(f->day, f->name);

	if (error) {
		sink_abandon(f);
		return failed(s, "giving it its name", f->name, -error);
	}
	close(f->day);
	day_name(f->name, day);
	d = find_day(s, day, true);
	if (d)
		count_file(s, d, f->bytes);
	succeeded(s);
	return 0;
}

void sink_abandon(struct sink_file *f)
{
	char name[JOURNAL_FILE_MAX + 8];

	temporary_name(f->name, name);
	unlinkat(f->day, name, 0);
	close(f->day);
}

int sink_settle(int directory, const char *file, uint64_t bytes)
{
	char day[SINK_DAY_LEN + 1];
	char name[JOURNAL_FILE_MAX + 8];
	uint64_t began;
	int error = 0;
	int folder;

	if (!journal_file_valid(file) || strlen(file) <= SINK_DAY_LEN + 1 ||
	    file[SINK_DAY_LEN] != '/')
		return -EINVAL;
	day_name(file, day);
	if (!sink_name_parse_day(day, &began))
		return -EINVAL;
	folder = folder_open(directory, day);
	if (folder < 0)
		return folder;
	temporary_name(file, name);
	if (folder_file_size(folder, base_name(file)) < 0)
		error = folder_file_size(folder, name) == (int64_t)bytes ? give_name(folder, file)
									 : -ENOENT;
	close(folder);
	return error;
}
