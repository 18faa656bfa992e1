// SPDX-License-Identifier: Apache-2.0
#include "uploader/sink_name.h"

#include <stdio.h>
#include <string.h>

#define COMM_MAX    32
#define PID_MAX	    20
#define DAY_SECONDS 86400
#define LAST_SECOND 253402300799ull /* 9999-12-31 23:59:59 */

/*
 * Civil dates by arithmetic: the C library's own functions look for a time zone file, which a
 * confined process must not open. Years run from March, so that the leap day is the last.
 */
static void day_to_date(uint64_t days, uint32_t *year, uint32_t *month, uint32_t *day)
{
	uint64_t shifted = days + 719468; /* days since 0000-03-01 */
	uint64_t era = shifted / 146097;
	uint64_t of_era = shifted % 146097;
	uint64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	uint64_t march_month = (5 * of_year + 2) / 153;

	*day = (uint32_t)(of_year - (153 * march_month + 2) / 5 + 1);
	*month = (uint32_t)(march_month < 10 ? march_month + 3 : march_month - 9);
	*year = (uint32_t)(year_of_era + era * 400 + (*month <= 2));
}

static uint64_t date_to_day(uint32_t year, uint32_t month, uint32_t day)
{
	uint64_t y = year - (month <= 2);
	uint64_t era = y / 400;
	uint64_t year_of_era = y % 400;
	uint64_t march_month = month > 2 ? month - 3 : month + 9;
	uint64_t of_year = (153 * march_month + 2) / 5 + day - 1;
	uint64_t of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;

	return era * 146097 + of_era - 719468;
}

static void reduce(struct sink_text text, uint32_t most, char *out)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";
	uint32_t n = text.len < most ? text.len : most;

	for (uint32_t i = 0; i < n; i++)
		out[i] = memchr(allowed, text.at[i], sizeof(allowed) - 1) ? text.at[i] : '_';
	if (n == 0)
		out[n++] = '_';
	out[n] = '\0';
}

void sink_name_format(char out[JOURNAL_FILE_MAX], uint64_t seconds, struct sink_text comm,
		      struct sink_text pid, uint32_t number)
{
	char comm_name[COMM_MAX + 1];
	char pid_name[PID_MAX + 1];
	uint32_t year, month, day;
	uint32_t clock;

	if (seconds > LAST_SECOND)
		seconds = LAST_SECOND;
	clock = (uint32_t)(seconds % DAY_SECONDS);
	day_to_date(seconds / DAY_SECONDS, &year, &month, &day);
	reduce(comm, COMM_MAX, comm_name);
	reduce(pid, PID_MAX, pid_name);
	snprintf(out, JOURNAL_FILE_MAX, "%04u%02u%02u/%02u%02u%02u-%s-%s-%u" SINK_SUFFIX, year,
		 month, day, clock / 3600, clock / 60 % 60, clock % 60, comm_name, pid_name,
		 number);
}

/* `n` digits at `text` as a number; false where one of them is none. */
static bool digits(const char *text, uint32_t n, uint32_t *value)
{
	*value = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*value = *value * 10 + (uint32_t)(text[i] - '0');
	}
	return true;
}

bool sink_name_parse_day(const char *name, uint64_t *seconds)
{
	uint32_t year, month, day;

	if (strlen(name) != SINK_DAY_LEN || !digits(name, 4, &year) ||
	    !digits(name + 4, 2, &month) || !digits(name + 6, 2, &day))
		return false;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	*seconds = date_to_day(year, month, day) * DAY_SECONDS;
	return true;
}

static bool ends_with(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(name + len - n, suffix, n) == 0;
}

bool sink_name_parse_file(const char *name, uint32_t *seconds)
{
	size_t len = strlen(name);
	uint32_t hour, minute, second;

	if (len < SINK_TIME_LEN + 1 + sizeof(SINK_SUFFIX) - 1 ||
	    len + SINK_DAY_LEN + 1 >= JOURNAL_FILE_MAX || strchr(name, '/') ||
	    !journal_file_valid(name) || name[SINK_TIME_LEN] != '-' ||
	    !ends_with(name, len, SINK_SUFFIX) || !digits(name, 2, &hour) ||
	    !digits(name + 2, 2, &minute) || !digits(name + 4, 2, &second) || hour > 23 ||
	    minute > 59 || second > 59)
		return false;
	*seconds = hour * 3600 + minute * 60 + second;
	return true;
}

bool sink_name_is_temporary(const char *name)
{
	return name[0] == '.' && ends_with(name, strlen(name), SINK_SUFFIX ".tmp");
}
