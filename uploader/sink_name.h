/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_name: how a profile's file is called, `YYYYMMDD/HHMMSS-COMM-PID-N.pb.gz` in UTC: sorted by
 * name is sorted by time, and a shell pattern picks a program, a process or an hour.
 */
#ifndef BELFRY_UPLOADER_SINK_NAME_H
#define BELFRY_UPLOADER_SINK_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/journal_entry.h"

#define SINK_DAY_LEN  8 /* YYYYMMDD */
#define SINK_TIME_LEN 6 /* HHMMSS */
#define SINK_SUFFIX   ".pb.gz"

/* Text that a profiled process may have chosen, not terminated. */
struct sink_text {
	const char *at;
	uint32_t len;
};

/*
 * Writes the name. `seconds` since 1970, at most the year 9999; `number` tells apart files that
 * would have the same name. What is not a letter, digit, `_`, `-` or `.` becomes `_`; long texts
 * are cut.
 */
void sink_name_format(char out[JOURNAL_FILE_MAX], uint64_t seconds, struct sink_text comm,
		      struct sink_text pid, uint32_t number);

/* True for names of day folders; `*seconds` is when the day began. */
bool sink_name_parse_day(const char *name, uint64_t *seconds);

/* True for names of profiles inside a day folder; `*seconds` is the time of day. */
bool sink_name_parse_file(const char *name, uint32_t *seconds);

/* True for names of half-written files inside a day folder. */
bool sink_name_is_temporary(const char *name);

#endif
