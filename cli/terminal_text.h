/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal_text: names as they may be shown. Function, file and process names are chosen by
 * profiled programs: control characters could move the cursor or retitle a terminal, and direction
 * marks could make one name look like another.
 */
#ifndef BELFRY_CLI_TERMINAL_TEXT_H
#define BELFRY_CLI_TERMINAL_TEXT_H

#include <stdint.h>

/* Bytes that the escaped form of `len` bytes may need: \u{10ffff} for a character of 3 or 4 bytes.
 */
#define TERMINAL_TEXT_MAX(len) (4ull * (len))

/*
 * Writes an escaped copy to `out` (TERMINAL_TEXT_MAX(len) bytes) and returns its length. Control
 * and invisible characters and bytes that are not UTF-8 become \xNN or \u{N}, a backslash is
 * doubled. `folded`: a semicolon, which separates frames there, becomes \x3b.
 */
uint64_t terminal_text_escape(const char *text, uint32_t len, int folded, char *out);

#endif
