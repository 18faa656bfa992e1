/* SPDX-License-Identifier: Apache-2.0 */
/* loop: waits for the symbolizer's messages, for signals and for the clock. */
#ifndef BELFRY_UPLOADER_LOOP_H
#define BELFRY_UPLOADER_LOOP_H

#include <stdbool.h>

#include "ipc/message_channel.h"
#include "uploader/intake.h"

struct loop {
	struct message_channel *channel;
	int channel_fd; /* readable when a message waits; or the symbolizer comes or goes */
	struct intake *intake;
	struct sink *sink;
	int signal_fd; /* SIGTERM, SIGINT */
	bool once;     /* end after END */
};

/*
 * Runs until it is told to end, or has handled END with `once`; takes what waits in the channel
 * before it returns. Returns 0 or -errno (logged).
 */
int loop_run(struct loop *l);

#endif
