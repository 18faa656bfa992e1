// SPDX-License-Identifier: Apache-2.0
#include "cli/record_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/pprof_write.h"
#include "cli/profile_folder.h"
#include "cli/report.h"
#include "cli/terminal_text.h"

#define TOP_SHOWN     10  /* in the summary */
#define TOP_WRITTEN   100 /* with --format top */
#define COMMENT_MAX   2048
#define NS_PER_SECOND 1000000000
#define NS_PER_MS     1000000

struct result {
	struct recording *r;
	struct profile_folder folder;
	struct pprof_merge *merge;
	const struct pprof *profile;
	struct ledger_table table;
	uint64_t merged_samples;
	FILE *out;     /* of the summary */
	int out_error; /* errno of its end */
};

static void add_comments(struct result *x)
{
	const struct record_options *o = x->r->options;
	char text[COMMENT_MAX];

	snprintf(text, sizeof(text), "belfry record: %u Hz, %" PRIu64 ".%03" PRIu64 " s%s%.100s",
		 o->frequency, x->r->elapsed_ms / 1000, x->r->elapsed_ms % 1000,
		 o->command ? ", command " : "", o->command ? o->command[0] : "");
	pprof_merge_comment(x->merge, text);
	ledger_comment(&x->table, text, sizeof(text));
	pprof_merge_comment(x->merge, text);
}

static uint64_t count_samples(const struct pprof *p)
{
	uint32_t type = report_count_type(p);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->samples.count; i++) {
		int64_t value = p->values.items[(size_t)i * p->sample_type_count + type];

		sum += value > 0 ? (uint64_t)value : 0;
	}
	return sum;
}

/* When sampling began, in ns since 1970. */
static int64_t start_time(const struct recording *r)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec -
	       (recording_now_ms() - r->started_ms) * NS_PER_MS;
}

/* The merged profile, or NULL and a sentence. */
static const struct pprof *merge(struct result *x, const char **problem)
{
	x->merge = pprof_merge_new();
	*problem = "no memory";
	if (!x->merge)
		return NULL;
	*problem = profile_folder_merge(&x->folder, x->merge, x->r->command.pid);
	if (!*problem)
		*problem = pprof_merge_default_types(
			x->merge, NS_PER_SECOND / x->r->options->frequency, start_time(x->r),
			(int64_t)(x->r->elapsed_ms ? x->r->elapsed_ms : 1) * NS_PER_MS);
	if (*problem)
		return NULL;
	add_comments(x);
	return pprof_merge_finish(x->merge);
}

/* A text report into the output file. Returns 0 or -errno. */
static int write_text(struct result *x)
{
	const struct pprof *p = x->profile;
	int fd = dup(x->r->output.fd);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok;

	if (!out)
		return -errno;
	if (x->r->options->format == RECORD_FOLDED)
		ok = report_folded(p, report_count_type(p), out);
	else
		ok = report_top(p, pprof_shown_type(p), TOP_WRITTEN, out);
	if (fflush(out) || ferror(out)) {
		int error = errno ? errno : EIO;

		fclose(out);
		return -error;
	}
	fclose(out);
	return ok ? 0 : -ENOMEM;
}

static int write_output(struct result *x)
{
	struct output_file *f = &x->r->output;
	int error;

	if (f->fd < 0)
		return 0;
	error = output_file_begin(f);
	if (!error && x->r->options->format == RECORD_PPROF)
		error = pprof_write(x->profile, f->fd);
	else if (!error)
		error = write_text(x);
	return error;
}

static void print_file(const struct result *x)
{
	const struct recording *r = x->r;
	char name[TERMINAL_TEXT_MAX(PATH_MAX)];
	uint64_t len;

	if (r->output.fd < 0 || r->output.standard_output) {
		fprintf(x->out, "recorded %" PRIu64 ".%" PRIu64 " s\n", r->elapsed_ms / 1000,
			r->elapsed_ms % 1000 / 100);
		return;
	}
	len = terminal_text_escape(r->output.path, (uint32_t)strlen(r->output.path), 0, name);
	fprintf(x->out, "recorded %" PRIu64 ".%" PRIu64 " s into %.*s\n", r->elapsed_ms / 1000,
		r->elapsed_ms % 1000 / 100, (int)len, name);
}

static void print_command(const struct result *x)
{
	const struct command_child *c = &x->r->command;

	if (!c->ended || !c->status)
		return;
	if (WIFSIGNALED(c->status))
		fprintf(x->out, "the command ended by signal %d (%s)\n", WTERMSIG(c->status),
			strsignal(WTERMSIG(c->status)));
	else
		fprintf(x->out, "the command exited with %d\n", WEXITSTATUS(c->status));
}

static void print_deaths(const struct result *x, const struct supervisor *s)
{
	if (!s->deaths)
		return;
	fprintf(x->out, "the %s died %u time%s and was started again, ", s->role, s->deaths,
		s->deaths > 1 ? "s" : "");
	if (WIFSIGNALED(s->last_status))
		fprintf(x->out, "the last time by signal %d (%s)\n", WTERMSIG(s->last_status),
			strsignal(WTERMSIG(s->last_status)));
	else
		fprintf(x->out, "the last time with exit code %d\n", WEXITSTATUS(s->last_status));
}

/* Whether what the account calls delivered is what the file holds. */
static bool print_difference(const struct result *x)
{
	if (x->folder.bad_files)
		fprintf(x->out, "%" PRIu64 " profiles could not be read back, the first: %s\n",
			x->folder.bad_files, x->folder.problem);
	if (x->merged_samples == x->table.delivered)
		return false;
	fprintf(x->out, "the file holds %" PRIu64 " samples, but %" PRIu64 " were delivered%s\n",
		x->merged_samples, x->table.delivered,
		x->table.removed_files
			? ": old profiles made room for new ones, use a longer --window"
			: "");
	return true;
}

static void print_summary(struct result *x, bool *unbalanced)
{
	const struct pprof *p = x->profile;

	print_file(x);
	print_command(x);
	print_deaths(x, &x->r->symbolizer);
	print_deaths(x, &x->r->uploader);
	ledger_print(&x->table, x->out);
	*unbalanced = print_difference(x) || !x->table.balanced;
	if (!p->samples.count)
		fputs(x->table.taken ? "no sample has arrived: see the losses above\n"
				     : "no samples: nothing that was to be recorded ran on a CPU\n",
		      x->out);
	else if (!report_top(p, pprof_shown_type(p), TOP_SHOWN, x->out))
		fputs("no memory for the table of functions\n", x->out);
	errno = 0;
	fflush(x->out);
	x->out_error = errno;
}

static int finish(struct result *x)
{
	const struct counters_record *last =
		x->r->collector.stopped ? &x->r->collector.counters : NULL;
	int error = profile_folder_account(&x->folder, last, &x->table);
	const char *problem = error ? strerror(-error) : NULL;
	bool unbalanced = false;

	if (!problem)
		x->profile = merge(x, &problem);
	if (!x->profile) {
		fprintf(stderr, "belfry: cannot read the recorded profiles back: %s\n", problem);
		return EXIT_CODE_OUTPUT;
	}
	x->merged_samples = count_samples(x->profile);
	error = write_output(x);
	print_summary(x, &unbalanced);
	if (x->r->output.fd < 0 && ferror(x->out)) {
		fprintf(stderr, "belfry: cannot write the table to standard output: %s\n",
			strerror(x->out_error ? x->out_error : EIO));
		return EXIT_CODE_OUTPUT;
	}
	if (error) {
		fprintf(stderr, "belfry: cannot write %s: %s\n", x->r->output.path,
			strerror(-error));
		return EXIT_CODE_OUTPUT;
	}
	return unbalanced ? EXIT_CODE_UNBALANCED : EXIT_CODE_OK;
}

int record_result(struct recording *r)
{
	struct result x = { .r = r, .folder = { .fd = r->dir.profiles_fd }, .out = stdout };
	int code;

	if (r->output.standard_output)
		x.out = stderr; /* standard output is the data's */
	code = finish(&x);
	pprof_merge_free(x.merge);
	return code;
}
