/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: what a confined process says of itself in a sealed memfd, for what /proc does not show.
 * It is the process's own word, given before it read a foreign byte, and sealed: not even the
 * process can change it later.
 */
#ifndef BELFRY_POLICY_REPORT_H
#define BELFRY_POLICY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#define REPORT_NAME	"belfry-report"
#define REPORT_WORD_MAX 16
#define REPORT_LENGTH	(4 + 4 + 4 + 4 + 8 + 4 + 2 * REPORT_WORD_MAX)

struct report {
	uint32_t pid; /* of the process that made it, in its own pid namespace: a forked child
			 inherits its parent's */
	uint32_t landlock_abi;
	uint64_t given_up; /* steady capabilities that it does not hold */
	bool old_kernel;
	char role[REPORT_WORD_MAX];
	char process[REPORT_WORD_MAX];
};

/* Encodes into `out` (REPORT_LENGTH bytes). */
void report_encode(const struct report *r, uint8_t *out);

/* Returns NULL, or a constant sentence that says what was wrong. */
const char *report_decode(const uint8_t *data, uint32_t len, struct report *r);

#endif
