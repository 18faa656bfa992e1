/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file: where the recording goes. Opened before anything is started, with the invoking
 * user's rights, so that `sudo belfry record -o X` can write nothing that the user could not.
 */
#ifndef BELFRY_CLI_OUTPUT_FILE_H
#define BELFRY_CLI_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/invoking_user.h"
#include "cli/record_options.h"

struct output_file {
	int fd;		     /* -1: the format needs none */
	int folder;	     /* O_PATH descriptor of its folder, -1 with standard output */
	char path[PATH_MAX]; /* as given, for messages */
	const char *name;    /* last component of path */
	bool standard_output;
	bool created; /* did not exist before */
};

/*
 * Opens the file. One that exists is replaced only with -o, if it is a regular file of the invoking
 * user's; its old contents stay until output_file_begin(). Links are never followed. Returns false
 * and a sentence.
 */
bool output_file_open(struct output_file *f, const struct record_options *o,
		      const struct invoking_user *u, char *problem, size_t size);

/* Drops the old contents: what follows is written at once. Returns 0 or -errno. */
int output_file_begin(struct output_file *f);

/* Removes a file that was created and stayed empty. Returns 0 or -errno. */
int output_file_discard(struct output_file *f);

#endif
