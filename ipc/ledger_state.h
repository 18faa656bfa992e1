/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_state: what a ledger remembers. For ledger*.c alone. */
#ifndef BELFRY_IPC_LEDGER_STATE_H
#define BELFRY_IPC_LEDGER_STATE_H

#include "ipc/ledger.h"

/* One window, by the life of the symbolizer that closed it. */
struct ledger_mark {
	bool known;
	uint64_t symbolizer;
	uint64_t window;
};

/* Stream positions [first, end) that windows cover, and the windows at both ends. */
struct ledger_range {
	uint64_t first;
	uint64_t end;
	struct ledger_mark low;
	struct ledger_mark high;
};

/* One life of a collector. */
struct ledger_stream {
	uint64_t id;
	struct counters_record counters; /* the latest that came */
	bool final;			 /* its starter says that they are the last ones */
	struct ledger_mark
		end; /* who said END; the counters that came before it are usually the last ones */
	uint64_t folded[LEDGER_LOSSES]; /* gaps between ranges that were merged for lack of room */
	uint32_t range_count;
	struct ledger_range ranges[LEDGER_RANGES]; /* ascending, apart */
};

/* A window whose profiles may still come. */
struct ledger_open {
	struct window_account account;
	uint64_t delivered;
	uint64_t failed;
	uint32_t seen_count;
	uint8_t *seen; /* bit i: profile i came; owned */
};

struct ledger {
	struct ledger_table folded; /* what windows and streams that were folded amount to */
	enum ledger_contradiction last_contradiction;
	struct ledger_mark before; /* last window of the last folded stream */
	uint32_t stream_count;
	struct ledger_stream streams[LEDGER_STREAMS]; /* oldest first */
	uint32_t open_count;
	struct ledger_open open[LEDGER_WINDOWS]; /* oldest first */
	uint32_t gone_count;
	uint64_t gone[LEDGER_GONE]; /* ring: gone_count % LEDGER_GONE is the next slot */
};

/* Adds without wrapping; a sum that does not fit sticks at the largest value and is reported. */
void ledger_add(struct ledger_table *t, uint64_t *sum, uint64_t value);

/* How far [first, end) is covered already. */
enum ledger_cover { LEDGER_COVER_NONE, LEDGER_COVER_PART, LEDGER_COVER_ALL };
enum ledger_cover ledger_stream_covered(const struct ledger_stream *s, uint64_t first,
					uint64_t end);

/* Gives up the oldest gap where no further range would fit: its samples are lost for good. Call
 * before asking. */
void ledger_stream_make_room(struct ledger_stream *s);

/* Marks [first, end), which nothing covers yet, as covered by a window, in the room made. An empty
 * range only says where a window stood. */
void ledger_stream_cover(struct ledger_stream *s, uint64_t first, uint64_t end,
			 const struct ledger_mark *by);

/* Takes over the later of two sets of counters. Returns false when neither is. */
bool ledger_stream_count(struct ledger_stream *s, const struct counters_record *c);

/*
 * Adds what a stream amounts to. `before` and `after` are the windows next to it in other streams.
 * `closed`: nothing of it will come any more.
 */
void ledger_stream_sum(const struct ledger_stream *s, bool closed, const struct ledger_mark *before,
		       const struct ledger_mark *after, struct ledger_table *t);

/* First and last window of a stream, not known where it has none. */
struct ledger_mark ledger_stream_low(const struct ledger_stream *s);
struct ledger_mark ledger_stream_high(const struct ledger_stream *s);

/* Adds what an open window amounts to. */
void ledger_open_sum(const struct ledger_open *o, bool closed, struct ledger_table *t);

/* Finds, or NULL. */
struct ledger_open *ledger_open_find(struct ledger *l, uint64_t symbolizer, uint64_t window);

/* Finds or makes room for a stream. NULL where the stream has been folded already. */
struct ledger_stream *ledger_stream_get(struct ledger *l, uint64_t id);

/* Opens a window without covering its range, as a checkpoint restores it. NULL without memory. */
struct ledger_open *ledger_open_add(struct ledger *l, const struct window_account *a);

/* NULL, or what is wrong with an account. */
bool ledger_account_plausible(const struct window_account *a);

#endif
