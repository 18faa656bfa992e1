// SPDX-License-Identifier: Apache-2.0
#include "ipc/journal_replay.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ipc/ledger_checkpoint.h"

#define READ_BYTES (16 * 1024)

int journal_replay_begin(struct journal_replay *r)
{
	memset(r, 0, sizeof(*r));
	r->ledger = ledger_new();
	return r->ledger ? 0 : -ENOMEM;
}

void journal_replay_end(struct journal_replay *r)
{
	ledger_free(r->ledger);
	ledger_free(r->next);
	r->ledger = NULL;
	r->next = NULL;
}

static void bad_line(struct journal_replay *r, const char *wrong)
{
	if (r->bad_lines++ == 0) {
		r->wrong = wrong;
		r->wrong_line = r->lines;
	}
	ledger_contradict(r->ledger, LEDGER_JOURNAL_DAMAGED);
}

static void drop_checkpoint(struct journal_replay *r)
{
	ledger_free(r->next);
	r->next = NULL;
}

static void apply_checkpoint_line(struct journal_replay *r, const struct journal_entry *e)
{
	const char *wrong;

	if (e->kind == JOURNAL_CHECKPOINT) {
		drop_checkpoint(r);
		r->next = ledger_new();
	}
	if (!r->next) {
		bad_line(r, "line of a checkpoint that has not begun, or was refused");
		return;
	}
	if (e->kind == JOURNAL_CHECKPOINT_END) {
		ledger_free(r->ledger);
		r->ledger = r->next;
		r->next = NULL;
		return;
	}
	wrong = ledger_restore(r->next, e);
	if (wrong) {
		drop_checkpoint(r);
		bad_line(r, wrong);
	}
}

static void apply(struct journal_replay *r, const struct journal_entry *e)
{
	const struct window_account *a = &e->account;

	switch (e->kind) {
	case JOURNAL_WINDOW:
		ledger_window(r->ledger, a);
		break;
	case JOURNAL_PROFILE:
		ledger_profile(r->ledger, a->symbolizer_id, a->window, e->index, e->samples, true);
		break;
	case JOURNAL_LOST:
		ledger_profile(r->ledger, a->symbolizer_id, a->window, e->index, e->samples, false);
		break;
	case JOURNAL_UNDONE:
		ledger_profile_undone(r->ledger, a->symbolizer_id, a->window, e->index, e->samples);
		break;
	case JOURNAL_END:
		ledger_end(r->ledger, a);
		break;
	case JOURNAL_REMOVED:
		ledger_removed(r->ledger, e->bytes);
		break;
	case JOURNAL_INCONSISTENT:
		if (e->what < LEDGER_CONTRADICTIONS)
			ledger_contradict(r->ledger, (enum ledger_contradiction)e->what);
		else
			bad_line(r, "line names an unknown inconsistency");
		break;
	default: /* START, STOP: for the reader of the file alone */
		break;
	}
}

static void take_line(struct journal_replay *r)
{
	struct journal_entry e;
	const char *wrong;

	r->lines++;
	r->doubt = false;
	r->ended = false;
	wrong = r->overlong ? "line is too long" : journal_entry_decode(r->line, r->line_len, &e);
	if (wrong) {
		drop_checkpoint(r);
		bad_line(r, wrong);
		return;
	}
	if (e.kind >= JOURNAL_CHECKPOINT) {
		apply_checkpoint_line(r, &e);
	} else {
		/* A writer that was killed in a checkpoint: what stood before it still holds. */
		drop_checkpoint(r);
		apply(r, &e);
	}
	r->ended = e.kind == JOURNAL_END;
	if (e.kind == JOURNAL_PROFILE) {
		r->doubt = true;
		r->last_profile = e;
	}
	if (r->on_entry)
		r->on_entry(r->context, &e);
}

void journal_replay_feed(struct journal_replay *r, const void *bytes, size_t len)
{
	const char *from = bytes;

	for (size_t i = 0; i < len; i++) {
		if (from[i] == '\n') {
			r->whole = r->fed + i + 1;
			take_line(r);
			r->line_len = 0;
			r->overlong = false;
		} else if (r->line_len < sizeof(r->line)) {
			r->line[r->line_len++] = from[i];
		} else {
			r->overlong = true;
		}
	}
	r->fed += len;
}

int journal_replay_file(struct journal_replay *r, int fd)
{
	char bytes[READ_BYTES];
	off_t offset = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		journal_replay_feed(r, bytes, (size_t)n);
		offset += n;
	}
	return n < 0 ? -errno : 0;
}
