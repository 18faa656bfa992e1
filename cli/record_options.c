// SPDX-License-Identifier: Apache-2.0
#include "cli/record_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char record_usage[] =
	"usage: belfry record [options] [-- COMMAND ARGS]\n"
	"  -F, --frequency HZ    samples a second and CPU (97)\n"
	"  -d, --duration SEC    end after so many seconds; fractions are fine\n"
	"  -a, --all             the whole host, COMMAND or not\n"
	"  -p, --pid PID         only this process; may be repeated\n"
	"      --cgroup PATH     only this cgroup (v2) and those below it\n"
	"  -u, --uid UID         only processes of this user id\n"
	"  -o, --output FILE     '-' is standard output (belfry-<time>.pb.gz)\n"
	"      --format FORMAT   pprof, folded or top (pprof)\n"
	"      --window SEC      symbolize and store every so many seconds (10)\n"
	"      --include-agent   sample Belfry's own processes as well\n"
	"      --verbose         say what each role does\n"
	"Without COMMAND and filters the whole host is recorded, until Ctrl-C or -d.\n"
	"With COMMAND and nothing else only it and its descendants are.\n";

enum long_option {
	OPTION_CGROUP = 256,
	OPTION_FORMAT,
	OPTION_WINDOW,
	OPTION_INCLUDE_AGENT,
	OPTION_VERBOSE,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "frequency", required_argument, NULL, 'F' },
	{ "duration", required_argument, NULL, 'd' },
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "uid", required_argument, NULL, 'u' },
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "window", required_argument, NULL, OPTION_WINDOW },
	{ "include-agent", no_argument, NULL, OPTION_INCLUDE_AGENT },
	{ "verbose", no_argument, NULL, OPTION_VERBOSE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

/* Where the first sentence about what is wrong goes. */
struct problem {
	char *text;
	size_t size;
	bool set;
};

static void __attribute__((format(printf, 2, 3)))
problem_set(struct problem *p, const char *format, ...)
{
	va_list arguments;

	if (p->set)
		return;
	va_start(arguments, format);
	vsnprintf(p->text, p->size, format, arguments);
	va_end(arguments);
	p->set = true;
}

/* A whole decimal number in [least, most]. */
static uint64_t number_in(const char *option, const char *text, uint64_t least, uint64_t most,
			  struct problem *p)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
		problem_set(p, "%s %s: a whole number from %llu to %llu is needed", option, text,
			    (unsigned long long)least, (unsigned long long)most);
		return least;
	}
	return value;
}

/* Seconds with an optional fraction, as milliseconds; at least one. */
static uint64_t duration_ms(const char *text, struct problem *p)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (*text < '0' || *text > '9' || *end || !(seconds >= 0.001) ||
	    seconds > RECORD_SECONDS_MAX) {
		problem_set(p, "-d %s: a number of seconds from 0.001 to %d is needed", text,
			    RECORD_SECONDS_MAX);
		return 1;
	}
	return (uint64_t)(seconds * 1000 + 0.5);
}

static enum record_format format_named(const char *name, struct problem *p)
{
	static const char *const names[] = { "pprof", "folded", "top" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return (enum record_format)i;
	problem_set(p, "--format %s: pprof, folded or top is needed", name);
	return RECORD_PPROF;
}

static void add_pid(struct record_options *o, const char *text, struct problem *p)
{
	if (o->pid_count == FILTER_ENTRIES_MAX) {
		problem_set(p, "-p %s: more than %d processes", text, FILTER_ENTRIES_MAX);
		return;
	}
	o->pids[o->pid_count++] = (pid_t)number_in("-p", text, 1, INT32_MAX, p);
}

static void take_option(struct record_options *o, int option, char **argv, struct problem *p)
{
	switch (option) {
	case 'F':
		o->frequency = (uint32_t)number_in("-F", optarg, 1, RECORD_FREQUENCY_MAX, p);
		break;
	case 'd':
		o->duration_ms = duration_ms(optarg, p);
		break;
	case 'a':
		o->whole_host = true;
		break;
	case 'p':
		add_pid(o, optarg, p);
		break;
	case OPTION_CGROUP:
		o->cgroup = optarg;
		break;
	case 'u':
		o->by_uid = true;
		o->uid = (uid_t)number_in("-u", optarg, 0, UINT32_MAX - 1, p);
		break;
	case 'o':
		o->output = optarg;
		break;
	case OPTION_FORMAT:
		o->format = format_named(optarg, p);
		break;
	case OPTION_WINDOW:
		o->window = (uint32_t)number_in("--window", optarg, 1, 3600, p);
		break;
	case OPTION_INCLUDE_AGENT:
		o->include_agent = true;
		break;
	case OPTION_VERBOSE:
		o->verbose = true;
		break;
	case OPTION_HELP:
		o->help = true;
		break;
	case ':':
		problem_set(p, "%s: a value is missing", argv[optind - 1]);
		break;
	default:
		problem_set(p, "%s: no such option", argv[optind - 1]);
	}
}

static bool has_filter(const struct record_options *o)
{
	return o->pid_count || o->cgroup || o->by_uid;
}

bool record_options_command_only(const struct record_options *o)
{
	return o->command && !o->whole_host && !has_filter(o);
}

static void check_together(const struct record_options *o, struct problem *p)
{
	if (o->whole_host && has_filter(o))
		problem_set(p,
			    "-a contradicts -p, -u and --cgroup: the whole host, or a part of it");
	if (o->output && !*o->output)
		problem_set(p, "-o: the file's name is empty");
	if (o->cgroup && !*o->cgroup)
		problem_set(p, "--cgroup: the path is empty");
}

bool record_options_parse(struct record_options *o, int argc, char **argv, char *text, size_t size)
{
	struct problem p = { .text = text, .size = size };
	int option;

	*o = (struct record_options){ .frequency = RECORD_FREQUENCY, .window = RECORD_WINDOW };
	optind = 0; /* glibc: start anew, also in a test's second call */
	opterr = 0;
	while (!p.set &&
	       (option = getopt_long(argc, argv, "+:F:d:ap:u:o:", long_options, NULL)) != -1)
		take_option(o, option, argv, &p);
	if (!p.set && optind < argc)
		o->command = argv + optind;
	if (!o->help)
		check_together(o, &p);
	return !p.set;
}
