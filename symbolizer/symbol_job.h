/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_job: one request to one worker, from the zygote's fork to the answer's END. */
#ifndef BELFRY_SYMBOLIZER_SYMBOL_JOB_H
#define BELFRY_SYMBOLIZER_SYMBOL_JOB_H

#include <stdint.h>

#include "symbolizer/symbol_files.h"
#include "symbolizer/worker_message.h"

struct symbol_job {
	int socket; /* -1 = the job is free */
	struct symbol_file *file;
	uint32_t *entries; /* indexes into the file's cache, in the order of the request */
	uint32_t count;
	uint32_t answered;
	bool got_file;
	uint64_t started_ms;
};

enum job_state {
	JOB_RUNNING = 0,
	JOB_DONE,
	JOB_BUSY, /* no worker could be forked: ask again */
	JOB_DIED, /* the worker ended before END */
	JOB_LIED, /* the answer broke a rule */
};

/*
 * Asks about up to WORKER_OFFSETS_MAX queued entries of `file`, which go to state ASKED. `request`
 * is scratch space. Returns 0 or -errno; on failure nothing has changed.
 */
int symbol_job_start(struct symbol_job *j, struct symbol_file *file, int zygote,
		     struct worker_request *request, uint64_t now_ms);

/* Takes what has arrived. `packet` has WORKER_PACKET_MAX bytes. *why is set for JOB_LIED. */
enum job_state symbol_job_receive(struct symbol_job *j, uint8_t *packet,
				  struct symbols_counters *counters, const char **why);

/* Frees the job; entries without an answer go to `state`. */
void symbol_job_end(struct symbol_job *j, enum entry_state state);

#endif
