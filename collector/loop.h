/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: the collector's steady state. Waits for signals, commands, the symbolizer and process
 * events; drains the rings by the clock; ends the stream in order.
 */
#ifndef BELFRY_COLLECTOR_LOOP_H
#define BELFRY_COLLECTOR_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/control.h"
#include "collector/counters.h"
#include "collector/cpus.h"
#include "collector/perf_events.h"

/* Everything that main() has opened. The loop uses it, and owns none of it. */
struct loop {
	struct sampler *sampler;
	struct perf_events *events;
	struct sideband *sideband;
	struct processes *processes;
	struct broker *broker;
	struct stream *stream;
	struct drain *drain;
	struct cpus *cpus;
	struct control control;
	uint32_t cpu_count;
	int signal_fd; /* SIGTERM, SIGINT */
	int send_fd;   /* readable when the sample channel takes a batch */
	bool follow_cpus;
};

/* Runs until SIGTERM, SIGINT, STOP or the end of the control channel. Returns 0 or -errno. */
int loop_run(struct loop *l);

#endif
