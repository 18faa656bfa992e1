/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "symbolizer/demangle.h"

static void expect(const char *name, const char *readable)
{
	static char out[DEMANGLE_OUTPUT_MAX];

	assert_int_equal(demangle(name, out, sizeof(out)), strlen(readable));
	assert_string_equal(out, readable);
}

static void cpp_names_become_readable(void **state)
{
	(void)state;
	expect("_ZN3foo3barEi", "foo::bar(int)");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

static void rust_names_become_readable_without_their_hash(void **state)
{
	(void)state;
	/* Legacy mangling is valid Itanium too; the 17 characters h... at the end are a hash. */
	expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	expect("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>");
}

static void other_names_stay_as_they_are(void **state)
{
	(void)state;
	expect("main", "main");
	expect("foo.constprop.0", "foo.constprop.0");
	expect("main.(*T).Method", "main.(*T).Method");
	expect("$s4main3fooyyF", "$s4main3fooyyF");
	expect("_Znonsense!", "_Znonsense!");
	expect("_R", "_R");
	expect("", "");
}

static void suffixes_of_parts_stay_and_noise_goes(void **state)
{
	(void)state;
	expect("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
	expect("_ZN3foo3barEi.constprop.0", "foo::bar(int) [clone .constprop.0]");
	expect("_ZN3foo3barEi.llvm.8123", "foo::bar(int)");
	expect("foo.llvm.8123", "foo");
	expect("memcpy@@GLIBC_2.14", "memcpy");
	expect("@only", "@only");
	expect(".llvm.only", ".llvm.only");
}

/*
 * f(X<int, int>, X<S0, S0>, X<S1, S1> ...): each argument doubles the one before it, so 40 of them
 * would print 2^40 characters.
 */
static void output_that_explodes_is_cut(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static char out[DEMANGLE_OUTPUT_MAX];
	char name[1024] = "_Z1f1XIiiE";
	size_t len;

	(void)state;
	for (int i = 0; i < 36; i++) {
		char part[32];

		snprintf(part, sizeof(part), "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(name, part);
	}
	len = demangle(name, out, sizeof(out));
	assert_int_equal(len, sizeof(out) - 1);
	assert_int_equal(strlen(out), len);
	assert_int_equal(demangle(name, out, 100), 99);
	assert_int_equal(strlen(out), 99);
}

static void deep_and_long_names_do_no_harm(void **state)
{
	static char name[DEMANGLE_INPUT_MAX + 100];
	static char out[DEMANGLE_OUTPUT_MAX];

	(void)state;
	/* A pointer to a pointer to a pointer ... */
	memset(name, 'P', DEMANGLE_INPUT_MAX - 1);
	memcpy(name, "_Z1f", 4);
	name[DEMANGLE_INPUT_MAX - 1] = '\0';
	assert_true(demangle(name, out, sizeof(out)) > 0);
	/* Longer than the limit: as it is, cut. */
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	assert_int_equal(demangle(name, out, sizeof(out)), DEMANGLE_INPUT_MAX);
	assert_int_equal(demangle("main", out, 3), 2);
	assert_string_equal(out, "ma");
	assert_int_equal(demangle("main", out, 1), 0);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names_become_readable),
		cmocka_unit_test(rust_names_become_readable_without_their_hash),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(suffixes_of_parts_stay_and_noise_goes),
		cmocka_unit_test(output_that_explodes_is_cut),
		cmocka_unit_test(deep_and_long_names_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
