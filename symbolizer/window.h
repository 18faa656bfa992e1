/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: the samples of one stretch of time, counted by process, thread and stack. Addresses are turned into (mapping, address) when
 * they arrive, while it is known what was mapped; names come when the window is closed. Everything is stored once: a location for each
 * (process, mapping, address), a stack for each sequence of locations, an entry for each (process, thread, stack).
 */
#ifndef BELFRY_SYMBOLIZER_WINDOW_H
#define BELFRY_SYMBOLIZER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/index_table.h"
#include "ipc/profile_channel.h"
#include "symbolizer/targets.h"

/* Where a location lies. Below WINDOW_MAPPING_FIRST: special; else index + WINDOW_MAPPING_FIRST into the window's mappings. */
enum {
	WINDOW_KERNEL = 0,
	WINDOW_UNMAPPED, /* no mapping was known when the sample came */
	WINDOW_MARKER,   /* not code: `address` is an enum stack_marker */
	WINDOW_MAPPING_FIRST,
};

/* Frames that say something about the stack itself. */
enum stack_marker {
	MARKER_TRUNCATED = 0,
	MARKER_UNREADABLE,
	MARKER_IMPLAUSIBLE,
	MARKER_NO_REGISTERS,
	MARKER_KERNEL_TRUNCATED,
	MARKER_EMPTY,
	STACK_MARKERS
};

struct window_mapping {
	uint32_t process; /* index of the window's process */
	uint32_t kind;    /* enum mapping_kind */
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t file_id;
	struct target_path *path; /* held */
};

struct window_location {
	uint32_t process;
	uint32_t mapping;
	uint64_t address; /* of the instruction to name: for a return address, the byte before it */
};

struct window_stack {
	uint32_t first; /* index into the window's frames */
	uint32_t count;
};

struct window_entry {
	uint32_t process;
	uint32_t stack;
	uint32_t thread_id;
	uint32_t samples;
	char thread_name[BELFRY_COMM_LEN]; /* as the kernel had it, NUL padded */
};

struct window_process {
	struct target *target; /* held */
	uint64_t used;         /* bytes of its share of the budget */
	uint64_t samples;
	uint64_t last_time; /* of its last sample, for mappings that came late */
};

/* An array that grows; see window_array_add(). */
struct window_array {
	void *items;
	uint32_t count;
	uint32_t room;
};

struct window {
	uint64_t budget; /* bytes of the items below; arrays and tables grow by doubling, so that up to twice is taken */
	uint64_t used;
	uint64_t largest_share; /* bytes that one process has used */
	uint64_t seed;
	uint64_t start_time; /* ns since 1970 */
	uint64_t start_mono; /* CLOCK_MONOTONIC ns */
	uint64_t end_mono;
	uint64_t period; /* ns */
	struct window_account account;
	struct window_array processes; /* struct window_process */
	struct window_array mappings;  /* struct window_mapping */
	struct window_array locations; /* struct window_location */
	struct window_array frames;    /* uint32_t: location indexes */
	struct window_array stacks;    /* struct window_stack */
	struct window_array entries;   /* struct window_entry */
	struct index_table process_table;
	struct index_table mapping_table;
	struct index_table location_table;
	struct index_table stack_table;
	struct index_table entry_table;
};

/* An empty window. One process may use half of the budget, so that it cannot crowd out the others. NULL when out of memory. */
struct window *window_new(uint64_t budget, uint64_t now_real, uint64_t now_mono);
void window_free(struct window *w);

/* Empties it, as if it were new. */
void window_clear(struct window *w, uint64_t now_real, uint64_t now_mono);

/*
 * Counts one sample. `frames` are kernel_frames + user_frames unaligned little-endian addresses. False when there is no
 * room for what is new in it: the caller counts it as lost.
 */
bool window_add(struct window *w, struct target *t, const struct sample_record *s,
		const uint8_t *frames);

/* Half the budget is used, or half of what one process may use: time to close it early. */
bool window_nearly_full(const struct window *w);

/* Looks once more for the mappings of locations that had none when they came. */
void window_bind_late(struct window *w);

static inline struct window_process *window_process_at(const struct window *w, uint32_t i)
{
	return (struct window_process *)w->processes.items + i;
}

static inline struct window_mapping *window_mapping_at(const struct window *w, uint32_t i)
{
	return (struct window_mapping *)w->mappings.items + i;
}

static inline struct window_location *window_location_at(const struct window *w, uint32_t i)
{
	return (struct window_location *)w->locations.items + i;
}

static inline struct window_stack *window_stack_at(const struct window *w, uint32_t i)
{
	return (struct window_stack *)w->stacks.items + i;
}

static inline struct window_entry *window_entry_at(const struct window *w, uint32_t i)
{
	return (struct window_entry *)w->entries.items + i;
}

static inline const uint32_t *window_frames_at(const struct window *w, uint32_t i)
{
	return (const uint32_t *)w->frames.items + i;
}

#endif
