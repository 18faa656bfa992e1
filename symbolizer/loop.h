/* SPDX-License-Identifier: Apache-2.0 */
/* loop: the symbolizer's main process, after everything is given up: poll, hand on, close windows in time. */
#ifndef BELFRY_SYMBOLIZER_LOOP_H
#define BELFRY_SYMBOLIZER_LOOP_H

#include "ipc/message_channel.h"
#include "symbolizer/batch_intake.h"
#include "symbolizer/closing.h"
#include "symbolizer/file_intake.h"

struct symbolizer_loop {
	int signal_fd;
	struct message_channel *samples;
	struct message_channel *profiles;
	uint64_t window_ms;
	struct targets *targets;
	struct symbols *symbols;
	struct outlet *outlet;
	struct file_intake files;
	struct batch_intake batches;
	struct closing closing;
	uint64_t window_end_ms; /* CLOCK_MONOTONIC */
	bool end_pending;       /* the stream has ended: PROFILE_END follows its last window */
	bool stopping;          /* SIGTERM: last window, then exit */
	uint64_t stop_ms;
};

/* Runs until SIGTERM. Returns 0, or -errno when the zygote or a channel is gone for good. */
int symbolizer_loop_run(struct symbolizer_loop *l);

#endif
