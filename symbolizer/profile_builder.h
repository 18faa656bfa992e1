/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_builder: turns a closed window into messages for the uploader: one profile a process. All profiles are made before the first
 * is handed on, since each says how many samples the whole window delivers.
 */
#ifndef BELFRY_SYMBOLIZER_PROFILE_BUILDER_H
#define BELFRY_SYMBOLIZER_PROFILE_BUILDER_H

#include "symbolizer/kernel_symbols.h"
#include "symbolizer/labels.h"
#include "symbolizer/outlet.h"
#include "symbolizer/symbols.h"
#include "symbolizer/window.h"

struct profile_builder {
	struct symbols *symbols;
	const struct kernel_symbols *kernel;
	struct outlet *outlet;
	const struct host_labels *host;
};

/* Encodes and queues; completes w->account. Whatever fails is counted there. */
void profile_builder_run(const struct profile_builder *p, struct window *w);

#endif
