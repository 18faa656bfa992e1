/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sideband_record: decoder of perf side-band records (perf_event_open(2)): MMAP2, COMM, FORK, EXIT,
 * LOST. The kernel writes them, but file names and comms inside are chosen by the profiled
 * processes: they are passed on as bytes and never looked into.
 */
#ifndef BELFRY_COLLECTOR_SIDEBAND_RECORD_H
#define BELFRY_COLLECTOR_SIDEBAND_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/shared.h"

#define SIDEBAND_RECORD_MAX 8192 /* bytes; PATH_MAX name and fixed fields fit */

enum sideband_type {
	SIDEBAND_IGNORED = 0, /* a record type that we have no use for */
	SIDEBAND_MMAP,
	SIDEBAND_COMM,
	SIDEBAND_EXEC, /* COMM with PERF_RECORD_MISC_COMM_EXEC */
	SIDEBAND_FORK,
	SIDEBAND_EXIT,
	SIDEBAND_LOST
};

struct sideband_event {
	enum sideband_type type;
	uint64_t time; /* CLOCK_MONOTONIC ns, from sample_id_all; 0 for LOST */
	uint32_t tgid;
	uint32_t tid;
	uint32_t parent_tgid; /* FORK, EXIT */
	/* MMAP: executable mappings only are of interest, prot tells */
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	uint32_t device_major;
	uint32_t device_minor;
	uint64_t inode;
	uint64_t generation;
	uint32_t protection; /* PROT_* */
	uint32_t map_flags;  /* MAP_* */
	const uint8_t *path; /* foreign bytes inside the record, not owned; NULL unless MMAP */
	uint32_t path_len;   /* without the terminating NUL */
	/* COMM, EXEC */
	char comm[BELFRY_COMM_LEN];
	uint64_t lost; /* LOST: how many */
};

/*
 * Decodes one record of `len` bytes, perf_event_header included. sample_type of the event is
 * PERF_SAMPLE_TID | PERF_SAMPLE_TIME with sample_id_all. Returns NULL or a constant sentence that
 * names what was wrong.
 */
const char *sideband_record_decode(const uint8_t *data, uint32_t len, struct sideband_event *e);

#endif
