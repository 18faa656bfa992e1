/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sideband_record.h"

#include <stddef.h>

#include "ipc/cursor.h"

/* Record types and misc bits of perf_event_open(2), repeated here so that the decoder needs no
 * kernel header. */
enum {
	PERF_TYPE_LOST = 2,
	PERF_TYPE_COMM = 3,
	PERF_TYPE_EXIT = 4,
	PERF_TYPE_FORK = 7,
	PERF_TYPE_MMAP2 = 10
};

#define MISC_COMM_EXEC	   (1u << 13)
#define MISC_MMAP_BUILD_ID (1u << 14)

#define HEADER_LEN    8u
#define SAMPLE_ID_LEN 16u /* tgid, tid, time: PERF_SAMPLE_TID | PERF_SAMPLE_TIME */

/* Takes the NUL-terminated, zero-padded string that fills the rest of the body. */
static const char *take_name(struct cursor *body, struct sideband_event *e)
{
	uint32_t room = cursor_left(body);
	const uint8_t *name = cursor_bytes(body, room);

	if (!name)
		return "side-band mmap record is cut short";
	for (uint32_t i = 0; i < room; i++) {
		if (name[i] == 0) {
			e->path = name;
			e->path_len = i;
			return NULL;
		}
	}
	return "side-band record's name has no end";
}

static const char *decode_mmap(struct cursor *body, uint32_t misc, struct sideband_event *e)
{
	const char *wrong;

	if (misc & MISC_MMAP_BUILD_ID)
		return "side-band mmap record carries a build id that was not asked for";
	e->tgid = cursor_u32(body);
	e->tid = cursor_u32(body);
	e->start = cursor_u64(body);
	e->length = cursor_u64(body);
	e->offset = cursor_u64(body);
	e->device_major = cursor_u32(body);
	e->device_minor = cursor_u32(body);
	e->inode = cursor_u64(body);
	e->generation = cursor_u64(body);
	e->protection = cursor_u32(body);
	e->map_flags = cursor_u32(body);
	if (e->length == 0 || e->length > UINT64_MAX - e->start)
		return "side-band mmap record's range is empty, wraps or is missing";
	wrong = take_name(body, e);
	if (!wrong)
		e->type = SIDEBAND_MMAP;
	return wrong;
}

static const char *decode_comm(struct cursor *body, uint32_t misc, struct sideband_event *e)
{
	e->tgid = cursor_u32(body);
	e->tid = cursor_u32(body);
	if (!cursor_ok(body))
		return "side-band comm record is cut short";
	/* The kernel cuts a comm at 15 bytes and pads it with zeros to a multiple of 8; past the
	 * end the cursor yields zeros too. */
	for (uint32_t i = 0; i < BELFRY_COMM_LEN - 1; i++)
		e->comm[i] = (char)cursor_u8(body);
	e->type = misc & MISC_COMM_EXEC ? SIDEBAND_EXEC : SIDEBAND_COMM;
	return NULL;
}

static const char *decode_task(struct cursor *body, enum sideband_type type,
			       struct sideband_event *e)
{
	e->tgid = cursor_u32(body);
	e->parent_tgid = cursor_u32(body);
	e->tid = cursor_u32(body);
	cursor_skip(body, 4 + 8); /* parent's thread; the time, which the sample id repeats */
	if (!cursor_finished(body))
		return "side-band fork or exit record has another length than its fields";
	e->type = type;
	return NULL;
}

static const char *decode_lost(struct cursor *body, struct sideband_event *e)
{
	cursor_skip(body, 8); /* id of the event */
	e->lost = cursor_u64(body);
	if (!cursor_finished(body))
		return "side-band lost record has another length than its fields";
	e->time = 0;
	e->type = SIDEBAND_LOST;
	return NULL;
}

const char *sideband_record_decode(const uint8_t *data, uint32_t len, struct sideband_event *e)
{
	struct cursor header;
	struct cursor body;
	struct cursor id;
	uint32_t type;
	uint32_t misc;

	*e = (struct sideband_event){ .type = SIDEBAND_IGNORED };
	if (len > SIDEBAND_RECORD_MAX)
		return "side-band record is longer than any can be";
	header = cursor_over(data, len);
	type = cursor_u32(&header);
	misc = cursor_u16(&header);
	if (cursor_u16(&header) != len)
		return "side-band record says another length than it has";
	if (len < HEADER_LEN + SAMPLE_ID_LEN)
		return "side-band record is shorter than its header and sample id";

	id = cursor_over(data, len);
	cursor_skip(&id,
		    len - SAMPLE_ID_LEN + 8); /* past tgid and tid of the task that caused it */
	e->time = cursor_u64(&id);
	body = cursor_over(data, len - SAMPLE_ID_LEN);
	cursor_skip(&body, HEADER_LEN);

	if (type == PERF_TYPE_MMAP2)
		return decode_mmap(&body, misc, e);
	if (type == PERF_TYPE_COMM)
		return decode_comm(&body, misc, e);
	if (type == PERF_TYPE_FORK)
		return decode_task(&body, SIDEBAND_FORK, e);
	if (type == PERF_TYPE_EXIT)
		return decode_task(&body, SIDEBAND_EXIT, e);
	if (type == PERF_TYPE_LOST)
		return decode_lost(&body, e);
	return NULL; /* new kernels add types: not ours to judge */
}
