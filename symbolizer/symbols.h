/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: names for addresses in files. Owns the descriptors that the collector passed on, asks
 * workers (symbolizer/worker.h, forked by the zygote) for names of file offsets, caches what they
 * say. Nothing here parses a file: a worker does, one worker for one request, and it may die.
 */
#ifndef BELFRY_SYMBOLIZER_SYMBOLS_H
#define BELFRY_SYMBOLIZER_SYMBOLS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/file_channel.h"

struct symbols;

struct symbols_limits {
	uint32_t open_files;	   /* descriptors held */
	uint32_t cached_addresses; /* over all files; the least recently used file's go first */
	uint32_t workers;	   /* at once */
	uint32_t worker_wall_ms;   /* after which a silent worker is given up */
	uint32_t deny_seconds;	   /* how long a file that killed a worker stays denied */
};

/* Where the names of a file came from, for reports. */
enum symbol_source {
	SYMBOL_SOURCE_NONE = 0,
	SYMBOL_SOURCE_SYMTAB,
	SYMBOL_SOURCE_DYNSYM,
	SYMBOL_SOURCES
};

enum file_status {
	FILE_STATUS_UNKNOWN = 0, /* never asked a worker yet */
	FILE_STATUS_OK,
	FILE_STATUS_NOT_ELF,
	FILE_STATUS_MALFORMED,	 /* `detail` says what */
	FILE_STATUS_WORKER_DIED, /* denied for a while */
	FILE_STATUS_NO_ROOM,	 /* no descriptor left */
	FILE_STATUSES
};

struct file_info {
	enum file_status status;
	bool has_symbols;
	enum symbol_source source; /* the better one that the file has */
	char build_id[2 * 64 + 1]; /* lower-case hex: GNU note, else Go note's hash, else content
				      hash; "" unknown */
	char detail[96]; /* what is malformed, or what the file is instead; addresses may still be
			    known */
};

/*
 * A resolved address. Strings live as long as the cache entry: until symbols_handle() is next
 * called.
 */
struct symbol {
	uint64_t address;	 /* the file's own virtual address of the offset asked for */
	bool has_address;	 /* the offset lies in a PT_LOAD segment */
	const char *name;	 /* demangled; NULL where there is no symbol */
	const char *system_name; /* raw; NULL where there is no symbol */
	uint64_t function_start; /* virtual address */
};

/*
 * `zygote_fd`: SEQPACKET socket to the zygote (zygote_start()), not owned. Copies the vDSO, so call
 * it before seccomp. Returns 0 or -errno.
 */
int symbols_new(struct symbols **out, int zygote_fd, const struct symbols_limits *limits);

/* Abandons workers, closes descriptors, frees everything; not the zygote's socket. */
void symbols_free(struct symbols *s);

/*
 * Takes a file over, descriptor included (closed here on refusal). A file_id already known is
 * replaced only when it has lost its descriptor. Returns the answer for FILE_DONE.
 */
enum file_result symbols_add_file(struct symbols *s, const struct file_message *m, int fd);

/*
 * A new collector: from now on file ids mean other files. What was known goes, except which files
 * are denied.
 */
void symbols_reset(struct symbols *s);

/*
 * Queues (file, offset) for the next symbols_start() unless it is cached or queued. `offset` is a
 * file offset; for FILE_ID_VDSO an offset into the vDSO image. For a return address the caller
 * passes offset - 1 (rule PC-1) and keeps the difference.
 */
void symbols_want(struct symbols *s, uint64_t file_id, uint64_t offset);

/* Sends what is queued to workers, as far as the limits allow. */
void symbols_start(struct symbols *s);

/*
 * No worker under way, and nothing queued that one could be asked (files to be sent again do not
 * count).
 */
bool symbols_idle(const struct symbols *s);

/* Fills `fds` with what to poll; returns how many. */
size_t symbols_poll(struct symbols *s, struct pollfd *fds, size_t max);

/* Reads workers' answers, gives up the late ones, starts the next. `now_ms`: CLOCK_MONOTONIC. */
void symbols_handle(struct symbols *s, uint64_t now_ms);

/* Milliseconds until symbols_handle() must run even without events, -1 = never. */
int symbols_timeout(const struct symbols *s, uint64_t now_ms);

/* Cached answer, or false when it was never asked for or the worker failed. */
bool symbols_lookup(struct symbols *s, uint64_t file_id, uint64_t offset, struct symbol *out);

/* What is known of a file; never NULL (an unknown file gives FILE_STATUS_UNKNOWN). */
const struct file_info *symbols_file(struct symbols *s, uint64_t file_id);

/*
 * A file whose descriptor is gone and that symbols_want() asked for, to be sent again (FILE_WANT);
 * 0 = none left. Each is told once, and once more when it is still wanted a while later.
 */
uint64_t symbols_next_missing(struct symbols *s);

/*
 * The zygote is gone: no name will come any more. The role ends, and whoever started it starts it
 * again.
 */
bool symbols_broken(const struct symbols *s);

struct symbols_counters {
	uint64_t workers_started;
	uint64_t workers_died;
	uint64_t workers_late; /* part of workers_died */
	uint64_t workers_busy; /* requests that the zygote could not fork for; asked again */
	uint64_t answers_bad;  /* answers that broke a rule; part of workers_died */
	uint64_t files_malformed;
	uint64_t files_denied;
	uint64_t files_evicted; /* descriptors given up for newer ones */
	uint64_t wants_refused; /* addresses for which there was no room */
	uint64_t names_refused; /* names for which there was no room */
	uint64_t addresses_named;
	uint64_t addresses_unnamed;
};

const struct symbols_counters *symbols_counters(const struct symbols *s);

#endif
