/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger: the conservation law, from the sampler to the file.
 *
 *   taken = delivered + every loss, by reason and hop  (+ underway, while recording)
 *
 * It is told of windows, of written and unwritten profiles and of the collector's
 * counters, in any order and with gaps, and yields the table. It never guesses a
 * number: what a stream's positions do not show is shown as an inconsistency.
 *
 * Where each number comes from:
 *   taken, ring_full, queue_full, invalid   the collector's own counters
 *   in_transit       positions of a window that its symbolizer did not receive, and gaps between
 * two consecutive windows of one symbolizer symbolizer_lost  stream positions that no window
 * covers, since the symbolizer that had them died symbolizer_loss  the window's account says so
 *   profile_lost     in a window's profiles, but no such profile came; gaps where whole windows are
 * missing write_failed     the profile came, but could not be written Where a symbolizer died and
 * the messages of its last windows were lost as well, only the sum of symbolizer_lost and
 * profile_lost is exact.
 *
 * State is bounded: windows and streams are folded into totals when newer ones push them out.
 */
#ifndef BELFRY_IPC_LEDGER_H
#define BELFRY_IPC_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ipc/profile_channel.h"

#define LEDGER_STREAMS	    8  /* lives of collectors kept apart */
#define LEDGER_RANGES	    64 /* covered intervals of one stream */
#define LEDGER_WINDOWS	    16 /* windows whose profiles may still come */
#define LEDGER_GONE	    64 /* folded streams remembered, so that a late message is recognised */
#define LEDGER_PROFILES_MAX (1 << 20)	 /* profiles of one window */
#define LEDGER_SAMPLES_MAX  (1ull << 60) /* positions and counters above are refused */

enum ledger_loss {
	LEDGER_RING_FULL = 0,
	LEDGER_QUEUE_FULL,
	LEDGER_INVALID,
	LEDGER_COLLECTOR_LOST, /* inside a collector that ended without handing it on */
	LEDGER_IN_TRANSIT,
	LEDGER_SYMBOLIZER_LOST,
	LEDGER_SYMBOLIZER_LOSS, /* + enum symbolizer_loss */
	LEDGER_PROFILE_LOST = LEDGER_SYMBOLIZER_LOSS + SYMBOLIZER_LOSSES,
	LEDGER_WRITE_FAILED,
	LEDGER_LOSSES
};

/* Things that cannot be if every role told the truth. Each is counted and shown; none is repaired.
 */
enum ledger_contradiction {
	LEDGER_WINDOW_CHANGED = 0, /* one window told with two accounts */
	LEDGER_WINDOW_OVERLAP,	   /* two windows claim the same stream positions */
	LEDGER_WINDOW_IMPLAUSIBLE, /* an account that breaks its own law, or is beyond the limits */
	LEDGER_PROFILE_EXCESS,	   /* a window's profiles hold more samples than it said */
	LEDGER_PROFILE_SHORT, /* all of a window's profiles came, with fewer samples than it said */
	LEDGER_PROFILE_ORPHAN,	  /* a profile of a window that is not known */
	LEDGER_COUNTERS_REVERSED, /* two sets of one collector's counters of which neither is the
				     later */
	LEDGER_JOURNAL_DAMAGED,	  /* lines of the journal that could not be read */
	LEDGER_SUM_WRONG, /* the law does not hold: forged totals in a journal, or a fault in the
			     ledger */
	LEDGER_OVERFLOW,  /* a sum beyond 2^64: shown as 2^64 - 1 */
	LEDGER_CONTRADICTIONS
};

/* The account. taken + surplus = delivered + sum of lost + underway + unexplained. */
struct ledger_table {
	uint64_t taken;
	uint64_t delivered;
	uint64_t lost[LEDGER_LOSSES];
	uint64_t underway;    /* not lost, not yet delivered; 0 in a final table */
	uint64_t unexplained; /* the collector's last counters say taken, and nothing says where it
				 went */
	uint64_t surplus; /* accounted for more than the collector's last counters say it took */
	uint64_t windows;
	uint64_t profiles;	/* written */
	uint64_t removed_files; /* written once, removed later to keep the caps: delivered all the
				   same */
	uint64_t removed_bytes;
	uint64_t late; /* messages of windows that were closed already: refused */
	uint64_t streams;
	uint64_t unfinished; /* streams whose last counters never came: they took at least what is
				said */
	uint64_t contradictions[LEDGER_CONTRADICTIONS];
	bool balanced; /* nothing unexplained, no surplus, no contradiction */
};

enum ledger_answer {
	LEDGER_NEW = 1,	  /* taken into the account */
	LEDGER_KNOWN,	  /* said before; nothing changed */
	LEDGER_LATE,	  /* belongs to a window that is closed: nothing changed */
	LEDGER_REFUSED,	  /* contradicts what is known; counted as that */
	LEDGER_NO_MEMORY, /* nothing changed */
};

struct ledger;

struct ledger *ledger_new(void); /* NULL without memory */
void ledger_free(struct ledger *l);

/* The account of a window, as every WINDOW and PPROF message carries it. */
enum ledger_answer ledger_window(struct ledger *l, const struct window_account *a);

/* What ledger_profile() would answer. Asked before a profile is written. */
enum ledger_answer ledger_ask_profile(const struct ledger *l, uint64_t symbolizer, uint64_t window,
				      uint32_t index, uint64_t samples);

/* A profile of a known window came, and was written or could not be. */
enum ledger_answer ledger_profile(struct ledger *l, uint64_t symbolizer, uint64_t window,
				  uint32_t index, uint64_t samples, bool written);

/* A profile that was told as written turned out not to be. */
enum ledger_answer ledger_profile_undone(struct ledger *l, uint64_t symbolizer, uint64_t window,
					 uint32_t index, uint64_t samples);

/*
 * END of a collector's stream; its counters are the last ones that its symbolizer saw. Stream 0: a
 * symbolizer that saw no sample of the stream it was told to end, which is the newest.
 */
void ledger_end(struct ledger *l, const struct window_account *a);

/*
 * The collector's last counters, from its starter. They hold for the newest stream; where
 * no message ever came, for one without windows.
 */
void ledger_final_counters(struct ledger *l, const struct counters_record *c);

void ledger_removed(struct ledger *l, uint64_t bytes);
void ledger_contradict(struct ledger *l, enum ledger_contradiction c);

/* Why the last LEDGER_REFUSED was answered. */
enum ledger_contradiction ledger_last_contradiction(const struct ledger *l);

/* `final`: nothing more will come, so what is underway is lost. */
void ledger_sum(const struct ledger *l, bool final, struct ledger_table *t);

uint64_t ledger_lost_total(const struct ledger_table *t);

/* Stable words, as they stand in journals, comments and metrics. */
const char *ledger_loss_name(enum ledger_loss loss);
const char *ledger_loss_hop(enum ledger_loss loss);
const char *ledger_loss_meaning(enum ledger_loss loss);
const char *ledger_contradiction_name(enum ledger_contradiction c);

/* Writes the table for people: one row a number; losses that are 0 are left out. */
void ledger_print(const struct ledger_table *t, FILE *out);

/*
 * Writes it as one line of key=value without a newline, for a profile's comment. Returns the
 * length, cut at `size` - 1.
 */
size_t ledger_comment(const struct ledger_table *t, char *out, size_t size);

#endif
