// SPDX-License-Identifier: Apache-2.0
#include "uploader/intake.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ipc/log.h"

#define NSEC_PER_SEC	1000000000ull
#define CLOCK_DRIFT_MAX 86400 /* s: a window further from now is filed under now */

/* A peer that misbehaves must not fill the log: the 1st, 2nd, 4th, 8th ... time is told. */
static bool worth_telling(uint64_t count)
{
	return (count & (count - 1)) == 0;
}

static void refuse_bad(struct intake *i, const char *wrong)
{
	if (worth_telling(++i->counters.bad))
		log_warn("message_bad",
			 "message of the symbolizer refused: %s (%" PRIu64 " so far)", wrong,
			 i->counters.bad);
}

static void refuse_late(struct intake *i)
{
	const struct window_account *a = &i->message.account;

	if (worth_telling(++i->counters.late))
		log_warn("message_late",
			 "message of window %" PRIu64 " refused: closed already (%" PRIu64
			 " so far)",
			 a->window, i->counters.late);
}

/* `why` is told to the journal as well, so that a restart does not make the account look better. */
static void refuse_contradiction(struct intake *i, enum ledger_contradiction why)
{
	struct journal_entry e = { .kind = JOURNAL_INCONSISTENT, .what = why };

	journal_append(i->journal, &e);
	if (worth_telling(++i->counters.refused))
		log_warn("message_refused",
			 "message of window %" PRIu64 " refused: %s (%" PRIu64 " so far)",
			 i->message.account.window, ledger_contradiction_name(why),
			 i->counters.refused);
}

/* Makes the message's window known. Returns false where the message is refused. */
static bool take_account(struct intake *i)
{
	const struct profile_message *m = &i->message;
	struct ledger *ledger = journal_ledger(i->journal);
	struct journal_entry e = { .kind = JOURNAL_WINDOW, .account = m->account };

	switch (ledger_window(ledger, &m->account)) {
	case LEDGER_NEW:
		journal_append(i->journal, &e); /* a failure is made up for by a checkpoint */
		if (i->sync)
			journal_sync(i->journal);
		return true;
	case LEDGER_KNOWN:
		return true;
	case LEDGER_LATE:
		refuse_late(i);
		return false;
	case LEDGER_REFUSED:
		refuse_contradiction(i, ledger_last_contradiction(ledger));
		return false;
	case LEDGER_NO_MEMORY:
		break;
	}
	log_warn("no_memory", "window %" PRIu64 ": no memory for its account", m->account.window);
	return false;
}

static struct sink_text find_label(const struct profile_message *m, const char *name)
{
	uint32_t len = (uint32_t)strlen(name);

	for (uint32_t i = 0; i < m->label_count; i++) {
		const struct profile_label *l = &m->labels[i];

		if (l->name_len == len && memcmp(l->name, name, len) == 0)
			return (struct sink_text){ l->value, l->value_len };
	}
	return (struct sink_text){ "", 0 };
}

/* A symbolizer whose clock is mad, or who is, must not scatter folders over all centuries. */
static uint64_t filing_time(const struct window_account *a)
{
	struct timespec t;
	uint64_t now;
	uint64_t told = a->start_time / NSEC_PER_SEC;

	clock_gettime(CLOCK_REALTIME, &t);
	now = t.tv_sec > 0 ? (uint64_t)t.tv_sec : 0;
	return told + CLOCK_DRIFT_MAX < now || told > now + CLOCK_DRIFT_MAX ? now : told;
}

static void count_lost(struct intake *i, int error)
{
	const struct profile_message *m = &i->message;
	const struct window_account *a = &m->account;
	struct journal_entry e = { .kind = JOURNAL_LOST, .account = *a, .index = m->index };

	e.samples = m->samples;
	e.what = (uint32_t)-error;
	i->counters.failed++;
	journal_append(i->journal, &e);
	ledger_profile(journal_ledger(i->journal), a->symbolizer_id, a->window, m->index,
		       m->samples, false);
}

/*
 * Writes the file, tells the journal, gives the file its name, in this order: whatever kills us in
 * between, the last line of the journal and what lies on the disk tell what is left to do
 * (journal.c, settle).
 */
static void write_profile(struct intake *i)
{
	const struct profile_message *m = &i->message;
	const struct window_account *a = &m->account;
	struct ledger *ledger = journal_ledger(i->journal);
	const struct sink_profile p = { .time = filing_time(a),
					.comm = find_label(m, "comm"),
					.pid = find_label(m, "pid"),
					.bytes = m->pprof,
					.len = m->pprof_len };
	struct journal_entry e = { .kind = JOURNAL_PROFILE, .account = *a, .index = m->index };
	struct sink_file file;
	int error = sink_prepare(i->sink, &p, &file);

	if (error) {
		count_lost(i, error);
		return;
	}
	e.samples = m->samples;
	e.bytes = file.bytes;
	memcpy(e.file, file.name, sizeof(e.file));
	error = journal_append(i->journal, &e);
	if (error) {
		sink_abandon(&file);
		count_lost(i, error);
		return;
	}
	ledger_profile(ledger, a->symbolizer_id, a->window, m->index, m->samples, true);
	if (sink_commit(i->sink, &file) == 0) {
		i->counters.written++;
		return;
	}
	i->counters.failed++;
	e.kind = JOURNAL_UNDONE;
	journal_append(i->journal, &e);
	ledger_profile_undone(ledger, a->symbolizer_id, a->window, m->index, m->samples);
}

static void take_profile(struct intake *i)
{
	const struct profile_message *m = &i->message;
	const struct window_account *a = &m->account;
	struct ledger *ledger = journal_ledger(i->journal);

	switch (ledger_ask_profile(ledger, a->symbolizer_id, a->window, m->index, m->samples)) {
	case LEDGER_NEW:
		write_profile(i);
		break;
	case LEDGER_KNOWN:
		if (worth_telling(++i->counters.duplicates))
			log_warn("profile_duplicate",
				 "profile %u of window %" PRIu64 " came before: refused", m->index,
				 a->window);
		break;
	default:
		ledger_contradict(ledger, LEDGER_PROFILE_EXCESS);
		refuse_contradiction(i, LEDGER_PROFILE_EXCESS);
		break;
	}
}

static void take_end(struct intake *i)
{
	struct journal_entry e = { .kind = JOURNAL_END, .account = i->message.account };

	ledger_end(journal_ledger(i->journal), &e.account);
	journal_append(i->journal, &e);
	journal_sync(i->journal);
	i->counters.ends++;
	log_info("stream_end", "the collector's stream has ended");
}

static void follow_sequence(struct intake *i)
{
	const struct profile_message *m = &i->message;

	if (m->account.symbolizer_id != i->symbolizer) {
		i->symbolizer = m->account.symbolizer_id;
		i->next_sequence = m->sequence; /* we may have come later than it */
	}
	if (m->sequence < i->next_sequence)
		return;
	if (m->sequence > i->next_sequence) {
		i->counters.missing += m->sequence - i->next_sequence;
		log_warn("messages_missing", "%" PRIu64 " messages of the symbolizer were lost",
			 m->sequence - i->next_sequence);
	}
	i->next_sequence = m->sequence == UINT64_MAX ? UINT64_MAX : m->sequence + 1;
}

void intake_message(struct intake *i, const uint8_t *data, size_t len)
{
	const char *wrong;

	i->counters.messages++;
	wrong = len > PROFILE_MESSAGE_MAX
			? "message is too long"
			: profile_message_decode(data, (uint32_t)len, &i->message);
	if (wrong) {
		refuse_bad(i, wrong);
		return;
	}
	follow_sequence(i);
	switch (i->message.type) {
	case PROFILE_WINDOW:
		take_account(i);
		break;
	case PROFILE_PPROF:
		if (take_account(i))
			take_profile(i);
		break;
	case PROFILE_END:
		take_end(i);
		break;
	case PROFILE_MESSAGE_TYPES:
		break;
	}
}

void intake_on_removed(void *context, const char *file, uint64_t bytes)
{
	struct journal *journal = context;
	struct journal_entry e = { .kind = JOURNAL_REMOVED, .bytes = bytes };

	memcpy(e.file, file, strnlen(file, sizeof(e.file) - 1));
	journal_append(journal, &e);
	ledger_removed(journal_ledger(journal), bytes);
}
