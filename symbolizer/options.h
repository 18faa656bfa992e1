/* SPDX-License-Identifier: Apache-2.0 */
/* options: the symbolizer's command line. */
#ifndef BELFRY_SYMBOLIZER_OPTIONS_H
#define BELFRY_SYMBOLIZER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct symbolizer_options {
	const char *run_dir;
	const char *user;  /* NULL: the policy's */
	const char *group; /* NULL: the policy's */
	const char *node;  /* NULL: the host's name */
	int64_t collector_uid; /* -1: that of the collector's policy */
	int64_t uploader_uid;
	uint32_t window_seconds;
	int tables_fd;    /* of a file to print the unwind rows of, instead of all else; -1 = none */
	bool tables_dump; /* every row */
	int verbose;
#ifdef BELFRY_SELFTEST
	const char *selftest_syscall;
	const char *selftest_process;
#endif
};

/* Returns 0, 1 when help or version was asked for and printed, or -1 after saying what was wrong. */
int symbolizer_options_parse(int argc, char **argv, struct symbolizer_options *o);

#endif
