/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal_entry: one line of the journal that the uploader keeps beside its profiles, `kind
 * key=value ...`. The uploader writes it, and reads it back after a restart; `belfry record` reads
 * it for the account.
 *
 * Keys stand in a fixed order, values hold no blanks. Identities are 16 hexadecimal digits, all
 * other numbers decimal. The reader is strict: what the writer would not have written is refused.
 */
#ifndef BELFRY_IPC_JOURNAL_ENTRY_H
#define BELFRY_IPC_JOURNAL_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/ledger.h"

#define JOURNAL_NAME	 "journal"   /* in the sink directory */
#define JOURNAL_OLD	 "journal.1" /* what it held before its last rotation */
#define JOURNAL_LINE_MAX 3072	     /* bytes, newline included */
#define JOURNAL_FILE_MAX 128	     /* bytes of a file's name, NUL included */

enum journal_kind {
	JOURNAL_START = 1, /* an uploader began to work here */
	JOURNAL_STOP,	   /* it ended cleanly */
	JOURNAL_WINDOW,	   /* a window's account */
	JOURNAL_PROFILE,   /* a profile, written before its file gets its final name */
	JOURNAL_LOST,	   /* a profile that could not be written */
	JOURNAL_UNDONE,	 /* the `profile` line above holds no longer: its file could not be made */
	JOURNAL_END,	 /* a collector's stream has ended */
	JOURNAL_REMOVED, /* a file was removed to keep the limits */
	JOURNAL_INCONSISTENT, /* a message contradicted what was known */
	/* Everything above so far, so that nothing older is needed: */
	JOURNAL_CHECKPOINT,	/* begins it: folded totals */
	JOURNAL_GONE,		/* a stream that was folded */
	JOURNAL_STREAM,		/* a stream */
	JOURNAL_GAPS,		/* its gaps that were folded */
	JOURNAL_RANGE,		/* positions of it that windows cover */
	JOURNAL_OPEN,		/* a window whose profiles may still come */
	JOURNAL_SEEN,		/* profiles of it that came */
	JOURNAL_CHECKPOINT_END, /* it is whole: take it over */
	JOURNAL_KINDS
};

/* A window by the life of its symbolizer, where there is one. */
struct journal_mark {
	uint32_t known;
	uint64_t symbolizer;
	uint64_t window;
};

struct journal_entry {
	enum journal_kind kind;
	uint64_t time;		       /* s since 1970 */
	struct window_account account; /* WINDOW, END, OPEN: whole; else stream, symbolizer, window
					  as far as named */
	uint32_t index;		       /* of the profile in its window; SEEN: the first */
	uint32_t last;		       /* SEEN: the last */
	uint64_t samples;
	uint64_t bytes;
	char file[JOURNAL_FILE_MAX]; /* relative to the sink directory */
	uint32_t what;		     /* INCONSISTENT: enum ledger_contradiction; LOST: errno */
	uint64_t delivered;	     /* OPEN */
	uint64_t failed;	     /* OPEN */
	uint64_t first;		     /* RANGE */
	uint64_t end;		     /* RANGE */
	struct journal_mark
		low; /* RANGE; STREAM: who said END; CHECKPOINT: window before the first stream */
	struct journal_mark high;  /* RANGE */
	uint32_t final;		   /* STREAM: its counters are the last ones */
	struct ledger_table table; /* CHECKPOINT: totals; GAPS: losses alone */
};

/*
 * Writes a line with its newline. `size` of at least JOURNAL_LINE_MAX always suffices. Returns its
 * length, 0 where a file's name is not one.
 */
uint32_t journal_entry_encode(const struct journal_entry *e, char *out, uint32_t size);

/* Reads a line without its newline. Returns NULL, or a constant sentence that names what was wrong.
 */
const char *journal_entry_decode(const char *line, uint32_t len, struct journal_entry *e);

/*
 * A name that may stand in a journal and be opened below the sink directory: letters, digits, `_`,
 * `-`, `.`, at most one `/`, no part that begins with a dot or is empty.
 */
bool journal_file_valid(const char *name);

#endif
