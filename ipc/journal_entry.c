// SPDX-License-Identifier: Apache-2.0
#include "ipc/journal_entry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How a value is written. */
enum field_form {
	FIELD_IDENTITY, /* uint64_t, 16 hexadecimal digits */
	FIELD_NUMBER,	/* uint64_t, decimal */
	FIELD_SMALL,	/* uint32_t, decimal */
	FIELD_FILE,	/* char[JOURNAL_FILE_MAX] */
};

struct field {
	const char *key;
	enum field_form form;
	size_t offset;
};

#define AT(member) offsetof(struct journal_entry, member)
#define IDENTITY(key, member)                                                                      \
	{                                                                                          \
		key, FIELD_IDENTITY, AT(member)                                                    \
	}
#define NUMBER(key, member)                                                                        \
	{                                                                                          \
		key, FIELD_NUMBER, AT(member)                                                      \
	}
#define SMALL(key, member)                                                                         \
	{                                                                                          \
		key, FIELD_SMALL, AT(member)                                                       \
	}

static const struct field time_field[] = { NUMBER("time", time) };
static const struct field stream_field[] = { IDENTITY("stream", account.collector_stream) };
static const struct field window_fields[] = {
	IDENTITY("symbolizer", account.symbolizer_id),
	NUMBER("window", account.window),
};
static const struct field account_fields[] = {
	NUMBER("start_time", account.start_time),     NUMBER("duration", account.duration),
	NUMBER("first_sample", account.first_sample), NUMBER("end_sample", account.end_sample),
	NUMBER("received", account.received),	      NUMBER("in_profiles", account.in_profiles),
	SMALL("profiles", account.profiles),
};
static const struct field profile_fields[] = {
	SMALL("index", index),
	NUMBER("samples", samples),
	NUMBER("bytes", bytes),
	{ "file", FIELD_FILE, AT(file) },
};
static const struct field lost_fields[] = {
	SMALL("index", index),
	NUMBER("samples", samples),
	SMALL("error", what),
};
static const struct field removed_fields[] = {
	NUMBER("bytes", bytes),
	{ "file", FIELD_FILE, AT(file) },
};
static const struct field what_field[] = { SMALL("what", what) };
static const struct field low_fields[] = {
	SMALL("known", low.known),
	IDENTITY("by", low.symbolizer),
	NUMBER("at", low.window),
};
static const struct field range_fields[] = {
	NUMBER("first", first),
	NUMBER("end", end),
	IDENTITY("low_by", low.symbolizer),
	NUMBER("low_at", low.window),
	IDENTITY("high_by", high.symbolizer),
	NUMBER("high_at", high.window),
};
static const struct field final_field[] = { SMALL("final", final) };
static const struct field open_fields[] = {
	NUMBER("delivered", delivered),
	NUMBER("failed", failed),
};
static const struct field seen_fields[] = {
	SMALL("index", index),
	SMALL("last", last),
};
static const struct field table_fields[] = {
	NUMBER("taken", table.taken),
	NUMBER("delivered", table.delivered),
	NUMBER("unexplained", table.unexplained),
	NUMBER("surplus", table.surplus),
	NUMBER("windows", table.windows),
	NUMBER("profiles", table.profiles),
	NUMBER("removed_files", table.removed_files),
	NUMBER("removed_bytes", table.removed_bytes),
	NUMBER("late", table.late),
	NUMBER("streams", table.streams),
	NUMBER("unfinished", table.unfinished),
};

/* An array of numbers, each named after its index. */
struct array {
	const char *prefix;
	size_t offset; /* of the first uint64_t */
	uint32_t count;
	const char *(*name)(uint32_t i);
};

static const char *window_loss_name(uint32_t i)
{
	return symbolizer_loss_name((enum symbolizer_loss)i);
}

static const char *counter_name(uint32_t i)
{
	return collector_counter_name((enum collector_counter)i);
}

static const char *loss_name(uint32_t i)
{
	return ledger_loss_name((enum ledger_loss)i);
}

static const char *contradiction_name(uint32_t i)
{
	return ledger_contradiction_name((enum ledger_contradiction)i);
}

static const struct array window_losses = { "lost.", AT(account.lost), SYMBOLIZER_LOSSES,
					    window_loss_name };
static const struct array counters = { "collector.", AT(account.collector.value),
				       COLLECTOR_COUNTERS, counter_name };
static const struct array losses = { "lost.", AT(table.lost), LEDGER_LOSSES, loss_name };
static const struct array contradictions = { "inconsistent.", AT(table.contradictions),
					     LEDGER_CONTRADICTIONS, contradiction_name };

#define PARTS_MAX 6

/* A run of fields, or an array. */
struct part {
	const struct field *fields;
	uint32_t count;
	const struct array *array;
};

#define FIELDS(f)                                                                                  \
	{                                                                                          \
		f, sizeof(f) / sizeof((f)[0]), NULL                                                \
	}
#define ARRAY(a)                                                                                   \
	{                                                                                          \
		NULL, 0, &(a)                                                                      \
	}

/* What each kind of line holds, in order: drives the writer and the reader. */
static const struct line_rule {
	const char *word;
	struct part parts[PARTS_MAX];
} line_rules[JOURNAL_KINDS] = {
	[JOURNAL_START] = { "start", { FIELDS(time_field) } },
	[JOURNAL_STOP] = { "stop", { FIELDS(time_field) } },
	[JOURNAL_WINDOW] = { "window",
			     { FIELDS(time_field), FIELDS(stream_field), FIELDS(window_fields),
			       FIELDS(account_fields), ARRAY(window_losses), ARRAY(counters) } },
	[JOURNAL_PROFILE] = { "profile",
			      { FIELDS(time_field), FIELDS(stream_field), FIELDS(window_fields),
				FIELDS(profile_fields) } },
	[JOURNAL_LOST] = { "lost",
			   { FIELDS(time_field), FIELDS(stream_field), FIELDS(window_fields),
			     FIELDS(lost_fields) } },
	[JOURNAL_UNDONE] = { "undone",
			     { FIELDS(time_field), FIELDS(stream_field), FIELDS(window_fields),
			       FIELDS(profile_fields) } },
	[JOURNAL_END] = { "end",
			  { FIELDS(time_field), FIELDS(stream_field), FIELDS(window_fields),
			    FIELDS(account_fields), ARRAY(window_losses), ARRAY(counters) } },
	[JOURNAL_REMOVED] = { "removed", { FIELDS(time_field), FIELDS(removed_fields) } },
	[JOURNAL_INCONSISTENT] = { "inconsistent", { FIELDS(time_field), FIELDS(what_field) } },
	[JOURNAL_CHECKPOINT] = { "checkpoint",
				 { FIELDS(time_field), FIELDS(table_fields), ARRAY(losses),
				   ARRAY(contradictions), FIELDS(low_fields) } },
	[JOURNAL_GONE] = { "gone", { FIELDS(stream_field) } },
	[JOURNAL_STREAM] = { "stream",
			     { FIELDS(stream_field), FIELDS(final_field), FIELDS(low_fields),
			       ARRAY(counters) } },
	[JOURNAL_GAPS] = { "gaps", { FIELDS(stream_field), ARRAY(losses) } },
	[JOURNAL_RANGE] = { "range", { FIELDS(stream_field), FIELDS(range_fields) } },
	[JOURNAL_OPEN] = { "open",
			   { FIELDS(stream_field), FIELDS(window_fields), FIELDS(account_fields),
			     FIELDS(open_fields), ARRAY(window_losses) } },
	[JOURNAL_SEEN] = { "seen",
			   { FIELDS(stream_field), FIELDS(window_fields), FIELDS(seen_fields) } },
	[JOURNAL_CHECKPOINT_END] = { "checkpoint_end", { FIELDS(time_field) } },
};

static bool file_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

bool journal_file_valid(const char *name)
{
	bool part_begins = true;
	uint32_t slashes = 0;
	uint32_t len = 0;

	for (; name[len]; len++) {
		char c = name[len];

		if (len + 1 >= JOURNAL_FILE_MAX)
			return false;
		if (c == '/') {
			if (part_begins || ++slashes > 1)
				return false;
			part_begins = true;
			continue;
		}
		if (!file_character(c) || (part_begins && c == '.'))
			return false;
		part_begins = false;
	}
	return !part_begins;
}

/* -- writing -------------------------------------------------------------------------------- */

struct writer {
	char *out;
	uint32_t size;
	uint32_t len;
	bool bad;
};

static void write_text(struct writer *w, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	if (w->bad || n >= w->size - w->len) {
		w->bad = true;
		return;
	}
	memcpy(w->out + w->len, text, n);
	w->len += n;
}

static void write_key(struct writer *w, const char *prefix, const char *key)
{
	write_text(w, " ");
	write_text(w, prefix);
	write_text(w, key);
	write_text(w, "=");
}

static void write_number(struct writer *w, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	write_text(w, text);
}

static void write_field(struct writer *w, const struct field *f, const struct journal_entry *e)
{
	const char *at = (const char *)e + f->offset;
	uint64_t wide = 0;
	uint32_t small = 0;
	char text[24];

	write_key(w, "", f->key);
	switch (f->form) {
	case FIELD_IDENTITY:
		memcpy(&wide, at, sizeof(wide));
		snprintf(text, sizeof(text), "%016" PRIx64, wide);
		write_text(w, text);
		break;
	case FIELD_NUMBER:
		memcpy(&wide, at, sizeof(wide));
		write_number(w, wide);
		break;
	case FIELD_SMALL:
		memcpy(&small, at, sizeof(small));
		write_number(w, small);
		break;
	case FIELD_FILE:
		w->bad |= !journal_file_valid(at);
		write_text(w, at);
		break;
	}
}

static void write_array(struct writer *w, const struct array *a, const struct journal_entry *e)
{
	const char *at = (const char *)e + a->offset;
	uint64_t v;

	for (uint32_t i = 0; i < a->count; i++) {
		memcpy(&v, at + i * sizeof(v), sizeof(v));
		write_key(w, a->prefix, a->name(i));
		write_number(w, v);
	}
}

uint32_t journal_entry_encode(const struct journal_entry *e, char *out, uint32_t size)
{
	const struct line_rule *rule = &line_rules[e->kind];
	struct writer w = { .out = out, .size = size };

	write_text(&w, rule->word);
	for (uint32_t p = 0; p < PARTS_MAX; p++) {
		const struct part *part = &rule->parts[p];

		for (uint32_t i = 0; i < part->count; i++)
			write_field(&w, &part->fields[i], e);
		if (part->array)
			write_array(&w, part->array, e);
	}
	write_text(&w, "\n");
	return w.bad ? 0 : w.len;
}

/* -- reading -------------------------------------------------------------------------------- */

static bool read_literal(struct cursor *c, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	const uint8_t *at = cursor_bytes(c, n);

	if (!at || memcmp(at, text, n) != 0)
		c->bad = true;
	return cursor_ok(c);
}

static bool at_value_end(const struct cursor *c)
{
	struct cursor look = *c;

	return cursor_u8(&look) == ' ' || !cursor_ok(&look);
}

/* Decimal, without sign, leading zeros or overflow. */
static uint64_t read_number(struct cursor *c, uint64_t most)
{
	uint64_t v = 0;
	uint32_t digits = 0;

	while (cursor_ok(c) && !at_value_end(c)) {
		uint8_t byte = cursor_u8(c);
		uint64_t digit = (uint64_t)byte - '0';

		if (byte < '0' || byte > '9' || (digits == 1 && v == 0) || v > (most - digit) / 10)
			c->bad = true;
		else
			v = v * 10 + digit;
		digits++;
	}
	if (digits == 0)
		c->bad = true;
	return v;
}

static uint64_t read_identity(struct cursor *c)
{
	uint64_t v = 0;

	for (int i = 0; i < 16; i++) {
		uint8_t byte = cursor_u8(c);

		if (byte >= '0' && byte <= '9')
			v = v << 4 | (uint64_t)(byte - '0');
		else if (byte >= 'a' && byte <= 'f')
			v = v << 4 | (uint64_t)(byte - 'a' + 10);
		else
			c->bad = true;
	}
	return v;
}

static void read_file(struct cursor *c, char out[JOURNAL_FILE_MAX])
{
	uint32_t n = 0;

	while (cursor_ok(c) && !at_value_end(c)) {
		if (n + 1 >= JOURNAL_FILE_MAX) {
			c->bad = true;
			break;
		}
		out[n++] = (char)cursor_u8(c);
	}
	out[n] = '\0';
	/* A zero byte would end the text before the value ends. */
	if (strlen(out) != n || !journal_file_valid(out))
		c->bad = true;
}

static bool read_key(struct cursor *c, const char *prefix, const char *key)
{
	return read_literal(c, " ") && read_literal(c, prefix) && read_literal(c, key) &&
	       read_literal(c, "=");
}

static void read_field(struct cursor *c, const struct field *f, struct journal_entry *e)
{
	char *at = (char *)e + f->offset;
	uint64_t wide;
	uint32_t small;

	if (!read_key(c, "", f->key))
		return;
	switch (f->form) {
	case FIELD_IDENTITY:
		wide = read_identity(c);
		memcpy(at, &wide, sizeof(wide));
		break;
	case FIELD_NUMBER:
		wide = read_number(c, UINT64_MAX);
		memcpy(at, &wide, sizeof(wide));
		break;
	case FIELD_SMALL:
		small = (uint32_t)read_number(c, UINT32_MAX);
		memcpy(at, &small, sizeof(small));
		break;
	case FIELD_FILE:
		read_file(c, at);
		break;
	}
}

static void read_array(struct cursor *c, const struct array *a, struct journal_entry *e)
{
	char *at = (char *)e + a->offset;

	for (uint32_t i = 0; i < a->count && read_key(c, a->prefix, a->name(i)); i++) {
		uint64_t v = read_number(c, UINT64_MAX);

		memcpy(at + i * sizeof(v), &v, sizeof(v));
	}
}

/* Takes the line's first word. */
static enum journal_kind read_kind(struct cursor *c)
{
	uint32_t n = 0;
	const uint8_t *word;

	for (struct cursor look = *c; !at_value_end(&look); n++)
		cursor_skip(&look, 1);
	word = cursor_bytes(c, n);
	for (int kind = 1; kind < JOURNAL_KINDS && word; kind++)
		if (strlen(line_rules[kind].word) == n &&
		    memcmp(line_rules[kind].word, word, n) == 0)
			return (enum journal_kind)kind;
	return (enum journal_kind)0;
}

const char *journal_entry_decode(const char *line, uint32_t len, struct journal_entry *e)
{
	struct cursor c = cursor_over(line, len);
	const struct line_rule *rule;

	memset(e, 0, sizeof(*e));
	if (len >= JOURNAL_LINE_MAX)
		return "line is too long";
	e->kind = read_kind(&c);
	if (e->kind == 0)
		return "line begins with an unknown word";
	rule = &line_rules[e->kind];
	for (uint32_t p = 0; p < PARTS_MAX; p++) {
		const struct part *part = &rule->parts[p];

		for (uint32_t i = 0; i < part->count && cursor_ok(&c); i++)
			read_field(&c, &part->fields[i], e);
		if (part->array && cursor_ok(&c))
			read_array(&c, part->array, e);
	}
	if (!cursor_ok(&c))
		return "line has a missing, unknown or malformed value";
	return cursor_finished(&c) ? NULL : "line does not end where its fields end";
}
