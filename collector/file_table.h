/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_table: the files that the collector knows, bounded; the least recently asked for go first.
 * Found by what a mapping says (device, inode, generation), by what stat says (device, inode, size,
 * change time), and by number.
 */
#ifndef BELFRY_COLLECTOR_FILE_TABLE_H
#define BELFRY_COLLECTOR_FILE_TABLE_H

#include <stdint.h>
#include <sys/queue.h>

#include "collector/broker.h"
#include "collector/open_mapped.h"

enum file_state {
	FILE_UNSENT = 0, /* the symbolizer of this connection does not have it */
	FILE_QUEUED,	 /* opened, waits to be sent */
	FILE_IN_FLIGHT,	 /* sent, no DONE yet */
	FILE_SENT,
	FILE_REJECTED,	  /* the symbolizer wants it no more */
	FILE_REFUSED_HERE /* ours: not regular, remote. Has no number. */
};

struct known_file {
	uint64_t id; /* FILE_ID_NONE where refused */
	enum file_state state;
	struct mapped_file mapped;     /* as its last mapping said */
	struct file_identity identity; /* zeros where refused */
	struct mapped_range origin;    /* a mapping that had it last, to open it again */
	uint64_t verified_ns;	       /* when `identity` was last read */
	uint64_t wanted_ns;	       /* when it was last opened because the symbolizer asked */
	struct known_file *next_mapped;
	struct known_file *next_identity;
	struct known_file *next_id;
	TAILQ_ENTRY(known_file) lru;
};

struct file_table;

int file_table_new(struct file_table **out, uint32_t most);

struct known_file *file_table_by_mapping(struct file_table *t, const struct mapped_file *m);
struct known_file *file_table_by_identity(struct file_table *t, const struct file_identity *id);
struct known_file *file_table_by_id(struct file_table *t, uint64_t id);

/*
 * Adds a file (identity NULL: a refused one, which gets no number). Returns NULL when there is no
 * memory, or when the table is full of files that are on their way to the symbolizer.
 */
struct known_file *file_table_add(struct file_table *t, const struct mapped_file *m,
				  const struct file_identity *id);

/* A known file is mapped under other numbers now (overlayfs shows two kinds). */
void file_table_remap(struct file_table *t, struct known_file *f, const struct mapped_file *m);

/* Asked for: goes last when room is needed. */
void file_table_touch(struct file_table *t, struct known_file *f);

/* The symbolizer is a new one: whatever was sent is unsent; what is queued stays queued. */
void file_table_unsend(struct file_table *t);

void file_table_free(struct file_table *t);

#endif
