/* SPDX-License-Identifier: Apache-2.0 */
/* options: the uploader's command line. */
#ifndef BELFRY_UPLOADER_OPTIONS_H
#define BELFRY_UPLOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct uploader_options {
	const char *run_dir;
	const char *user;  /* NULL: the policy's */
	const char *group; /* NULL: the policy's */
	const char *directory;
	int64_t symbolizer_uid; /* -1: the symbolizer policy's user */
	uint64_t max_bytes;
	uint64_t max_age;	/* s */
	uint64_t journal_bytes; /* rotate the journal there */
	bool sync;		/* files reach the disk before they get their names */
	bool once;
	int verbose;
};

/* Returns 0, 1 when help was asked for and printed, or -EINVAL (told on stderr). Texts point into
 * argv. */
int uploader_options_parse(int argc, char **argv, struct uploader_options *out);

#endif
