// SPDX-License-Identifier: Apache-2.0
/* Any file that `belfry report` may be given, through everything that is then done with it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/pprof_merge.h"
#include "cli/pprof_read.h"
#include "cli/pprof_write.h"
#include "cli/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void merge_twice(const struct pprof *p, int fd)
{
	struct pprof_merge_label label = { .key = { "pid", 3 }, .number = 1 };
	struct pprof_merge *m = pprof_merge_new();

	if (!pprof_merge_add(m, p, &label, 1, false) && !pprof_merge_add(m, p, &label, 1, true))
		pprof_write(pprof_merge_finish(m), fd);
	pprof_merge_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *out;
	struct pprof p;

	if (size > UINT32_MAX || pprof_read(&p, data, (uint32_t)size))
		return 0;
	out = fopen("/dev/null", "w");
	if (p.sample_type_count) {
		report_top(&p, pprof_shown_type(&p), 10, out);
		report_folded(&p, report_count_type(&p), out);
	}
	report_mappings(&p, out);
	merge_twice(&p, fileno(out));
	fclose(out);
	pprof_free(&p);
	return 0;
}
