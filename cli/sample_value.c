// SPDX-License-Identifier: Apache-2.0
#include "cli/sample_value.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct scale {
	const char *unit;   /* as profiles name it */
	double factor;	    /* of that unit, in the scale's base */
	const char *family; /* "s" or "B": which steps apply */
};

static const struct scale scales[] = {
	{ "nanoseconds", 1e-9, "s" }, { "microseconds", 1e-6, "s" }, { "milliseconds", 1e-3, "s" },
	{ "seconds", 1, "s" },	      { "bytes", 1, "B" },	     { "kilobytes", 1024, "B" },
};

struct step {
	const char *family;
	double from;
	const char *suffix;
};

/* Largest first: the first step that the value reaches is taken, or the family's last. */
static const struct step steps[] = {
	{ "s", 3600, "h" },	{ "s", 60, "min" },  { "s", 1, "s" },	     { "s", 1e-3, "ms" },
	{ "s", 1e-6, "us" },	{ "s", 1e-9, "ns" }, { "B", 1 << 30, "GB" }, { "B", 1 << 20, "MB" },
	{ "B", 1 << 10, "kB" }, { "B", 1, "B" },
};

static const struct scale *scale_of(struct pprof_string unit)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (strlen(scales[i].unit) == unit.len &&
		    memcmp(scales[i].unit, unit.text, unit.len) == 0)
			return &scales[i];
	return NULL;
}

void sample_value_format(int64_t value, struct pprof_string unit, char out[SAMPLE_VALUE_MAX])
{
	const struct scale *scale = scale_of(unit);
	const struct step *chosen = NULL;
	double scaled;

	if (!scale || !value) {
		snprintf(out, SAMPLE_VALUE_MAX, "%" PRId64, value);
		return;
	}
	scaled = (double)value * scale->factor;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (strcmp(steps[i].family, scale->family) != 0)
			continue;
		chosen = &steps[i];
		if (fabs(scaled) >= chosen->from * 0.99999)
			break;
	}
	snprintf(out, SAMPLE_VALUE_MAX, "%.2f%s", scaled / chosen->from, chosen->suffix);
}

int64_t sample_value_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}
