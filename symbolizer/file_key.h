/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_key: a file's number for as long as the symbolizer lives. Each collector numbers its files from FILE_ID_FIRST on, and a window of
 * the last collector may still wait for names when the next one's files come: without its stream, number 16 would be the wrong file.
 */
#ifndef BELFRY_SYMBOLIZER_FILE_KEY_H
#define BELFRY_SYMBOLIZER_FILE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/file_channel.h"

#define FILE_NUMBER_MAX UINT32_MAX /* a collector does not live to see more files */

/* Key of file `id` of a stream; ids below FILE_ID_FIRST mean the same in all streams. FILE_ID_NONE for an id out of range. */
static inline uint64_t file_key(uint64_t stream_id, uint64_t id)
{
	if (id < FILE_ID_FIRST)
		return id;
	return id <= FILE_NUMBER_MAX ? stream_id << 32 | id : FILE_ID_NONE;
}

/* The id behind a key, or FILE_ID_NONE when the key belongs to another stream. */
static inline uint64_t file_key_id(uint64_t stream_id, uint64_t key)
{
	uint64_t id = key & FILE_NUMBER_MAX;

	return file_key(stream_id, id) == key ? id : FILE_ID_NONE;
}

#endif
