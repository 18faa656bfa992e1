// SPDX-License-Identifier: Apache-2.0
#include "cli/pprof_merger.h"

#include <stdlib.h>
#include <string.h>

struct pprof_merge *pprof_merge_new(void)
{
	struct pprof_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	pprof_init(&m->out);
	m->seed = hash_seed();
	m->preferred = PPROF_NONE;
	return m;
}

void pprof_merge_free(struct pprof_merge *m)
{
	if (!m)
		return;
	pprof_free(&m->out);
	index_table_free(&m->strings);
	index_table_free(&m->functions);
	index_table_free(&m->mappings);
	index_table_free(&m->locations);
	index_table_free(&m->samples);
	free(m->weights.items);
	free(m);
}

/* -- samples ------------------------------------------------------------------------------------
 */

static int label_compare(const void *a, const void *b)
{
	const struct pprof_label *x = a;
	const struct pprof_label *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->str != y->str)
		return x->str < y->str ? -1 : 1;
	if (x->num != y->num)
		return x->num < y->num ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static bool label_equal(const struct pprof_label *x, const struct pprof_label *y)
{
	return label_compare(x, y) == 0;
}

/* The candidate is the sample that was appended last to stack and labels, not yet to samples. */
struct sample_key {
	const struct pprof *out;
	struct pprof_sample sample;
};

static bool sample_equal(const void *key, uint32_t index)
{
	const struct sample_key *k = key;
	const struct pprof *out = k->out;
	const struct pprof_sample *s = &k->sample;
	const struct pprof_sample *there = &out->samples.items[index];

	if (s->location_count != there->location_count || s->label_count != there->label_count)
		return false;
	for (uint32_t i = 0; i < s->label_count; i++)
		if (!label_equal(&out->labels.items[s->first_label + i],
				 &out->labels.items[there->first_label + i]))
			return false;
	return !s->location_count || memcmp(out->stack.items + s->first_location,
					    out->stack.items + there->first_location,
					    s->location_count * sizeof(*out->stack.items)) == 0;
}

static uint64_t sample_hash(const struct pprof_merge *m, const struct pprof_sample *s)
{
	uint64_t hash = m->seed;

	for (uint32_t i = 0; i < s->location_count; i++)
		hash = hash_number(hash, m->out.stack.items[s->first_location + i]);
	for (uint32_t i = 0; i < s->label_count; i++) {
		const struct pprof_label *l = &m->out.labels.items[s->first_label + i];

		hash = hash_number(hash, (uint64_t)l->key << 32 | l->str);
		hash = hash_number(hash_number(hash, (uint64_t)l->num), l->unit);
	}
	return hash;
}

static bool sample_has_key(const struct pprof *out, const struct pprof_sample *s, uint32_t key)
{
	for (uint32_t i = 0; i < s->label_count; i++)
		if (out->labels.items[s->first_label + i].key == key)
			return true;
	return false;
}

/* Appends the labels of a sample, its own and its profile's, in one order for all samples. */
static void append_labels(struct pprof_merge *m, const struct translation *t,
			  const struct pprof_sample *in, const struct pprof_label *extra,
			  uint32_t extra_count, struct pprof_sample *s)
{
	struct pprof *out = &m->out;

	for (uint32_t i = 0; i < in->label_count; i++) {
		struct pprof_label l = t->in->labels.items[in->first_label + i];

		l.key = t->strings[l.key];
		l.str = t->strings[l.str];
		l.unit = t->strings[l.unit];
		merge_check(m, PPROF_APPEND(out, labels, l));
	}
	s->label_count = out->labels.count - s->first_label;
	for (uint32_t i = 0; i < extra_count; i++)
		if (!m->problem && !sample_has_key(out, s, extra[i].key))
			merge_check(m, PPROF_APPEND(out, labels, extra[i]));
	s->label_count = out->labels.count - s->first_label;
	if (s->label_count)
		qsort(out->labels.items + s->first_label, s->label_count,
		      sizeof(*out->labels.items), label_compare);
}

/* Values are added without wrapping: a hostile profile's sums stay at the largest number. */
static void add_values(struct pprof *out, uint32_t sample, const int64_t *values)
{
	for (uint32_t i = 0; i < out->sample_type_count; i++) {
		int64_t *sum = &out->values.items[(size_t)sample * out->sample_type_count + i];

		if (__builtin_add_overflow(*sum, values[i], sum))
			*sum = values[i] < 0 ? INT64_MIN : INT64_MAX;
	}
}

static void merge_sample(struct pprof_merge *m, const struct translation *t, uint32_t number,
			 const struct pprof_label *extra, uint32_t extra_count)
{
	struct pprof *out = &m->out;
	const struct pprof_sample *in = &t->in->samples.items[number];
	struct pprof_sample s = { .first_location = out->stack.count,
				  .location_count = in->location_count,
				  .first_label = out->labels.count };
	struct sample_key key;
	uint64_t hash;
	uint32_t index;

	for (uint32_t i = 0; i < in->location_count; i++) {
		uint32_t location = t->in->stack.items[in->first_location + i];

		merge_check(m, PPROF_APPEND(out, stack, t->locations[location]));
	}
	append_labels(m, t, in, extra, extra_count, &s);
	if (m->problem)
		return;
	key = (struct sample_key){ out, s };
	hash = sample_hash(m, &s);
	index = index_table_find(&m->samples, hash, sample_equal, &key);
	if (index == INDEX_NONE) {
		index = out->samples.count;
		for (uint32_t i = 0; i < out->sample_type_count; i++)
			merge_check(m, PPROF_APPEND(out, values, 0));
		merge_check(m, PPROF_APPEND(out, samples, s) &&
				       index_table_add(&m->samples, hash, index));
		if (m->problem)
			return;
	} else {
		out->stack.count = s.first_location;
		out->labels.count = s.first_label;
	}
	add_values(out, index,
		   PPROF_RANGE(t->in->values, (size_t)number * out->sample_type_count,
			       out->sample_type_count));
}

/* -- profiles -----------------------------------------------------------------------------------
 */

static struct pprof_value_type translate_value_type(const struct translation *t,
						    struct pprof_value_type v)
{
	return (struct pprof_value_type){ t->strings[v.type], t->strings[v.unit] };
}

static bool value_type_equal(struct pprof_value_type a, struct pprof_value_type b)
{
	return a.type == b.type && a.unit == b.unit;
}

/* The first profile says what is measured; each further one must measure the same. */
static const char *merge_types(struct pprof_merge *m, const struct translation *t)
{
	const struct pprof *in = t->in;
	struct pprof *out = &m->out;

	if (!m->started) {
		for (uint32_t i = 0; i < in->sample_type_count; i++)
			out->sample_types[i] = translate_value_type(t, in->sample_types[i]);
		out->sample_type_count = in->sample_type_count;
		out->period_type = translate_value_type(t, in->period_type);
		out->period = in->period;
		out->default_sample_type = t->strings[in->default_sample_type];
		out->drop_frames = t->strings[in->drop_frames];
		out->keep_frames = t->strings[in->keep_frames];
		m->started = true;
		return NULL;
	}
	if (in->sample_type_count != out->sample_type_count)
		return "the profiles to merge have different sample types";
	for (uint32_t i = 0; i < in->sample_type_count; i++)
		if (!value_type_equal(translate_value_type(t, in->sample_types[i]),
				      out->sample_types[i]))
			return "the profiles to merge have different sample types";
	if (!value_type_equal(translate_value_type(t, in->period_type), out->period_type))
		return "the profiles to merge have different period types";
	return NULL;
}

static void merge_time(struct pprof_merge *m, const struct pprof *in)
{
	struct pprof *out = &m->out;
	int64_t end;

	if (__builtin_add_overflow(in->time, in->duration, &end))
		end = INT64_MAX;
	if (!in->time)
		return;
	if (!out->time || in->time < out->time)
		out->time = in->time;
	if (end > m->end)
		m->end = end;
	if (m->end > out->time && __builtin_sub_overflow(m->end, out->time, &out->duration))
		out->duration = INT64_MAX;
}

static void merge_samples(struct pprof_merge *m, const struct translation *t,
			  const struct pprof_merge_label *labels, uint32_t label_count)
{
	struct pprof_label extra[PPROF_MERGE_LABELS_MAX];

	for (uint32_t i = 0; i < label_count; i++)
		extra[i] = (struct pprof_label){
			.key = merge_string(m, labels[i].key),
			.str = labels[i].text.len ? merge_string(m, labels[i].text) : 0,
			.num = labels[i].text.len ? 0 : labels[i].number,
		};
	for (uint32_t i = 0; i < t->in->samples.count && !m->problem; i++)
		merge_sample(m, t, i, extra, label_count);
}

/* Weighs the program of this profile: mapping 0, by pprof's convention. */
static void weigh_main_program(struct pprof_merge *m, const struct translation *t, bool preferred)
{
	const struct pprof *in = t->in;

	if (!in->mappings.count)
		return;
	for (uint32_t i = 0; in->sample_type_count && i < in->samples.count; i++) {
		int64_t samples = in->values.items[(size_t)i * in->sample_type_count];

		m->weights.items[t->mappings[0]] += samples > 0 ? (uint64_t)samples : 0;
	}
	if (preferred)
		m->preferred = t->mappings[0];
}

static bool translation_open(struct translation *t, const struct pprof *in)
{
	*t = (struct translation){
		.in = in,
		.strings = calloc(in->strings.count + 1ull, sizeof(uint32_t)),
		.functions = calloc(in->functions.count + 1ull, sizeof(uint32_t)),
		.mappings = calloc(in->mappings.count + 1ull, sizeof(uint32_t)),
		.locations = calloc(in->locations.count + 1ull, sizeof(uint32_t)),
	};
	return t->strings && t->functions && t->mappings && t->locations;
}

static void translation_close(struct translation *t)
{
	free(t->strings);
	free(t->functions);
	free(t->mappings);
	free(t->locations);
}

const char *pprof_merge_add(struct pprof_merge *m, const struct pprof *p,
			    const struct pprof_merge_label *labels, uint32_t label_count,
			    bool preferred)
{
	struct translation t;

	if (label_count > PPROF_MERGE_LABELS_MAX)
		return "a profile has too many labels to merge";
	merge_text(m, ""); /* string 0 */
	merge_check(m, translation_open(&t, p));
	if (!m->problem)
		merge_tables(m, &t);
	if (!m->problem)
		m->problem = merge_types(m, &t);
	if (!m->problem)
		merge_samples(m, &t, labels, label_count);
	if (!m->problem) {
		weigh_main_program(m, &t, preferred);
		merge_time(m, p);
	}
	translation_close(&t);
	return m->problem;
}

const char *pprof_merge_default_types(struct pprof_merge *m, int64_t period, int64_t time,
				      int64_t duration)
{
	struct pprof *out = &m->out;

	if (m->started)
		return m->problem;
	merge_text(m, ""); /* string 0 */
	out->sample_types[0].type = merge_text(m, "samples");
	out->sample_types[0].unit = merge_text(m, "count");
	out->sample_types[1].type = merge_text(m, "cpu");
	out->sample_types[1].unit = merge_text(m, "nanoseconds");
	out->sample_type_count = 2;
	out->default_sample_type = out->sample_types[1].type;
	out->period_type = out->sample_types[1];
	out->period = period;
	out->time = time;
	out->duration = duration;
	m->started = true;
	return m->problem;
}

const char *pprof_merge_comment(struct pprof_merge *m, const char *text)
{
	uint32_t string;

	merge_text(m, ""); /* string 0, where no profile came before */
	string = merge_text(m, text);
	if (!m->problem)
		merge_check(m, PPROF_APPEND(&m->out, comments, string));
	return m->problem;
}

static uint32_t main_mapping(const struct pprof_merge *m)
{
	uint32_t best = 0;

	if (m->preferred != PPROF_NONE)
		return m->preferred;
	for (uint32_t i = 1; i < m->out.mappings.count; i++)
		if (m->weights.items[i] > m->weights.items[best])
			best = i;
	return best;
}

const struct pprof *pprof_merge_finish(struct pprof_merge *m)
{
	struct pprof *out = &m->out;
	uint32_t best = main_mapping(m);
	struct pprof_mapping first;

	merge_text(m, ""); /* string 0, where no profile came at all */
	if (!best)
		return out;
	first = out->mappings.items[0];
	out->mappings.items[0] = out->mappings.items[best];
	out->mappings.items[best] = first;
	for (uint32_t i = 0; i < out->locations.count; i++) {
		struct pprof_location *l = &out->locations.items[i];

		if (l->mapping == 0)
			l->mapping = best;
		else if (l->mapping == best)
			l->mapping = 0;
	}
	return out;
}
