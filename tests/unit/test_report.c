// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

#include "cli/pprof_read.h"
#include "cli/report.h"
#include "cli/sample_value.h"
#include "cli/terminal_text.h"
#include "tests/unit/profile_bytes.h"

/*
 * Two stacks: leaf <- main (3), and a location without lines <- main (2), 0x20 into /lib/x.so,
 * which is mapped from its offset 0. strings: 1 samples, 2 count, 3 main, 4 leaf, 5 file, 6 comm, 7
 * demo.
 */
static struct bytes profile(const char *leaf, const char *comm)
{
	struct bytes b = { .len = 0 };

	put_value_type(&b, 1, 1, 2);
	put_sample(&b, 1, 2, 3, 6, 7);
	put_sample(&b, 3, 2, 2, 6, 7);
	put_mapping(&b, 1, 0x400000, 5);
	put_location(&b, 1, 1, 0x400100, 1);
	put_location(&b, 2, 1, 0x400200, 2);
	put_location(&b, 3, 1, 0x400020, 0);
	put_function(&b, 1, 4);
	put_function(&b, 2, 3);
	put_string(&b, "");
	put_string(&b, "samples");
	put_string(&b, "count");
	put_string(&b, "main");
	put_string(&b, leaf);
	put_string(&b, "/lib/x.so");
	put_string(&b, "comm");
	put_string(&b, comm);
	return b;
}

static char *report(const struct bytes *b, bool folded)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct pprof p;

	assert_null(pprof_read(&p, b->data, b->len));
	assert_true(folded ? report_folded(&p, 0, out) : report_top(&p, 0, 10, out));
	pprof_free(&p);
	fclose(out);
	return text;
}

static void folded_lines_go_from_root_to_leaf(void **state)
{
	struct bytes b = profile("leaf", "demo");
	char *text = report(&b, true);

	(void)state;
	assert_string_equal(text, "demo;main;leaf 3\n"
				  "demo;main;x.so+0x20 2\n");
	free(text);
}

/* A name cannot add a frame, a line or a count, nor send anything to the terminal. */
static void folded_names_cannot_break_out(void **state)
{
	struct bytes b = profile("a;b\n\x1b[31m c\xff", "de\\mo");
	char *text = report(&b, true);

	(void)state;
	assert_string_equal(text, "de\\\\mo;main;a\\x3bb\\x0a\\x1b[31m c\\xff 3\n"
				  "de\\\\mo;main;x.so+0x20 2\n");
	free(text);
}

/* flat: leaf 3, x.so+0x20 2, main 0; cumulative: main 5. */
static void top_counts_own_and_cumulative_values(void **state)
{
	struct bytes b = profile("leaf", "demo");
	char *text = report(&b, false);

	(void)state;
	assert_string_equal(text, "      flat   flat%    sum%        cum    cum%  function\n"
				  "         3  60.00%  60.00%          3  60.00%  leaf\n"
				  "         2  40.00% 100.00%          2  40.00%  x.so+0x20\n"
				  "         0   0.00% 100.00%          5 100.00%  main\n");
	free(text);
}

static void recursion_counts_once(void **state)
{
	struct bytes b = profile("main", "demo"); /* main calls main */
	char *text = report(&b, false);

	(void)state;
	assert_non_null(strstr(text, "         3  60.00%  60.00%          5 100.00%  main\n"));
	free(text);
}

static const char *escaped(const char *in, char *out)
{
	uint64_t len = terminal_text_escape(in, (uint32_t)strlen(in), 0, out);

	assert_true(len <= TERMINAL_TEXT_MAX(strlen(in)));
	out[len] = '\0';
	return out;
}

static void hidden_characters_become_visible(void **state)
{
	char out[256];

	(void)state;
	assert_string_equal(escaped("Caf\xc3\xa9;::operator()", out), "Caf\xc3\xa9;::operator()");
	assert_string_equal(escaped("\x7f\t", out), "\\x7f\\x09");
	assert_string_equal(escaped("\xc2\x9b", out), "\\u{9b}");	/* C1: CSI */
	assert_string_equal(escaped("\xe2\x80\xae", out), "\\u{202e}"); /* right-to-left override */
	assert_string_equal(escaped("\xc0\xaf", out), "\\xc0\\xaf");	/* overlong '/' */
	assert_string_equal(escaped("\xed\xa0\x80", out), "\\xed\\xa0\\x80"); /* surrogate */
}

static void values_are_scaled_by_their_unit(void **state)
{
	struct pprof_string ns = { "nanoseconds", 11 };
	struct pprof_string bytes = { "bytes", 5 };
	struct pprof_string count = { "count", 5 };
	char out[SAMPLE_VALUE_MAX];

	(void)state;
	sample_value_format(1500000000, ns, out);
	assert_string_equal(out, "1.50s");
	sample_value_format(90000000000, ns, out);
	assert_string_equal(out, "1.50min");
	sample_value_format(250, ns, out);
	assert_string_equal(out, "250.00ns");
	sample_value_format(3 << 19, bytes, out);
	assert_string_equal(out, "1.50MB");
	sample_value_format(-17, count, out);
	assert_string_equal(out, "-17");
	sample_value_format(0, ns, out);
	assert_string_equal(out, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_lines_go_from_root_to_leaf),
		cmocka_unit_test(folded_names_cannot_break_out),
		cmocka_unit_test(top_counts_own_and_cumulative_values),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(hidden_characters_become_visible),
		cmocka_unit_test(values_are_scaled_by_their_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
