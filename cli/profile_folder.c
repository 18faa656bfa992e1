// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/pprof_read.h"
#include "ipc/journal_replay.h"

#define SUFFIX	     ".pb.gz"
#define LABEL_PREFIX "label " /* a comment `label NAME=VALUE` is a label of the whole profile */

/* Opens below the folder; a link, wherever it leads, is refused. */
static int open_below(int folder, const char *name, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* -- the account ----------------------------------------------------------------------------------
 */

/* A profile whose line is the journal's last may not have got its name, when the uploader was
 * killed right then. */
static void settle_last_profile(const struct profile_folder *f, struct journal_replay *r)
{
	const struct journal_entry *e = &r->last_profile;

	if (!r->doubt || !faccessat(f->fd, e->file, F_OK, AT_SYMLINK_NOFOLLOW))
		return;
	ledger_profile_undone(r->ledger, e->account.symbolizer_id, e->account.window, e->index,
			      e->samples);
}

int profile_folder_account(const struct profile_folder *f, const struct counters_record *last,
			   struct ledger_table *t)
{
	struct journal_replay *r = calloc(1, sizeof(*r));
	int fd = open_below(f->fd, JOURNAL_NAME, O_RDONLY);
	int error = r ? journal_replay_begin(r) : -ENOMEM;

	if (!error && fd >= 0)
		error = journal_replay_file(r, fd);
	if (!error) {
		settle_last_profile(f, r);
		if (last)
			ledger_final_counters(r->ledger, last);
		ledger_sum(r->ledger, true, t);
	}
	if (r)
		journal_replay_end(r);
	free(r);
	if (fd >= 0)
		close(fd);
	return error;
}

/* -- the profiles ---------------------------------------------------------------------------------
 */

/* The labels of a whole profile: what tells its process. */
struct process_labels {
	struct pprof_merge_label items[PPROF_MERGE_LABELS_MAX]; /* texts belong to the profile */
	uint32_t count;
	int64_t pid; /* 0 = unknown */
};

static bool string_is(struct pprof_string s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.text, text, s.len) == 0;
}

/* Splits `label NAME=VALUE`. False for other comments, and where NAME or VALUE is empty. */
static bool split_label(struct pprof_string s, struct pprof_string *name,
			struct pprof_string *value)
{
	const uint32_t prefix = strlen(LABEL_PREFIX);
	const char *equals;

	if (s.len <= prefix || memcmp(s.text, LABEL_PREFIX, prefix) != 0)
		return false;
	name->text = s.text + prefix;
	equals = memchr(name->text, '=', s.len - prefix);
	if (!equals)
		return false;
	name->len = (uint32_t)(equals - name->text);
	value->text = equals + 1;
	value->len = s.len - prefix - name->len - 1;
	return name->len && value->len;
}

/* A decimal number of at most 18 digits; 0 for anything else. */
static int64_t decimal(struct pprof_string s)
{
	int64_t number = 0;

	for (uint32_t i = 0; i < s.len; i++) {
		if (s.len > 18 || s.text[i] < '0' || s.text[i] > '9')
			return 0;
		number = number * 10 + (s.text[i] - '0');
	}
	return number;
}

static void add_label(struct process_labels *l, struct pprof_string name, struct pprof_string value)
{
	struct pprof_merge_label label = { .key = name, .text = value };

	/* Names that begin so are the metric's, as Prometheus has it, not a label's. */
	if (string_is(name, "__name__") || l->count == PPROF_MERGE_LABELS_MAX)
		return;
	if (string_is(name, "pid")) {
		l->pid = label.number = decimal(value);
		label.text.len = 0;
	}
	l->items[l->count++] = label;
}

static void labels_from_comments(const struct pprof *p, struct process_labels *l)
{
	struct pprof_string name;
	struct pprof_string value;

	for (uint32_t i = 0; i < p->comments.count; i++)
		if (split_label(p->strings.items[p->comments.items[i]], &name, &value))
			add_label(l, name, value);
}

static void note_problem(struct profile_folder *f, const char *name, const char *what)
{
	if (!f->bad_files++)
		snprintf(f->problem, sizeof(f->problem), "%.100s: %s", name, what);
}

static const char *merge_one(struct pprof_merge *m, const struct pprof *p, pid_t command)
{
	struct process_labels l = { .count = 0 };

	labels_from_comments(p, &l);
	return pprof_merge_add(m, p, l.items, l.count, command && l.pid == command);
}

/* A file that cannot be read is noted and left out; a merge that fails is the end. */
static const char *merge_file(struct profile_folder *f, struct pprof_merge *m, int folder,
			      const char *name, pid_t command)
{
	const char *problem;
	struct pprof p;
	int fd = open_below(folder, name, O_RDONLY);

	if (fd < 0) {
		note_problem(f, name, strerror(-fd));
		return NULL;
	}
	problem = pprof_read_file(&p, fd);
	close(fd);
	if (problem) {
		note_problem(f, name, problem);
		return NULL;
	}
	problem = merge_one(m, &p, command);
	pprof_free(&p);
	f->files += !problem;
	return problem;
}

static int is_profile(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > strlen(SUFFIX) &&
	       !strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX);
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

/* Merges the profiles in one day's folder, by name, which is by time. */
static const char *merge_day(struct profile_folder *f, struct pprof_merge *m, const char *day,
			     pid_t command)
{
	int folder = open_below(f->fd, day, O_RDONLY | O_DIRECTORY);
	const char *problem = NULL;
	struct dirent **files;
	int count;

	if (folder < 0) {
		note_problem(f, day, strerror(-folder));
		return NULL;
	}
	count = scandirat(folder, ".", &files, is_profile, alphasort);
	for (int i = 0; i < count; i++) {
		if (!problem)
			problem = merge_file(f, m, folder, files[i]->d_name, command);
		free(files[i]);
	}
	if (count >= 0)
		free(files);
	else
		note_problem(f, day, strerror(errno));
	close(folder);
	return problem;
}

const char *profile_folder_merge(struct profile_folder *f, struct pprof_merge *m, pid_t command)
{
	const char *problem = NULL;
	struct dirent **days;
	int count = scandirat(f->fd, ".", &days, is_folder, alphasort);

	if (count < 0)
		return strerror(errno);
	for (int i = 0; i < count; i++) {
		if (!problem)
			problem = merge_day(f, m, days[i]->d_name, command);
		free(days[i]);
	}
	free(days);
	return problem;
}
