/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any journal: half-written, damaged, forged. It is read without harm; each good line is what its writer would have
 * written; and the account that comes out either adds up or says that it does not.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/journal_replay.h"
#include "ipc/ledger_checkpoint.h"

/* Every accepted line must be written again as it was read. */
static void check_line(void *context, const struct journal_entry *e)
{
	const struct journal_replay *r = context;
	char again[JOURNAL_LINE_MAX];
	uint32_t len = journal_entry_encode(e, again, sizeof(again));

	assert(len == r->line_len + 1 && memcmp(again, r->line, r->line_len) == 0);
}

static int restore(void *context, const struct journal_entry *e)
{
	if (e->kind == JOURNAL_CHECKPOINT_END)
		return 0;
	assert(!ledger_restore(context, e));
	return 0;
}

static void check_sum(const struct ledger *l, struct ledger_table *t)
{
	ledger_sum(l, false, t);
	assert(!t->balanced || t->taken == t->delivered + ledger_lost_total(t) + t->underway);
	ledger_sum(l, true, t);
	assert(!t->balanced || t->taken == t->delivered + ledger_lost_total(t));
	assert(t->underway == 0 || !t->balanced);
}

/* A ledger that came out of a journal goes through a checkpoint unchanged. */
static void check_checkpoint(const struct ledger *l, const struct ledger_table *t)
{
	struct ledger *next = ledger_new();
	struct ledger_table again;

	assert(next);
	assert(ledger_checkpoint(l, 0, restore, next) == 0);
	check_sum(next, &again);
	assert(memcmp(t, &again, sizeof(again)) == 0);
	ledger_free(next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_replay *r = malloc(sizeof(*r));
	struct ledger_table t;

	assert(r && journal_replay_begin(r) == 0);
	r->on_entry = check_line;
	r->context = r;
	journal_replay_feed(r, data, size / 2);
	journal_replay_feed(r, data + size / 2, size - size / 2);
	assert(r->whole <= size);
	check_sum(r->ledger, &t);
	check_checkpoint(r->ledger, &t);
	journal_replay_end(r);
	free(r);
	return 0;
}
