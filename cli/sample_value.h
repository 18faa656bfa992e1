/* SPDX-License-Identifier: Apache-2.0 */
/* sample_value: a sample value with its unit, scaled for people: 1.50s, 3.2MB, 17. */
#ifndef BELFRY_CLI_SAMPLE_VALUE_H
#define BELFRY_CLI_SAMPLE_VALUE_H

#include <stdint.h>

#include "cli/pprof.h"

#define SAMPLE_VALUE_MAX 32 /* bytes of the text, its NUL included */

void sample_value_format(int64_t value, struct pprof_string unit, char out[SAMPLE_VALUE_MAX]);

/* a + b, staying at the largest or smallest number instead of wrapping. */
int64_t sample_value_add(int64_t a, int64_t b);

#endif
