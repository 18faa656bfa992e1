/* SPDX-License-Identifier: Apache-2.0 */
/* record_options: what `belfry record` was asked to do. */
#ifndef BELFRY_CLI_RECORD_OPTIONS_H
#define BELFRY_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/shared.h"

/* A prime near the customary 99 and 100: it does not march in step with timers. */
#define RECORD_FREQUENCY     97
#define RECORD_FREQUENCY_MAX 10000
#define RECORD_WINDOW	     10 /* seconds */
#define RECORD_SECONDS_MAX   (365 * 24 * 3600)

enum record_format {
	RECORD_PPROF = 0,
	RECORD_FOLDED,
	RECORD_TOP,
};

struct record_options {
	uint32_t frequency;   /* Hz */
	uint64_t duration_ms; /* 0 = until COMMAND or the user ends it */
	uint32_t window;      /* seconds */
	pid_t pids[FILTER_ENTRIES_MAX];
	uint32_t pid_count;
	const char *cgroup; /* NULL = no filter */
	bool by_uid;
	uid_t uid;
	bool whole_host;
	bool include_agent;
	bool verbose;
	bool help;
	enum record_format format;
	const char *output; /* NULL = a name made of the time; "-" = standard output */
	char **command;	    /* NULL-terminated, inside argv; NULL = none */
};

/*
 * Reads argv (argv[0] is "record"). False, and a sentence in `problem`, for anything that is wrong
 * or contradicts itself.
 */
bool record_options_parse(struct record_options *o, int argc, char **argv, char *problem,
			  size_t size);

/* Whether only the command and its descendants are to be sampled. */
bool record_options_command_only(const struct record_options *o);

extern const char record_usage[];

#endif
