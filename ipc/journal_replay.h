/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal_replay: reads a journal from its beginning and rebuilds the account.
 * A line that cannot be read is counted, and makes the account say so; a last line without its
 * newline is what a killed writer leaves behind, and is passed over.
 */
#ifndef BELFRY_IPC_JOURNAL_REPLAY_H
#define BELFRY_IPC_JOURNAL_REPLAY_H

#include "ipc/journal_entry.h"

struct journal_replay {
	struct ledger *ledger; /* owned; may be taken by setting this to NULL before the end */
	uint64_t lines;	       /* read */
	uint64_t bad_lines;    /* that could not be */
	const char *wrong;     /* what was wrong with the first of them, NULL where there is none */
	uint64_t wrong_line;   /* its number, from 1 */
	uint64_t whole;	       /* bytes up to and including the last newline */
	bool doubt;	       /* the last line is a PROFILE: its file may not have got its name */
	bool ended; /* the last line is an END: its writer was stopped before it could leave */
	struct journal_entry last_profile;

	/* Set by the caller after the beginning, may be NULL: sees every good entry. */
	void (*on_entry)(void *context, const struct journal_entry *e);
	void *context;

	struct ledger *next; /* checkpoint under construction, owned */
	uint64_t fed;	     /* bytes */
	uint32_t line_len;
	bool overlong;
	char line[JOURNAL_LINE_MAX];
};

int journal_replay_begin(struct journal_replay *r); /* 0 or -ENOMEM */
void journal_replay_feed(struct journal_replay *r, const void *bytes, size_t len);
void journal_replay_end(struct journal_replay *r);

/* Feeds a whole file from its beginning. Returns 0 or -errno. */
int journal_replay_file(struct journal_replay *r, int fd);

#endif
