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
#define COMM_MAX     64

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

/* What tells this profile's process. */
struct process_labels {
	char comm[COMM_MAX];
	int64_t pid; /* 0 = unknown */
};

static bool label_value(struct pprof_string s, const char *name, char *out, size_t size)
{
	size_t prefix = strlen(LABEL_PREFIX);
	size_t len = strlen(name);
	size_t value;

	if (s.len < prefix + len + 1 || memcmp(s.text, LABEL_PREFIX, prefix) != 0 ||
	    memcmp(s.text + prefix, name, len) != 0 || s.text[prefix + len] != '=')
		return false;
	value = s.len - prefix - len - 1;
	if (value >= size)
		value = size - 1;
	memcpy(out, s.text + prefix + len + 1, value);
	out[value] = '\0';
	return true;
}

static void labels_from_comments(const struct pprof *p, struct process_labels *l)
{
	for (uint32_t i = 0; i < p->comments.count; i++) {
		struct pprof_string s = p->strings.items[p->comments.items[i]];
		char number[24];

		label_value(s, "comm", l->comm, sizeof(l->comm));
		if (label_value(s, "pid", number, sizeof(number)))
			l->pid = strtoll(number, NULL, 10);
	}
}

static void note_problem(struct profile_folder *f, const char *name, const char *what)
{
	if (!f->bad_files++)
		snprintf(f->problem, sizeof(f->problem), "%.100s: %s", name, what);
}

static const char *merge_one(struct pprof_merge *m, const struct pprof *p, pid_t command)
{
	struct process_labels l = { .comm = "" };
	struct pprof_merge_label labels[2];
	uint32_t count = 0;

	labels_from_comments(p, &l);
	if (*l.comm)
		labels[count++] = (struct pprof_merge_label){ .key = "comm", .text = l.comm };
	if (l.pid)
		labels[count++] = (struct pprof_merge_label){ .key = "pid", .number = l.pid };
	return pprof_merge_add(m, p, labels, count, command && l.pid == command);
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
