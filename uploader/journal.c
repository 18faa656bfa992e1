// SPDX-License-Identifier: Apache-2.0
#include "uploader/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/journal_replay.h"
#include "ipc/ledger_checkpoint.h"
#include "ipc/log.h"
#include "uploader/sink_directory.h"

#define TEMPORARY ".journal.tmp"
#define FILE_MODE 0640

struct journal {
	int directory; /* lent */
	int fd;
	uint64_t limit;
	uint64_t bytes;	     /* of the file */
	uint64_t checkpoint; /* bytes of its beginning that are a checkpoint */
	bool stale;	     /* a line is missing: a checkpoint must come first */
	bool failing;
	bool found_end;
	struct ledger *ledger;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec > 0 ? (uint64_t)t.tv_sec : 0;
}

/* Appends all of it or nothing: half a line would spoil the next one. */
static int write_whole(int fd, uint64_t at, const char *bytes, uint32_t len)
{
	uint32_t done = 0;
	int error;

	while (done < len) {
		ssize_t n = write(fd, bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (uint32_t)n;
	}
	if (done == len)
		return 0;
	error = -errno;
	if (done && ftruncate(fd, (off_t)at) < 0)
		log_error("journal", "%s: cutting off a half-written line: %s", JOURNAL_NAME,
			  strerror(errno));
	return error;
}

/* A checkpoint goes out as a whole as well, through one buffer. */
struct checkpoint_text {
	char *bytes;
	uint32_t len;
	uint32_t size;
};

static int add_line(void *context, const struct journal_entry *e)
{
	struct checkpoint_text *text = context;
	uint32_t n;

	if (text->size - text->len < JOURNAL_LINE_MAX) {
		uint32_t size = text->size * 2 + 16 * JOURNAL_LINE_MAX;
		char *bytes = realloc(text->bytes, size);

		if (!bytes)
			return -ENOMEM;
		text->bytes = bytes;
		text->size = size;
	}
	n = journal_entry_encode(e, text->bytes + text->len, text->size - text->len);
	text->len += n;
	return n ? 0 : -EINVAL;
}

static int write_checkpoint(const struct journal *j, int fd, uint64_t at, uint64_t *bytes)
{
	struct checkpoint_text text = { 0 };
	int error = ledger_checkpoint(j->ledger, now(), add_line, &text);

	if (!error)
		error = write_whole(fd, at, text.bytes, text.len);
	*bytes = text.len;
	free(text.bytes);
	return error;
}

/* Makes up for missing lines in place. */
static int append_checkpoint(struct journal *j)
{
	uint64_t bytes;
	int error = write_checkpoint(j, j->fd, j->bytes, &bytes);

	if (error)
		return error;
	j->bytes += bytes;
	j->stale = false;
	return 0;
}

/* `journal` is there under its name all the time: the old one gets a second name first. */
static int rotate(struct journal *j)
{
	uint64_t bytes;
	int error;
	int fd;

	unlinkat(j->directory, TEMPORARY, 0);
	fd = openat(j->directory, TEMPORARY,
		    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return -errno;
	error = write_checkpoint(j, fd, 0, &bytes);
	if (!error && fdatasync(fd) < 0)
		error = -errno;
	if (!error) {
		unlinkat(j->directory, JOURNAL_OLD, 0);
		if (linkat(j->directory, JOURNAL_NAME, j->directory, JOURNAL_OLD, 0) < 0)
			log_warn("journal", "%s: keeping it as %s: %s", JOURNAL_NAME, JOURNAL_OLD,
				 strerror(errno));
		if (renameat(j->directory, TEMPORARY, j->directory, JOURNAL_NAME) < 0)
			error = -errno;
	}
	if (error) {
		close(fd);
		unlinkat(j->directory, TEMPORARY, 0);
		return error;
	}
	close(j->fd);
	j->fd = fd;
	j->bytes = bytes;
	j->checkpoint = bytes;
	j->stale = false;
	return 0;
}

static int make_ready(struct journal *j)
{
	int error = 0;

	/* A checkpoint alone may be larger than a small limit: then only what follows it counts. */
	if (j->bytes - j->checkpoint >= j->limit)
		error = rotate(j);
	if (!error && j->stale)
		error = append_checkpoint(j);
	return error;
}

int journal_append(struct journal *j, struct journal_entry *e)
{
	char line[JOURNAL_LINE_MAX];
	uint32_t len;
	int error;

	e->time = now();
	len = journal_entry_encode(e, line, sizeof(line));
	error = len ? make_ready(j) : -EINVAL;
	if (!error)
		error = write_whole(j->fd, j->bytes, line, len);
	if (error) {
		if (!j->failing)
			log_warn("journal", "%s: adding a line: %s", JOURNAL_NAME,
				 strerror(-error));
		j->failing = true;
		j->stale = true;
		return error;
	}
	if (j->failing)
		log_warn("journal", "%s: lines can be added again", JOURNAL_NAME);
	j->failing = false;
	j->bytes += len;
	return 0;
}

void journal_sync(struct journal *j)
{
	if (fdatasync(j->fd) < 0)
		log_warn("journal", "%s: bringing it to the disk: %s", JOURNAL_NAME,
			 strerror(errno));
}

bool journal_found_end(const struct journal *j)
{
	return j->found_end;
}

struct ledger *journal_ledger(struct journal *j)
{
	return j->ledger;
}

/* The only profile whose file may not be there is the one of the very last line. */
static void settle(struct journal *j, const struct journal_replay *r)
{
	struct journal_entry undone = r->last_profile;
	int error;

	if (!r->doubt)
		return;
	error = sink_settle(j->directory, undone.file, undone.bytes);
	if (!error)
		return;
	log_warn("profile_not_written", "%s: an earlier run was stopped while writing it",
		 undone.file);
	undone.kind = JOURNAL_UNDONE;
	journal_append(j, &undone);
	ledger_profile_undone(j->ledger, undone.account.symbolizer_id, undone.account.window,
			      undone.index, undone.samples);
}

static int read_back(struct journal *j)
{
	struct journal_entry start = { .kind = JOURNAL_START };
	struct journal_replay *r = malloc(sizeof(*r));
	int error = r ? journal_replay_begin(r) : -ENOMEM;

	if (error) {
		free(r);
		return error;
	}
	error = journal_replay_file(r, j->fd);
	if (r->bad_lines)
		log_warn("journal_damaged",
			 "%s: %llu of %llu lines could not be read; line %llu: %s", JOURNAL_NAME,
			 (unsigned long long)r->bad_lines, (unsigned long long)r->lines,
			 (unsigned long long)r->wrong_line, r->wrong);
	/* A killed run may have left half a line. */
	if (!error && ftruncate(j->fd, (off_t)r->whole) < 0)
		error = -errno;
	if (!error) {
		j->ledger = r->ledger;
		r->ledger = NULL;
		j->bytes = r->whole;
		j->found_end = r->ended;
		settle(j, r);
		journal_append(j, &start);
	}
	journal_replay_end(r);
	free(r);
	return error;
}

static int open_file(int directory)
{
	struct stat st;
	int fd = openat(directory, JOURNAL_NAME,
			O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			FILE_MODE);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		error = -EPERM;
	if (!error)
		return fd;
	close(fd);
	return error;
}

int journal_open(struct journal **out, int directory, uint64_t limit)
{
	struct journal *j;
	int error = 0;

	/* Two accounts in one directory would both be wrong. The lock goes with the process. */
	if (flock(directory, LOCK_EX | LOCK_NB) < 0) {
		error = errno == EWOULDBLOCK ? -EBUSY : -errno;
		log_error("journal", "locking the directory: %s",
			  error == -EBUSY ? "another uploader works in it" : strerror(-error));
		return error;
	}
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->directory = directory;
	j->limit = limit;
	j->fd = open_file(directory);
	if (j->fd < 0)
		error = j->fd;
	else
		error = read_back(j);
	if (!error) {
		*out = j;
		return 0;
	}
	log_error("journal", "%s: opening and reading it, a file of our own and no link: %s",
		  JOURNAL_NAME, strerror(-error));
	if (j->fd >= 0)
		close(j->fd);
	free(j);
	return error;
}

void journal_close(struct journal *j)
{
	struct journal_entry stop = { .kind = JOURNAL_STOP };

	if (!j)
		return;
	journal_append(j, &stop);
	journal_sync(j);
	close(j->fd);
	ledger_free(j->ledger);
	free(j);
}
