// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/inherited_fds.h"
#include "cli/invoking_user.h"
#include "cli/pprof_read.h"
#include "cli/reader_seccomp.h"
#include "cli/terminal_text.h"

#define ROWS	       30
#define ROWS_MAX       1000000
#define NOBODY	       65534 /* the kernel's overflow uid: owns nothing */
#define TEXT_SHOWN_MAX 512

static const char usage[] =
	"usage: belfry report [--top N | --folded | --mappings] [--type NAME] FILE\n"
	"  FILE is any pprof profile, compressed or not; '-' is standard input\n"
	"      --top N           the N hottest functions (30)\n"
	"      --folded          one line a stack, for flame graphs\n"
	"      --mappings        the files and memory ranges of the profile\n"
	"      --type NAME       sample type, such as samples or cpu (the profile's default)\n";

struct report_options {
	enum { REPORT_TOP = 0, REPORT_FOLDED, REPORT_MAPPINGS } what;
	uint32_t rows;
	const char *type;
	const char *file;
	bool help;
};

static bool parse_rows(const char *text, uint32_t *rows)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !value || value > ROWS_MAX) {
		fprintf(stderr, "belfry report: --top %s: a number from 1 to %d is needed\n", text,
			ROWS_MAX);
		return false;
	}
	*rows = (uint32_t)value;
	return true;
}

static bool refuse_option(const char *text, int problem)
{
	fprintf(stderr, "belfry report: %s: %s\n%s", text,
		problem == ':' ? "a value is missing" : "no such option", usage);
	return false;
}

static bool parse(struct report_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "top", required_argument, NULL, 't' }, { "folded", no_argument, NULL, 'f' },
		{ "mappings", no_argument, NULL, 'm' },	 { "type", required_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },	 { 0 },
	};
	int option;

	*o = (struct report_options){ .rows = ROWS };
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 'f')
			o->what = REPORT_FOLDED;
		else if (option == 'm')
			o->what = REPORT_MAPPINGS;
		else if (option == 'y')
			o->type = optarg;
		else if (option == 'h')
			o->help = true;
		else if (option != 't')
			return refuse_option(argv[optind - 1], option);
		else if (!parse_rows(optarg, &o->rows))
			return false;
	}
	if (!o->help && optind != argc - 1) {
		fprintf(stderr, "belfry report: one FILE is needed\n%s", usage);
		return false;
	}
	o->file = argv[optind];
	return true;
}

uint32_t report_count_type(const struct pprof *p)
{
	for (uint32_t i = 0; i < p->sample_type_count; i++)
		if (pprof_string_is(p, p->sample_types[i].type, "samples"))
			return i;
	return pprof_shown_type(p);
}

static bool type_named(const struct pprof *p, const char *name, uint32_t *type)
{
	for (*type = 0; *type < p->sample_type_count; ++*type)
		if (pprof_string_is(p, p->sample_types[*type].type, name))
			return true;
	return false;
}

/*
 * A profile is somebody else's bytes: root does not read it. The file is open already; what parses
 * it is the user behind sudo, or nobody.
 */
static const char *give_up_root(void)
{
	struct invoking_user u;
	const char *problem = invoking_user_find(&u);
	int error;

	if (problem)
		return problem;
	if (!u.person.uid)
		u.person = (struct person){ .uid = NOBODY, .gid = NOBODY };
	error = privileges_drop(&u.person);
	return error ? strerror(-error) : NULL;
}

static const char *confine(void)
{
	const char *problem = geteuid() ? NULL : give_up_root();
	int error;

	if (problem)
		return problem;
	error = reader_seccomp();
	return error ? strerror(-error) : NULL;
}

static void print_comments(const struct pprof *p)
{
	for (uint32_t i = 0; i < p->comments.count; i++) {
		struct pprof_string s = p->strings.items[p->comments.items[i]];
		char escaped[TERMINAL_TEXT_MAX(TEXT_SHOWN_MAX)];
		uint32_t len = s.len > TEXT_SHOWN_MAX ? TEXT_SHOWN_MAX : s.len;

		fwrite(escaped, 1, terminal_text_escape(s.text, len, 0, escaped), stdout);
		fputc('\n', stdout);
	}
}

static int print(const struct report_options *o, const struct pprof *p)
{
	uint32_t type = o->what == REPORT_FOLDED ? report_count_type(p) : pprof_shown_type(p);
	bool ok;

	if (o->type && !type_named(p, o->type, &type)) {
		fprintf(stderr, "belfry report: %s has no sample type %s\n", o->file, o->type);
		return EXIT_CODE_USAGE;
	}
	if (o->what == REPORT_FOLDED) {
		ok = report_folded(p, type, stdout);
	} else if (o->what == REPORT_MAPPINGS) {
		ok = report_mappings(p, stdout);
	} else {
		print_comments(p);
		ok = report_top(p, type, o->rows, stdout);
	}
	if (!ok)
		fputs("belfry report: no memory for this profile\n", stderr);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "belfry report: standard output: %s\n", strerror(errno));
		return EXIT_CODE_OUTPUT;
	}
	return ok ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}

int report_main(int argc, char **argv)
{
	struct report_options o;
	const char *problem;
	struct pprof p;
	int code;
	int fd;

	if (!inherited_streams_fill())
		return EXIT_CODE_OUTPUT; /* nowhere to say so */
	if (!parse(&o, argc, argv))
		return EXIT_CODE_USAGE;
	if (o.help) {
		fputs(usage, stdout);
		return EXIT_CODE_OK;
	}
	fd = strcmp(o.file, "-") ? open(o.file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	problem = fd < 0 ? strerror(errno) : confine();
	if (!problem)
		problem = pprof_read_file(&p, fd);
	if (problem) {
		fprintf(stderr, "belfry report: %s: %s\n", o.file, problem);
		return EXIT_CODE_USAGE;
	}
	code = print(&o, &p);
	pprof_free(&p);
	return code;
}
