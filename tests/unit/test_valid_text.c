/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign bytes become text that every reader of profiles accepts: UTF-8, no control characters, never cut in a character. */
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/utf8.h"
#include "symbolizer/valid_text.h"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

/* Copies from and to blocks of exact size, so that a sanitizer sees one byte too many. */
static void expect(const char *in, size_t len, size_t size, const char *expected)
{
	char *text = malloc(len ? len : 1), *out = malloc(size);

	assert_non_null(text);
	assert_non_null(out);
	memcpy(text, in, len);
	assert_int_equal(valid_text_copy(text, len, out, size), strlen(expected));
	assert_string_equal(out, expected);
	free(text);
	free(out);
}

static void plain_text_is_copied(void **state)
{
	(void)state;
	expect("/usr/bin/top", 12, 64, "/usr/bin/top");
	expect("", 0, 1, "");
}

static void text_ends_at_its_first_nul(void **state)
{
	(void)state;
	expect("bash\0junk", 9, 64, "bash");
	expect("\0x", 2, 64, "");
}

static void utf8_is_kept(void **state)
{
	(void)state;
	/* e acute (2 bytes), euro (3), an emoji (4) */
	expect("\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x94", 9, 64, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x94");
}

static void what_is_not_utf8_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	expect("a\xff" "b", 3, 64, "a" BAD "b");
	expect("\xc0\xaf", 2, 64, BAD BAD);         /* '/' in two bytes: overlong */
	expect("\xed\xa0\x80", 3, 64, BAD BAD BAD); /* a surrogate */
	expect("\xf4\x90\x80\x80", 4, 64, BAD BAD BAD BAD); /* above U+10FFFF */
	expect("\xe2\x82", 2, 64, BAD BAD);         /* ends inside a character */
	expect("\xe2\x82" "a", 3, 64, BAD BAD "a");
	expect("\x80", 1, 64, BAD);                 /* a continuation alone */
}

static void control_characters_become_question_marks(void **state)
{
	(void)state;
	expect("a\x1b[2J\n\t\x7f", 8, 64, "a?[2J???");
	expect("\xc2\x9b" "31m", 5, 64, "?31m"); /* U+009B starts an escape sequence, too */
	expect("\xc2\xa0", 2, 64, "\xc2\xa0");   /* U+00A0 is the first that is not a control character */
}

static void a_character_is_never_cut_in_two(void **state)
{
	(void)state;
	/* Room for 3 bytes and the NUL: the euro sign would end at byte 4. */
	expect("a\xe2\x82\xac" "b", 5, 4, "a");
	expect("a\xe2\x82\xac" "b", 5, 5, "a\xe2\x82\xac");
	expect("ab\xff", 3, 5, "ab"); /* nor is a replacement */
	expect("abc", 3, 1, "");
}

/* Every text of two bytes, and many of four: the result decodes as a whole and holds no control character. */
static void result_is_always_valid(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1 << 16; i++) {
		unsigned char in[4] = { (unsigned char)i, (unsigned char)(i >> 8), (unsigned char)(i * 167),
					(unsigned char)(i >> 5) };
		char out[13];
		size_t len = valid_text_copy(in, sizeof(in), out, sizeof(out));

		assert_int_equal(len, strlen(out));
		for (size_t at = 0; at < len;) {
			uint32_t point = 0;
			uint32_t bytes = utf8_decode(out + at, (uint32_t)(len - at), &point);

			assert_true(bytes > 0);
			assert_true(point >= 0x20 && (point < 0x7f || point >= 0xa0));
			at += bytes;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_is_copied),
		cmocka_unit_test(text_ends_at_its_first_nul),
		cmocka_unit_test(utf8_is_kept),
		cmocka_unit_test(what_is_not_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(control_characters_become_question_marks),
		cmocka_unit_test(a_character_is_never_cut_in_two),
		cmocka_unit_test(result_is_always_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
