// SPDX-License-Identifier: Apache-2.0
/* ledger_table: what the account adds up to, and how it is shown. */
#include "ipc/ledger.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "ipc/ledger_state.h"

void ledger_add(struct ledger_table *t, uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum)) {
		*sum = UINT64_MAX;
		t->contradictions[LEDGER_OVERFLOW] = 1;
	}
}

void ledger_open_sum(const struct ledger_open *o, bool closed, struct ledger_table *t)
{
	const struct window_account *a = &o->account;
	uint64_t missing = a->in_profiles - o->delivered - o->failed;
	bool all_came = o->seen_count == a->profiles;

	ledger_add(t, &t->lost[LEDGER_IN_TRANSIT], a->end_sample - a->first_sample - a->received);
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		ledger_add(t, &t->lost[LEDGER_SYMBOLIZER_LOSS + i], a->lost[i]);
	ledger_add(t, &t->delivered, o->delivered);
	ledger_add(t, &t->lost[LEDGER_WRITE_FAILED], o->failed);
	if (missing && all_came)
		ledger_add(t, &t->contradictions[LEDGER_PROFILE_SHORT], 1);
	ledger_add(t, closed || all_came ? &t->lost[LEDGER_PROFILE_LOST] : &t->underway, missing);
	t->windows++;
}

uint64_t ledger_lost_total(const struct ledger_table *t)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		if (__builtin_add_overflow(total, t->lost[i], &total))
			return UINT64_MAX;
	return total;
}

struct loss_text {
	const char *name;
	const char *hop;
	const char *meaning;
};

static const struct loss_text own_losses[] = {
	[LEDGER_RING_FULL] = { "ring_full", "kernel", "the ring buffer had no room" },
	[LEDGER_QUEUE_FULL] = { "queue_full", "collector", "the symbolizer was away or too slow" },
	[LEDGER_INVALID] = { "invalid", "collector", "a record of the sampler broke its layout" },
	[LEDGER_COLLECTOR_LOST] = { "collector_lost", "collector",
				    "inside the collector when it ended" },
	[LEDGER_IN_TRANSIT] = { "in_transit", "collector-symbolizer",
				"sent, but never reached the symbolizer" },
	[LEDGER_SYMBOLIZER_LOST] = { "symbolizer_lost", "symbolizer",
				     "went down with a symbolizer that died" },
	[LEDGER_PROFILE_LOST] = { "profile_lost", "symbolizer-uploader",
				  "in a profile that never reached the uploader" },
	[LEDGER_WRITE_FAILED] = { "write_failed", "uploader",
				  "in a profile that could not be written" },
};

static const char *const symbolizer_meanings[SYMBOLIZER_LOSSES] = {
	[SYMBOLIZER_LOSS_STACKS_FULL] = "the window had too many different stacks",
	[SYMBOLIZER_LOSS_BAD_BATCH] = "in a batch that broke the channel's rules",
	[SYMBOLIZER_LOSS_TOO_LARGE] = "in a profile too large for the channel",
	[SYMBOLIZER_LOSS_ENCODER] = "the profile could not be encoded",
	[SYMBOLIZER_LOSS_UPLOADER_AWAY] = "the uploader was away or too slow",
};

static struct loss_text loss_text(enum ledger_loss loss)
{
	unsigned int own = (unsigned int)loss - LEDGER_SYMBOLIZER_LOSS;

	if ((unsigned int)loss >= LEDGER_LOSSES)
		return (struct loss_text){ "unknown", "unknown", "unknown" };
	if ((unsigned int)loss >= LEDGER_SYMBOLIZER_LOSS && own < SYMBOLIZER_LOSSES)
		return (struct loss_text){ symbolizer_loss_name((enum symbolizer_loss)own),
					   "symbolizer", symbolizer_meanings[own] };
	return own_losses[loss];
}

const char *ledger_loss_name(enum ledger_loss loss)
{
	return loss_text(loss).name;
}

const char *ledger_loss_hop(enum ledger_loss loss)
{
	return loss_text(loss).hop;
}

const char *ledger_loss_meaning(enum ledger_loss loss)
{
	return loss_text(loss).meaning;
}

const char *ledger_contradiction_name(enum ledger_contradiction c)
{
	static const char *const names[LEDGER_CONTRADICTIONS] = {
		[LEDGER_WINDOW_CHANGED] = "window_changed",
		[LEDGER_WINDOW_OVERLAP] = "window_overlap",
		[LEDGER_WINDOW_IMPLAUSIBLE] = "window_implausible",
		[LEDGER_PROFILE_EXCESS] = "profile_excess",
		[LEDGER_PROFILE_SHORT] = "profile_short",
		[LEDGER_PROFILE_ORPHAN] = "profile_orphan",
		[LEDGER_COUNTERS_REVERSED] = "counters_reversed",
		[LEDGER_JOURNAL_DAMAGED] = "journal_damaged",
		[LEDGER_SUM_WRONG] = "sum_wrong",
		[LEDGER_OVERFLOW] = "overflow",
	};

	return (unsigned int)c < LEDGER_CONTRADICTIONS ? names[c] : "unknown";
}

static void print_row(FILE *out, const char *name, uint64_t value, const char *remark)
{
	fprintf(out, "  %-20s %12" PRIu64 "%s%s\n", name, value, *remark ? "  " : "", remark);
}

static void print_inconsistencies(const struct ledger_table *t, FILE *out)
{
	if (t->unexplained)
		print_row(out, "unexplained", t->unexplained,
			  "taken, and nothing says where they went");
	if (t->surplus)
		print_row(out, "surplus", t->surplus, "accounted for, but never taken");
	for (uint32_t i = 0; i < LEDGER_CONTRADICTIONS; i++)
		if (t->contradictions[i])
			print_row(out, ledger_contradiction_name((enum ledger_contradiction)i),
				  t->contradictions[i], "times: what the parts say does not agree");
}

void ledger_print(const struct ledger_table *t, FILE *out)
{
	char remark[160];

	fprintf(out, "samples\n");
	print_row(out, "taken", t->taken,
		  t->unfinished ? "at least: the last counters of a collector never came" : "");
	snprintf(remark, sizeof(remark), "in %" PRIu64 " profiles of %" PRIu64 " windows",
		 t->profiles, t->windows);
	print_row(out, "delivered", t->delivered, remark);
	print_row(out, "lost", ledger_lost_total(t), "");
	for (uint32_t i = 0; i < LEDGER_LOSSES; i++) {
		struct loss_text text = loss_text((enum ledger_loss)i);

		if (!t->lost[i])
			continue;
		snprintf(remark, sizeof(remark), "%s: %s", text.hop, text.meaning);
		print_row(out, text.name, t->lost[i], remark);
	}
	if (t->underway)
		print_row(out, "underway", t->underway, "");
	if (t->removed_files) {
		snprintf(remark, sizeof(remark),
			 "files, %" PRIu64 " bytes: delivered, removed later to keep the limits",
			 t->removed_bytes);
		print_row(out, "removed", t->removed_files, remark);
	}
	print_inconsistencies(t, out);
	fprintf(out, "  %s\n",
		t->balanced ? "balanced: every sample is accounted for"
			    : "NOT BALANCED: see above");
}

static void append(char *out, size_t size, size_t *len, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void append(char *out, size_t size, size_t *len, const char *format, ...)
{
	va_list arguments;
	int n;

	if (*len + 1 >= size)
		return;
	va_start(arguments, format);
	n = vsnprintf(out + *len, size - *len, format, arguments);
	va_end(arguments);
	if (n > 0)
		*len += (size_t)n < size - *len ? (size_t)n : size - *len - 1;
}

size_t ledger_comment(const struct ledger_table *t, char *out, size_t size)
{
	size_t len = 0;

	if (size == 0)
		return 0;
	out[0] = '\0';
	append(out, size, &len,
	       "belfry account: taken=%" PRIu64 " delivered=%" PRIu64 " lost=%" PRIu64, t->taken,
	       t->delivered, ledger_lost_total(t));
	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		if (t->lost[i])
			append(out, size, &len, " %s=%" PRIu64,
			       ledger_loss_name((enum ledger_loss)i), t->lost[i]);
	if (t->underway)
		append(out, size, &len, " underway=%" PRIu64, t->underway);
	if (t->unexplained)
		append(out, size, &len, " unexplained=%" PRIu64, t->unexplained);
	if (t->surplus)
		append(out, size, &len, " surplus=%" PRIu64, t->surplus);
	for (uint32_t i = 0; i < LEDGER_CONTRADICTIONS; i++)
		if (t->contradictions[i])
			append(out, size, &len, " %s=%" PRIu64,
			       ledger_contradiction_name((enum ledger_contradiction)i),
			       t->contradictions[i]);
	append(out, size, &len, " balanced=%s", t->balanced ? "yes" : "no");
	return len;
}
