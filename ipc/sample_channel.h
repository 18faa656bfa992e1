/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample channel: collector -> symbolizer, one way, one batch a message.
 *
 * A batch is a header and records back to back. Records are in time order, and a
 * process and its mappings always precede the first sample that needs them.
 * A stream is one life of a collector. `first_sample` numbers samples over the
 * stream, so that a receiver knows exactly how many it missed.
 */
#ifndef BELFRY_IPC_SAMPLE_CHANNEL_H
#define BELFRY_IPC_SAMPLE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/shared.h"
#include "ipc/builder.h"
#include "ipc/cursor.h"

#define SAMPLE_CHANNEL_VERSION 1
#define BATCH_MAGIC	       0x48435442u /* "BTCH" */
#define BATCH_MAX	       (64 * 1024) /* bytes of one message, header included */
#define BATCH_HEADER_LEN       48

#define RECORD_PATH_MAX	  4096	      /* bytes of a path; a longer one is cut */
#define RECORD_CGROUP_MAX 4096	      /* bytes of /proc/PID/cgroup; a longer one is cut */
#define RECORD_MAX	  (16 * 1024) /* bytes of one record, its header included */
#define RECORD_HEADER_LEN 8

struct batch_header {
	uint64_t stream_id;    /* random, one for each life of a collector */
	uint64_t sequence;     /* 0, 1, 2 ... over the stream */
	uint64_t first_sample; /* samples sent in earlier batches of this stream */
	uint32_t samples;      /* SAMPLE records in this batch */
	uint32_t records;      /* records in this batch */
	uint32_t frequency; /* samples a second and CPU that the perf events really run at; never 0
			     */
};

enum record_type {
	RECORD_SAMPLE = 1,
	RECORD_PROCESS,
	RECORD_MAPPING,
	RECORD_EXIT,
	RECORD_COUNTERS,
	RECORD_END, /* the collector has stopped sampling: close the window now */
	RECORD_TYPES
};

enum process_reason {
	PROCESS_SEEN = 1, /* announced because a sample needs it; its mappings follow */
	PROCESS_EXEC,	  /* replaced its program: forget the mappings before `time` */
	PROCESS_REASONS
};

struct process_record {
	uint64_t time; /* CLOCK_MONOTONIC ns; state is valid from here on, 0 = from its start */
	uint64_t start_time; /* CLOCK_BOOTTIME ns; with tgid the identity of the process */
	uint64_t cgroup_id;
	uint32_t tgid;
	uint32_t parent_tgid; /* 0 where unknown */
	uint32_t uid;
	uint32_t reason; /* enum process_reason */
	char comm[BELFRY_COMM_LEN];
	uint16_t cgroup_len;   /* bytes of cgroup, 0 where it could not be read */
	const uint8_t *cgroup; /* text of /proc/PID/cgroup, foreign bytes, not owned */
};

enum mapping_kind {
	MAPPING_FILE = 1,  /* file_id says which */
	MAPPING_ANONYMOUS, /* no file: JIT code, heap, stack */
	MAPPING_VDSO,
	MAPPING_VSYSCALL,
	MAPPING_OTHER_FILE, /* a file that was refused or could not be opened: path only */
	MAPPING_KINDS
};

struct mapping_record {
	uint64_t time;	     /* CLOCK_MONOTONIC ns from which it is valid, 0 = from the start */
	uint64_t start_time; /* of the process */
	uint64_t start;	     /* address range [start, end) */
	uint64_t end;
	uint64_t offset;  /* file offset of start, bytes */
	uint64_t file_id; /* of the file channel; 0 = none */
	uint32_t tgid;
	uint32_t kind; /* enum mapping_kind */
	uint16_t path_len;
	const uint8_t *path; /* as the kernel showed it, foreign bytes, not owned */
};

struct exit_record {
	uint64_t time;
	uint64_t start_time;
	uint32_t tgid;
};

/* What the collector has counted since its stream began. */
enum collector_counter {
	COLLECTOR_TAKEN = 0,  /* SAMPLER_TAKEN */
	COLLECTOR_RING_FULL,  /* SAMPLER_RING_FULL: lost in the kernel */
	COLLECTOR_QUEUE_FULL, /* samples dropped since the symbolizer was slow or away */
	COLLECTOR_INVALID,    /* ring records whose layout was wrong */
	COLLECTOR_SENT, /* samples handed to the channel (first_sample + samples of the last batch)
			 */
	COLLECTOR_HELD, /* samples still inside the collector */
	COLLECTOR_EVENTS, /* SAMPLER_EVENTS */
	COLLECTOR_IDLE,
	COLLECTOR_AGENT,
	COLLECTOR_FILTERED,
	COLLECTOR_FILES_SENT,	 /* file descriptors passed on */
	COLLECTOR_FILES_REFUSED, /* not a regular file, other file than expected, FUSE or network */
	COLLECTOR_FILES_FAILED,	 /* could not be opened (gone, permission) */
	COLLECTOR_FILES_DEFERRED, /* queue to the symbolizer full: tried again at next sight */
	COLLECTOR_SIDEBAND_LOST,  /* side-band records that the kernel reports as lost */
	COLLECTOR_SIDEBAND_BAD,	  /* side-band records whose layout was wrong */
	COLLECTOR_PROCESSES,	  /* processes known now */
	COLLECTOR_PROCESSES_GONE, /* first seen after they had exited: mappings from side-band
				     events alone */
	COLLECTOR_PEER_REFUSED,	  /* ends of a channel of another user, messages that broke a rule:
				     connection closed */
	COLLECTOR_COUNTERS
};

struct counters_record {
	uint64_t value[COLLECTOR_COUNTERS];
};

/* One decoded record. Pointers inside point into the batch. */
struct record {
	enum record_type type;
	union {
		struct {
			struct sample_record header;
			const uint8_t *
				frames; /* 8 * (kernel_frames + user_frames) bytes, unaligned, LE */
		} sample;
		struct process_record process;
		struct mapping_record mapping;
		struct exit_record exit;
		struct counters_record counters;
	};
};

/* Writes `h` at the start of a batch buffer of at least BATCH_HEADER_LEN bytes. */
void batch_header_encode(const struct batch_header *h, uint8_t *out);

/*
 * Opens a batch of `len` bytes. On success `body` stands at the first record.
 * Returns NULL, or a constant sentence that names what was wrong.
 */
const char *batch_open(const uint8_t *data, uint32_t len, struct batch_header *h,
		       struct cursor *body);

/*
 * Takes the next record off `body`. Returns NULL on success and at the end
 * (`r->type` is then 0), or a constant sentence that names what was wrong.
 * Checks every length and every enumeration, and that each record is consumed exactly.
 */
const char *record_decode(struct cursor *body, struct record *r);

/* Each appends one record; a record that does not fit sets b->bad and must be rolled back. */
void record_encode_sample(struct builder *b, const struct sample_record *s, const void *frames);
void record_encode_process(struct builder *b, const struct process_record *p);
void record_encode_mapping(struct builder *b, const struct mapping_record *m);
void record_encode_exit(struct builder *b, const struct exit_record *e);
void record_encode_counters(struct builder *b, const struct counters_record *c);
void record_encode_end(struct builder *b);

/* Name of a counter as it stands in logs, journals and comments, e.g. "ring_full". */
const char *collector_counter_name(enum collector_counter c);

#endif
