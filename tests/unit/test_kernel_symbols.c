/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "symbolizer/kernel_symbols.h"

static struct kernel_symbols *symbols_of(const char *text, size_t chunk)
{
	struct kernel_symbols *k;
	size_t len = strlen(text);

	assert_int_equal(kernel_symbols_new(&k), 0);
	for (size_t at = 0; at < len; at += chunk)
		assert_null(kernel_symbols_feed(k, text + at, len - at < chunk ? len - at : chunk));
	assert_null(kernel_symbols_feed(k, NULL, 0));
	return k;
}

static void expect(struct kernel_symbols *k, uint64_t address, const char *name, const char *module,
		   uint64_t start)
{
	const char *got_name, *got_module;
	uint64_t got_start;

	assert_true(kernel_symbols_lookup(k, address, &got_name, &got_module, &got_start));
	assert_string_equal(got_name, name);
	assert_string_equal(got_module, module);
	assert_int_equal(got_start, start);
}

static void expect_none(struct kernel_symbols *k, uint64_t address)
{
	const char *name, *module;
	uint64_t start;

	assert_false(kernel_symbols_lookup(k, address, &name, &module, &start));
}

/* Modules stand below the kernel on x86-64 but behind it in the file, so the text is not sorted. */
static const char fixture[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T startup_64\n"
			      "ffffffff81000100 t do_one_initcall\n"
			      "ffffffff81000200 W weak_one\n"
			      "ffffffff81000300 D some_data\n"
			      "ffffffff81000400 T __x64_sys_read\n"
			      "ffffffff81000400 t local_alias\n"
			      "ffffffff81000400 W sys_read_weak\n"
			      "ffffffff81000500 T last_of_core\n"
			      "ffffffffc0201000 t ext4_read\t[ext4]\n"
			      "ffffffffc0201080 t ext4_write\t[ext4]\n"
			      "ffffffffc0101000 t nf_hook\t[nf_tables]\n"
			      "ffffffffc0301000 t bpf_prog_6deef7357e7b4530_sampler\t[bpf]\n";

static void addresses_are_named_in_any_order_of_lines(void **state)
{
	static const size_t chunks[] = { 1, 7, 64, sizeof(fixture) };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct kernel_symbols *k = symbols_of(fixture, chunks[i]);

		assert_int_equal(kernel_symbols_count(k), 9);
		assert_false(kernel_symbols_restricted(k));
		expect(k, 0xffffffff81000000, "startup_64", "", 0xffffffff81000000);
		expect(k, 0xffffffff810000ff, "startup_64", "", 0xffffffff81000000);
		expect(k, 0xffffffff81000100, "do_one_initcall", "", 0xffffffff81000100);
		/* Data is no code: the text symbol before it reaches on. */
		expect(k, 0xffffffff81000300, "weak_one", "", 0xffffffff81000200);
		expect(k, 0xffffffff81000480, "__x64_sys_read", "", 0xffffffff81000400);
		expect(k, 0xffffffffc0101004, "nf_hook", "nf_tables", 0xffffffffc0101000);
		expect(k, 0xffffffffc0201010, "ext4_read", "ext4", 0xffffffffc0201000);
		expect(k, 0xffffffffc0301010, "bpf_prog_6deef7357e7b4530_sampler", "bpf",
		       0xffffffffc0301000);
		kernel_symbols_free(k);
	}
}

static void the_last_symbol_of_a_module_ends_somewhere(void **state)
{
	struct kernel_symbols *k = symbols_of(fixture, 4096);

	(void)state;
	expect(k, 0xffffffff8100ffff, "last_of_core", "", 0xffffffff81000500);
	expect_none(k, 0xffffffff81010500); /* 64 KiB behind it */
	expect_none(k, 0xffffffffc0200fff);
	expect(k, 0xffffffffc02010ff, "ext4_write", "ext4", 0xffffffffc0201080);
	expect_none(k, 0xffffffffc0300000);
	expect_none(k, 0xffffffff80ffffff);
	expect_none(k, 0);
	expect_none(k, UINT64_MAX);
	kernel_symbols_free(k);
}

static void zeros_mean_restricted_and_not_address_0(void **state)
{
	struct kernel_symbols *k = symbols_of("0000000000000000 T _text\n"
					      "0000000000000000 t do_work\n"
					      "0000000000000000 t x\t[ext4]\n",
					      4096);

	(void)state;
	assert_true(kernel_symbols_restricted(k));
	assert_int_equal(kernel_symbols_count(k), 0);
	expect_none(k, 0);
	kernel_symbols_free(k);
}

static void regions_far_apart_keep_their_addresses(void **state)
{
	/* arm64: modules and BPF programs may lie more than 4 GiB from the kernel. */
	struct kernel_symbols *k = symbols_of("ffff800080000000 T _text\n"
					      "ffff800080001000 T kernel_function\n"
					      "ffff000012345000 t module_function\t[m]\n"
					      "ffff80007a000000 t other\t[n]\n",
					      4096);

	(void)state;
	expect(k, 0xffff000012345678, "module_function", "m", 0xffff000012345000);
	expect(k, 0xffff80007a000001, "other", "n", 0xffff80007a000000);
	expect(k, 0xffff800080001008, "kernel_function", "", 0xffff800080001000);
	expect_none(k, 0xffff100000000000);
	kernel_symbols_free(k);
}

static void what_follows_the_module_is_ignored_and_a_last_line_needs_no_newline(void **state)
{
	struct kernel_symbols *k =
		symbols_of("ffffffffc0201000 t a\t[m] 16384 0\n\nffffffffc0202000 t b", 5);

	(void)state;
	expect(k, 0xffffffffc0201001, "a", "m", 0xffffffffc0201000);
	expect(k, 0xffffffffc0202001, "b", "", 0xffffffffc0202000);
	kernel_symbols_free(k);
}

static void lines_of_another_form_are_refused_and_the_old_table_stays(void **state)
{
	static const char *const bad[] = {
		"ffffffff81000000\n",
		"ffffffff81000000 T\n",
		"ffffffff81000000 T \n",
		"xyz T name\n",
		" T name\n",
		"ffffffff810000000 T name\n",
		"ffffffff81000000 TT name\n",
		"ffffffff81000000 T name module\n",
		"ffffffff81000000 T name [\n",
		"<html>\n",
	};
	struct kernel_symbols *k = symbols_of(fixture, 4096);

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kernel_symbols_feed(k, bad[i], strlen(bad[i]));
		assert_non_null(kernel_symbols_feed(k, NULL, 0));
		expect(k, 0xffffffff81000100, "do_one_initcall", "", 0xffffffff81000100);
	}
	kernel_symbols_free(k);
}

static void a_line_without_end_is_refused(void **state)
{
	static char text[5000];
	struct kernel_symbols *k;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "ffffffff81000000 T ", 19);
	assert_int_equal(kernel_symbols_new(&k), 0);
	kernel_symbols_feed(k, text, strlen(text));
	assert_non_null(kernel_symbols_feed(k, NULL, 0));
	kernel_symbols_free(k);
}

/* The machine's own kernel, each symbol against the line it came from. */
static void the_running_kernel_is_read(void **state)
{
	FILE *text = fopen("/proc/kallsyms", "r");
	struct kernel_symbols *k;
	unsigned long long address;
	char type, line[1024];
	int checked = 0;

	(void)state;
	assert_int_equal(kernel_symbols_new(&k), 0);
	assert_null(kernel_symbols_load(k, fileno(text)));
	if (kernel_symbols_restricted(k))
		skip();
	assert_true(kernel_symbols_count(k) > 10000);
	while (fgets(line, sizeof(line), text)) {
		const char *name, *module;
		uint64_t start;

		/* BPF programs come and go between the two readings. */
		if (sscanf(line, "%llx %c", &address, &type) != 2 || !strchr("tTwW", type) ||
		    !address || strstr(line, "[bpf]") || strstr(line, "bpf_prog_"))
			continue;
		assert_true(kernel_symbols_lookup(k, address, &name, &module, &start));
		assert_int_equal(start, address);
		checked++;
	}
	assert_true(checked > 10000);
	fclose(text);
	kernel_symbols_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_named_in_any_order_of_lines),
		cmocka_unit_test(the_last_symbol_of_a_module_ends_somewhere),
		cmocka_unit_test(zeros_mean_restricted_and_not_address_0),
		cmocka_unit_test(regions_far_apart_keep_their_addresses),
		cmocka_unit_test(
			what_follows_the_module_is_ignored_and_a_last_line_needs_no_newline),
		cmocka_unit_test(lines_of_another_form_are_refused_and_the_old_table_stays),
		cmocka_unit_test(a_line_without_end_is_refused),
		cmocka_unit_test(the_running_kernel_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
