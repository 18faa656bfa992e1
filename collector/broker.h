/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker: opens target files, only through /proc/PID/map_files, and passes their descriptors to the
 * symbolizer. Knows each file by (device, inode, size, change time) and numbers it. Reads no byte
 * of them.
 */
#ifndef BELFRY_COLLECTOR_BROKER_H
#define BELFRY_COLLECTOR_BROKER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct broker;

struct broker_options {
	const char *socket_path; /* of the file channel */
	uid_t peer_uid;		 /* the symbolizer's */
	uint64_t stream_id;
	int kallsyms_fd;	 /* opened with CAP_SYSLOG, or -1 */
	uint32_t files_known;	 /* bound of the file table */
	uint32_t queue;		 /* files waiting to be passed, each holds a descriptor */
	bool allow_remote_files; /* FUSE and network file systems */
};

struct broker_counters {
	uint64_t sent;
	uint64_t refused;
	uint64_t failed;
	uint64_t deferred;
	uint64_t peer_refused;	/* messages of the symbolizer that broke a rule; the connection was
				   closed */
	uint64_t wants_ignored; /* WANT for a file that is unknown, on its way, mapped no more, or
				   asked for too often */
	uint64_t connections;
};

/* What the kernel says of a mapping's file, from /proc/PID/maps or an mmap2 event. */
struct mapped_file {
	uint32_t device_major;
	uint32_t device_minor;
	uint64_t inode;
	uint64_t generation; /* inode generation, 0 where unknown */
};

int broker_new(struct broker **out, const struct broker_options *o);

/* Whether asking for a file again could help. */
enum broker_retry {
	BROKER_FINAL = 0,   /* it is had, or was refused for what it is */
	BROKER_LATER,	    /* no room now */
	BROKER_OTHER_RANGE, /* nothing of that range, or another file: mappings are split and
			       joined, processes end */
};

/*
 * File id for an executable mapping of a live or dead process. Opens and queues the file when it is
 * not yet known; when the process is gone, a file known by the same device and inode answers.
 * Returns 0 (FILE_ID_NONE) when the file was refused or could not be opened.
 */
uint64_t broker_file(struct broker *b, pid_t pid, uint64_t start, uint64_t end,
		     const struct mapped_file *f, enum broker_retry *retry);

/*
 * Connects when it is time to, sends what is queued, reads answers. `now_ms`: CLOCK_MONOTONIC.
 * Returns true when a new symbolizer has just said HELLO: everything must be announced again.
 */
bool broker_run(struct broker *b, uint64_t now_ms);

/* What to poll now; fd -1 when not connected. */
struct pollfd broker_poll(const struct broker *b);

/* Milliseconds until broker_run() must be called again without an event; -1 = never. */
int broker_timeout(const struct broker *b, uint64_t now_ms);

const struct broker_counters *broker_counters(const struct broker *b);

/* Closes everything, descriptors that wait included. */
void broker_free(struct broker *b);

#endif
