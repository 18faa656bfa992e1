/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_directory: profiles as files below one directory (names: sink_name.h).
 *
 * A file is written under a name that begins with a dot, in the folder it belongs to, and gets its
 * own name by a rename that replaces nothing: whoever lists the directory sees whole profiles only.
 * Everything is opened relative to directory descriptors and no link is ever followed. The oldest
 * files go first when the limits ask for it. Files whose names are not ours are neither counted nor
 * touched.
 */
#ifndef BELFRY_UPLOADER_SINK_DIRECTORY_H
#define BELFRY_UPLOADER_SINK_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "uploader/sink_name.h"

struct sink;

struct sink_options {
	int directory;	    /* descriptor, lent for the sink's life */
	uint64_t max_bytes; /* of all profiles together */
	uint64_t max_age;   /* s */
	bool sync;	    /* contents reach the disk before the file gets its name */
	/* Called for each file that was removed to keep the limits. */
	void (*on_removed)(void *context, const char *file, uint64_t bytes);
	void *context;
};

struct sink_profile {
	uint64_t time;	       /* s since 1970, when its window began */
	struct sink_text comm; /* of the process */
	struct sink_text pid;
	const uint8_t *bytes;
	uint32_t len;
};

/* A profile that is written, but has no name yet. */
struct sink_file {
	char name[JOURNAL_FILE_MAX]; /* the one it will have, relative to the sink directory */
	uint32_t bytes;
	int day; /* descriptor of its folder */
};

/*
 * Brings a file whose rename may not have happened to its end: renames what was written, if it is
 * whole. Before sink_new(). Returns 0 when the file is there, else -errno.
 */
int sink_settle(int directory, const char *file, uint64_t bytes);

/* Counts what is there, removes half-written files. Returns 0 or -errno. */
int sink_new(struct sink **out, const struct sink_options *o);
void sink_free(struct sink *s);

/* Makes room and writes the profile under its temporary name. Returns 0 or -errno (logged). */
int sink_prepare(struct sink *s, const struct sink_profile *p, struct sink_file *f);

/* Gives it its name, or takes it back. Both end the use of `f`. commit returns 0 or -errno
 * (logged). */
int sink_commit(struct sink *s, struct sink_file *f);
void sink_abandon(struct sink_file *f);

/* Removes files that are too old at `now` (s since 1970), and the oldest until the bytes are within
 * the limit. */
void sink_keep_limits(struct sink *s, uint64_t now);

uint64_t sink_bytes(const struct sink *s); /* of all profiles together */
uint64_t sink_files(const struct sink *s);

#endif
