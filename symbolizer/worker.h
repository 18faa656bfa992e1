/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker: one process for one request about one file. It reads a file that its owner made to break
 * it, so it holds nothing but that file and the socket of its answer, has little time and memory,
 * and may die.
 */
#ifndef BELFRY_SYMBOLIZER_WORKER_H
#define BELFRY_SYMBOLIZER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"
#include "symbolizer/elf/elf_source.h"
#include "symbolizer/worker_message.h"

struct worker_limits {
	uint32_t cpu_seconds;
	uint32_t wall_ms;
	uint64_t memory; /* bytes of address space */
};

/* Takes one packet of the answer. Returns false when nobody listens any more. */
struct worker_output {
	bool (*send)(void *context, const void *packet, uint32_t len);
	void *context;
};

/*
 * Answers `r` from `source`: FILE, NAMES, END. Returns false when memory ran out or the output was
 * refused; the answer then has no END and counts as a death.
 */
bool worker_answer(const struct elf_source *source, const struct worker_request *r,
		   const struct worker_output *output);

/* The process itself: confines itself, takes the request that waits on `socket`, answers, exits. */
void worker_main(int socket, const struct policy *policy, const struct worker_limits *limits)
	__attribute__((noreturn));

#endif
