/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_names: what mappings are of: a path as the kernel shows it, the file's numbers, and the
 * file id that the broker gave. Each is kept once, however many processes map it, and counted by
 * its users. The bytes of all paths are bounded.
 */
#ifndef BELFRY_COLLECTOR_MAPPED_NAMES_H
#define BELFRY_COLLECTOR_MAPPED_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/broker.h"

#define MAPPED_NAMES_BYTES                                                                         \
	(8u << 20) /* of paths and their records; beyond it a mapping has no path */
#define MAPPED_NAMES_USERS (1u << 18) /* mappings of all processes together */

struct mapped_name {
	struct mapped_name *next;
	uint32_t hash;
	uint32_t users;
	struct mapped_file file; /* inode 0: no file */
	uint64_t file_id;	 /* FILE_ID_NONE while or because there is none */
	uint32_t kind;		 /* enum mapping_kind */
	uint32_t sent_epoch;	 /* symbolizer for which the broker was last asked */
	bool retry;		 /* asking again could give a file id */
	uint16_t path_len;
	uint8_t path[]; /* foreign bytes */
};

struct mapped_names;

int mapped_names_new(struct mapped_names **out, uint32_t bytes, uint32_t users);

/* True when `more` mappings may still be kept. */
bool mapped_names_have_room(const struct mapped_names *n, uint32_t more);

/*
 * Finds or makes the name with this file, id and path (cut at RECORD_PATH_MAX); the caller becomes
 * one of its users. Its kind follows from them. NULL when there is no room or no memory.
 */
struct mapped_name *mapped_names_take(struct mapped_names *n, const struct mapped_file *file,
				      uint64_t file_id, const uint8_t *path, uint32_t path_len);

void mapped_names_share(struct mapped_names *n, struct mapped_name *name);
void mapped_names_release(struct mapped_names *n, struct mapped_name *name);

/* The broker has given another file id: every mapping of that name has it. */
void mapped_name_set_file(struct mapped_name *name, uint64_t file_id);

void mapped_names_free(struct mapped_names *n);

#endif
