/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder's bytes, read back by a decoder of the test's own after profile.proto, and by Go's
 * where it is installed. */
#include "tests/unit/cmocka_all.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolizer/pprof.h"

#define RAW_MAX	    (64u << 20)
#define STRINGS_MAX 512
#define ITEMS_MAX   512
#define IDS_MAX	    2048
#define LIMIT	    (1 << 20)

/* ---- a decoder
 * ------------------------------------------------------------------------------------- */

struct slice {
	const uint8_t *at;
	const uint8_t *end;
};

static uint64_t take_varint(struct slice *s)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; shift < 70; shift += 7) {
		assert_true(s->at < s->end);
		value |= (uint64_t)(*s->at & 0x7f) << shift;
		if (!(*s->at++ & 0x80))
			return value;
	}
	fail_msg("varint without end");
	return 0;
}

/* The next field: its number, and its value or contents. False at the end. */
static bool take_field(struct slice *s, uint32_t *field, uint64_t *value, struct slice *contents)
{
	uint64_t tag, len;

	if (s->at == s->end)
		return false;
	tag = take_varint(s);
	*field = (uint32_t)(tag >> 3);
	if ((tag & 7) == 0) {
		*value = take_varint(s);
		return true;
	}
	assert_int_equal(tag & 7, 2);
	len = take_varint(s);
	assert_true(len <= (uint64_t)(s->end - s->at));
	*contents = (struct slice){ s->at, s->at + len };
	s->at += len;
	return true;
}

struct item {
	uint64_t field[12]; /* the number fields of a message, by field number */
	uint64_t line_function;
	uint32_t lines;
};

struct label {
	uint64_t key;
	uint64_t text;
	uint64_t number;
	uint64_t unit;
};

struct sample {
	uint64_t ids[IDS_MAX];
	uint32_t id_count;
	uint64_t values[4];
	uint32_t value_count;
	struct label labels[4];
	uint32_t label_count;
};

struct decoded {
	uint8_t *raw;
	char *strings[STRINGS_MAX];
	uint32_t string_count;
	struct item value_types[4], mappings[ITEMS_MAX], locations[ITEMS_MAX], functions[ITEMS_MAX];
	uint32_t value_type_count, mapping_count, location_count, function_count;
	struct item period_type;
	struct sample samples[8];
	uint32_t sample_count;
	uint64_t comments[8];
	uint32_t comment_count;
	uint64_t number[16]; /* number fields of the profile itself */
};

static struct item take_item(struct slice s)
{
	struct item item = { .lines = 0 };
	struct slice contents;
	uint64_t value;
	uint32_t field;

	while (s.at < s.end) {
		contents.at = NULL;
		take_field(&s, &field, &value, &contents);
		assert_true(field > 0 && field < 12);
		if (contents.at) { /* only a location has a message inside: a line */
			assert_int_equal(field, 4);
			item.lines++;
			item.line_function = take_item(contents).field[1];
		} else {
			item.field[field] = value;
		}
	}
	return item;
}

static void take_sample(struct slice s, struct sample *out)
{
	struct slice contents;
	uint64_t value;
	uint32_t field;

	while (take_field(&s, &field, &value, &contents)) {
		while (field == 1 && contents.at < contents.end) {
			assert_true(out->id_count < IDS_MAX);
			out->ids[out->id_count++] = take_varint(&contents);
		}
		while (field == 2 && contents.at < contents.end) {
			assert_true(out->value_count < 4);
			out->values[out->value_count++] = take_varint(&contents);
		}
		if (field == 3) {
			struct item label = take_item(contents);

			assert_true(out->label_count < 4);
			out->labels[out->label_count++] =
				(struct label){ label.field[1], label.field[2], label.field[3],
						label.field[4] };
		}
	}
}

static uint32_t gunzip(const uint8_t *data, size_t len, uint8_t *raw)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)data,
		       .avail_in = (uInt)len,
		       .next_out = raw,
		       .avail_out = RAW_MAX };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK); /* gzip, nothing else */
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0); /* and nothing behind it */
	inflateEnd(&z);
	return (uint32_t)z.total_out;
}

static void add_string(struct decoded *d, struct slice s)
{
	size_t len = (size_t)(s.end - s.at);
	char *text = malloc(len + 1);

	assert_non_null(text);
	assert_true(d->string_count < STRINGS_MAX);
	memcpy(text, s.at, len);
	text[len] = '\0';
	d->strings[d->string_count++] = text;
}

static struct decoded *decode(const uint8_t *data, size_t len)
{
	struct decoded *d = calloc(1, sizeof(*d));
	struct slice s, contents;
	uint64_t value;
	uint32_t field;

	assert_non_null(d);
	d->raw = malloc(RAW_MAX);
	assert_non_null(d->raw);
	s = (struct slice){ d->raw, d->raw + gunzip(data, len, d->raw) };
	while (take_field(&s, &field, &value, &contents)) {
		assert_true(field > 0 && field < 16);
		switch (field) {
		case 1:
			d->value_types[d->value_type_count++] = take_item(contents);
			break;
		case 2:
			take_sample(contents, &d->samples[d->sample_count++]);
			break;
		case 3:
			d->mappings[d->mapping_count++] = take_item(contents);
			break;
		case 4:
			d->locations[d->location_count++] = take_item(contents);
			break;
		case 5:
			d->functions[d->function_count++] = take_item(contents);
			break;
		case 6:
			add_string(d, contents);
			break;
		case 11:
			d->period_type = take_item(contents);
			break;
		case 13:
			d->comments[d->comment_count++] = value;
			break;
		default:
			d->number[field] = value;
		}
	}
	return d;
}

static void release(struct decoded *d)
{
	for (uint32_t i = 0; i < d->string_count; i++)
		free(d->strings[i]);
	free(d->raw);
	free(d);
}

static const char *string(const struct decoded *d, uint64_t id)
{
	assert_true(id < d->string_count);
	return d->strings[id];
}

/* ---- fixture
 * --------------------------------------------------------------------------------------- */

static const struct pprof_header header = { .time = 1700000000000000000ull,
					    .duration = 10000000000ull,
					    .period = 52631578 /* 19 Hz */ };

static struct pprof_encoder *start(size_t limit)
{
	struct pprof_encoder *e = encoder_new(&header, limit);

	assert_non_null(e);
	return e;
}

/* Finishes, decodes, and checks what holds for every profile. */
static struct decoded *finish(struct pprof_encoder *e)
{
	const uint8_t *data;
	struct decoded *d;
	size_t len;

	assert_int_equal(encoder_finish(e, &data, &len), PPROF_DONE);
	d = decode(data, len);
	encoder_free(e);
	assert_string_equal(string(d, 0), "");
	for (uint32_t i = 1; i < d->string_count; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(d->strings[i], d->strings[j]);
	for (uint32_t i = 0; i < d->mapping_count; i++)
		assert_int_equal(d->mappings[i].field[1], i + 1);
	for (uint32_t i = 0; i < d->location_count; i++)
		assert_int_equal(d->locations[i].field[1], i + 1);
	for (uint32_t i = 0; i < d->function_count; i++)
		assert_int_equal(d->functions[i].field[1], i + 1);
	for (uint32_t i = 0; i < d->sample_count; i++)
		assert_int_equal(d->samples[i].value_count, 2);
	return d;
}

/* ---- tests
 * ----------------------------------------------------------------------------------------- */

static void expect_value_type(const struct decoded *d, const struct item *type, const char *name,
			      const char *unit)
{
	assert_string_equal(string(d, type->field[1]), name);
	assert_string_equal(string(d, type->field[2]), unit);
}

static void profile_without_samples_is_a_profile(void **state)
{
	struct decoded *d = finish(start(LIMIT));

	(void)state;
	assert_int_equal(d->value_type_count, 2);
	expect_value_type(d, &d->value_types[0], "samples", "count");
	expect_value_type(d, &d->value_types[1], "cpu", "nanoseconds");
	expect_value_type(d, &d->period_type, "cpu", "nanoseconds");
	assert_int_equal(d->number[9], header.time);
	assert_int_equal(d->number[10], header.duration);
	assert_int_equal(d->number[12], header.period);
	assert_string_equal(string(d, d->number[14]), "cpu");
	assert_int_equal(d->sample_count, 0);
	release(d);
}

static void mapping_says_what_it_was_given(void **state)
{
	const struct pprof_mapping full = { 0x400000, 0x500000, 0x1000, "/bin/x", "abcdef", true };
	const struct pprof_mapping bare = { 0, UINT64_MAX, 0, "", "", false };
	struct pprof_encoder *e = start(LIMIT);
	struct decoded *d;

	(void)state;
	assert_int_equal(encoder_mapping(e, &full), 1);
	assert_int_equal(encoder_mapping(e, &bare), 2);
	d = finish(e);
	assert_int_equal(d->mappings[0].field[2], 0x400000);
	assert_int_equal(d->mappings[0].field[3], 0x500000);
	assert_int_equal(d->mappings[0].field[4], 0x1000);
	assert_string_equal(string(d, d->mappings[0].field[5]), "/bin/x");
	assert_string_equal(string(d, d->mappings[0].field[6]), "abcdef");
	assert_int_equal(d->mappings[0].field[7], 1); /* has_functions */
	for (uint32_t field = 8; field <= 10; field++)
		assert_int_equal(d->mappings[0].field[field],
				 0); /* no file names, lines, inlined frames */
	assert_int_equal(d->mappings[1].field[3], UINT64_MAX);
	assert_int_equal(d->mappings[1].field[5], 0);
	assert_int_equal(d->mappings[1].field[7], 0);
	release(d);
}

static void function_is_written_once(void **state)
{
	struct pprof_encoder *e = start(LIMIT);
	struct decoded *d;

	(void)state;
	assert_int_equal(encoder_function(e, "f(int)", "_Z1fi", "f.cc"), 1);
	assert_int_equal(encoder_function(e, "f(int)", "_Z1fi", "f.cc"), 1);
	assert_int_equal(encoder_function(e, "f(int)", "_Z1fi", ""), 2);
	assert_int_equal(encoder_function(e, "f(int)", "f(int)", "f.cc"), 3);
	assert_int_equal(encoder_function(e, "g", "_Z1fi", "f.cc"), 4);
	assert_int_equal(encoder_function(e, "", "", ""), 5);
	assert_int_equal(encoder_function(e, "f(int)", "_Z1fi", "f.cc"), 1);
	d = finish(e);
	assert_int_equal(d->function_count, 5);
	assert_string_equal(string(d, d->functions[0].field[2]), "f(int)");
	assert_string_equal(string(d, d->functions[0].field[3]), "_Z1fi");
	assert_string_equal(string(d, d->functions[0].field[4]), "f.cc");
	assert_int_equal(d->functions[1].field[4], 0);
	release(d);
}

static void strings_that_begin_alike_are_told_apart(void **state)
{
	struct pprof_encoder *e = start(LIMIT);
	char name[80] = { 0 };

	(void)state;
	/* "a", "aa", ... to 79 of them, all around the hash's words of 8 bytes */
	for (uint32_t i = 0; i + 1 < sizeof(name); i++) {
		name[i] = 'a';
		assert_int_equal(encoder_function(e, name, name, ""), i + 1);
	}
	release(finish(e)); /* which compares all strings with each other */
}

static void location_has_a_line_only_with_a_function(void **state)
{
	const struct pprof_mapping m = { 0x1000, 0x2000, 0, "/x", "", true };
	struct pprof_encoder *e = start(LIMIT);
	struct decoded *d;

	(void)state;
	assert_int_equal(encoder_location(e, encoder_mapping(e, &m), 0x1234,
					  encoder_function(e, "f", "f", "")),
			 1);
	assert_int_equal(encoder_location(e, 0, UINT64_MAX, 0), 2);
	assert_int_equal(encoder_location(e, UINT64_MAX, UINT64_MAX, UINT64_MAX),
			 3); /* the longest there is */
	d = finish(e);
	assert_int_equal(d->locations[0].field[2], 1);
	assert_int_equal(d->locations[0].field[3], 0x1234);
	assert_int_equal(d->locations[0].lines, 1);
	assert_int_equal(d->locations[0].line_function, 1);
	assert_int_equal(d->locations[1].field[2], 0);
	assert_int_equal(d->locations[1].field[3], UINT64_MAX);
	assert_int_equal(d->locations[1].lines, 0);
	assert_int_equal(d->locations[2].line_function, UINT64_MAX);
	release(d);
}

static void sample_has_two_values_and_its_thread(void **state)
{
	const uint64_t ids[] = { 3, 200, 1ull << 40 };
	struct pprof_encoder *e = start(LIMIT);
	struct decoded *d;

	(void)state;
	encoder_sample(e, ids, 3, 7, 4242, "worker");
	encoder_sample(e, ids, 1, 1, 0, ""); /* a thread without number and name */
	d = finish(e);
	assert_int_equal(d->sample_count, 2);
	assert_int_equal(d->samples[0].id_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(d->samples[0].ids[i], ids[i]);
	assert_int_equal(d->samples[0].values[0], 7);
	assert_int_equal(d->samples[0].values[1], 7ull * 52631578);
	assert_int_equal(d->samples[0].label_count, 2);
	assert_string_equal(string(d, d->samples[0].labels[0].key), "thread_id");
	assert_int_equal(d->samples[0].labels[0].number, 4242);
	assert_int_equal(d->samples[0].labels[0].text, 0);
	assert_string_equal(string(d, d->samples[0].labels[1].key), "thread_name");
	assert_string_equal(string(d, d->samples[0].labels[1].text), "worker");
	assert_int_equal(d->samples[0].labels[1].number, 0);
	assert_int_equal(d->samples[1].label_count, 1);
	assert_int_equal(d->samples[1].labels[0].number, 0);
	assert_true(d->samples[1].labels[0].unit != 0);
	release(d);
}

static void sample_of_the_deepest_stack(void **state)
{
	struct pprof_encoder *e = start(LIMIT);
	uint64_t ids[1154];
	struct decoded *d;

	(void)state;
	for (uint32_t i = 0; i < 1154; i++)
		ids[i] = UINT64_MAX - i; /* 10 bytes each */
	encoder_sample(e, ids, 1154, UINT32_MAX, UINT32_MAX, "x");
	encoder_sample(e, ids, 0, 1, 1, "x"); /* and of none */
	d = finish(e);
	assert_int_equal(d->samples[0].id_count, 1154);
	assert_int_equal(d->samples[0].ids[1153], UINT64_MAX - 1153);
	assert_int_equal(d->samples[0].values[1], 52631578ull * UINT32_MAX);
	assert_int_equal(d->samples[1].id_count, 0);
	release(d);
}

static void comments_are_kept_in_order(void **state)
{
	struct pprof_encoder *e = start(LIMIT);
	struct decoded *d;

	(void)state;
	encoder_comment(e, "first");
	encoder_comment(e, "second");
	encoder_comment(e, "first");
	d = finish(e);
	assert_int_equal(d->comment_count, 3);
	assert_string_equal(string(d, d->comments[0]), "first");
	assert_string_equal(string(d, d->comments[1]), "second");
	assert_int_equal(d->comments[2], d->comments[0]);
	release(d);
}

/* ---- limits
 * ---------------------------------------------------------------------------------------- */

/* Names of random letters, which hardly compress: 2,000 of 100 bytes. */
static void add_noise(struct pprof_encoder *e)
{
	uint32_t seed = 1;
	char name[101];

	for (uint32_t i = 0; i < 2000; i++) {
		for (uint32_t k = 0; k < 100; k++) {
			seed = seed * 1664525u + 1013904223u;
			name[k] = (char)('!' + (seed >> 16) % 94);
		}
		name[100] = '\0';
		encoder_location(e, 0, i, encoder_function(e, name, name, ""));
	}
}

static void limit_is_exact(void **state)
{
	struct pprof_encoder *e = start(LIMIT);
	const uint8_t *data;
	size_t size, len;

	(void)state;
	add_noise(e);
	assert_int_equal(encoder_finish(e, &data, &size), PPROF_DONE);
	assert_true(size > 100000 && size < LIMIT);
	encoder_free(e);

	e = start(size);
	add_noise(e);
	assert_int_equal(encoder_finish(e, &data, &len), PPROF_DONE);
	assert_int_equal(len, size);
	encoder_free(e);

	e = start(size - 1);
	add_noise(e);
	assert_int_equal(encoder_finish(e, &data, &len), PPROF_TOO_LARGE);
	assert_true(len <= size - 1);
	encoder_free(e);
}

static void encoder_that_failed_takes_no_more(void **state)
{
	const struct pprof_mapping m = { 0, 1, 0, "late", "late", false };
	struct pprof_encoder *e = start(1);
	const uint64_t id = 1;
	const uint8_t *data;
	size_t len;

	(void)state;
	add_noise(e);
	assert_int_equal(encoder_function(e, "late", "late", "late"), 0);
	assert_int_equal(encoder_mapping(e, &m), 0);
	assert_int_equal(encoder_location(e, 0, 0, 0), 0);
	encoder_sample(e, &id, 1, 1, 1, "late");
	encoder_comment(e, "late");
	assert_int_equal(encoder_finish(e, &data, &len), PPROF_TOO_LARGE);
	encoder_free(e);
}

/* 40 MB of names that compress to almost nothing: memory is bounded nevertheless. */
static void names_that_compress_well_are_bounded(void **state)
{
	struct pprof_encoder *e = start(8 << 20);
	static char name[4097];
	const uint8_t *data;
	uint32_t i;
	size_t len;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	for (i = 0; i < 10000; i++) {
		snprintf(name, 8, "%06u", i);
		name[6] = 'a';
		if (encoder_function(e, name, "", "") == 0)
			break;
	}
	assert_in_range(i, 8000, 8200); /* 32 MiB of 4,096 bytes each are 8,192 */
	assert_int_equal(encoder_finish(e, &data, &len), PPROF_TOO_LARGE);
	encoder_free(e);
}

/* ---- Go's own reader
 * ------------------------------------------------------------------------------- */

/* Lines of `go tool pprof -raw FILE` that hold `text`; -1 where Go cannot be started. */
static int go_lines_with(const char *file, const char *text)
{
	char command[256], line[1024];
	int found = 0;
	FILE *out;

	snprintf(command, sizeof(command), "go tool pprof -raw %s 2>&1", file);
	out = popen(command, "r");
	if (!out)
		return -1;
	while (fgets(line, sizeof(line), out))
		found += strstr(line, text) != NULL;
	return pclose(out) == 0 ? found : -1;
}

static void go_reads_it(void **state)
{
	const struct pprof_mapping m = { 0x1000, 0x2000, 0, "/bin/x", "abcdef", true };
	char file[] = "/tmp/pprof_encoder.XXXXXX";
	struct pprof_encoder *e = start(LIMIT);
	uint64_t ids[2];
	const uint8_t *data;
	size_t len;
	int fd, found;

	(void)state;
	if (system("go version >/dev/null 2>&1") != 0)
		skip();
	ids[0] = encoder_location(e, encoder_mapping(e, &m), 0x1234,
				  encoder_function(e, "leaf", "leaf", ""));
	ids[1] = encoder_location(e, 0, 0, encoder_function(e, "[truncated]", "[truncated]", ""));
	encoder_sample(e, ids, 2, 3, 77, "worker");
	encoder_comment(e, "a comment");
	assert_int_equal(encoder_finish(e, &data, &len), PPROF_DONE);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
	/* "          3  157894734: 1 2", 3 samples of 52,631,578 ns */
	found = go_lines_with(file, "157894734: 1 2");
	unlink(file);
	encoder_free(e);
	assert_int_equal(found, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_without_samples_is_a_profile),
		cmocka_unit_test(mapping_says_what_it_was_given),
		cmocka_unit_test(function_is_written_once),
		cmocka_unit_test(strings_that_begin_alike_are_told_apart),
		cmocka_unit_test(location_has_a_line_only_with_a_function),
		cmocka_unit_test(sample_has_two_values_and_its_thread),
		cmocka_unit_test(sample_of_the_deepest_stack),
		cmocka_unit_test(comments_are_kept_in_order),
		cmocka_unit_test(limit_is_exact),
		cmocka_unit_test(encoder_that_failed_takes_no_more),
		cmocka_unit_test(names_that_compress_well_are_bounded),
		cmocka_unit_test(go_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
