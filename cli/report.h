/* SPDX-License-Identifier: Apache-2.0 */
/* report: a profile as text. Each writes to `out` and is false when memory is out. */
#ifndef BELFRY_CLI_REPORT_H
#define BELFRY_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/pprof.h"

/* The `rows` functions with the largest own share of sample type `type`, each with its share with
 * callees. */
bool report_top(const struct pprof *p, uint32_t type, uint32_t rows, FILE *out);

/* One line a stack: comm;root;...;leaf value, sorted. `comm` only where the samples have that
 * label. */
bool report_folded(const struct pprof *p, uint32_t type, FILE *out);

/* One line a mapping. */
bool report_mappings(const struct pprof *p, FILE *out);

/* The type that counts samples, else the one that pprof_shown_type() gives. */
uint32_t report_count_type(const struct pprof *p);

/* `belfry report`. Returns the exit code. */
int report_main(int argc, char **argv);

#endif
