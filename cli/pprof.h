/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: one profile in memory, as profile.proto has it, with every reference resolved to an index
 * (0-based; PPROF_NONE = none). Strings are indexes into `strings`, where 0 is "".
 * The reader and the merger make it, the writer and the reports take it.
 */
#ifndef BELFRY_CLI_PPROF_H
#define BELFRY_CLI_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arena.h"
#include "cli/memory_budget.h"

#define PPROF_NONE	       UINT32_MAX
#define PPROF_SAMPLE_TYPES_MAX 64
#define PPROF_MEMORY_MAX       (2ull << 30) /* bytes of the arrays of one profile */

struct pprof_string {
	const char *text; /* not NUL-terminated, may hold any byte */
	uint32_t len;
};

struct pprof_value_type {
	uint32_t type; /* string */
	uint32_t unit; /* string */
};

struct pprof_label {
	uint32_t key;  /* string */
	uint32_t str;  /* string; 0: `num` counts */
	uint32_t unit; /* string */
	int64_t num;
};

struct pprof_mapping {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;   /* file offset of start, bytes */
	uint32_t filename; /* string */
	uint32_t build_id; /* string */
	bool has_functions;
	bool has_filenames;
	bool has_line_numbers;
	bool has_inline_frames;
};

struct pprof_function {
	uint32_t name;	      /* string */
	uint32_t system_name; /* string */
	uint32_t filename;    /* string */
	int64_t start_line;
};

struct pprof_line {
	uint32_t function;
	int64_t line;
};

struct pprof_location {
	uint64_t address;
	uint32_t mapping;    /* or PPROF_NONE */
	uint32_t first_line; /* lines[first_line .. + line_count): innermost inlined function first
			      */
	uint32_t line_count;
	bool is_folded;
};

struct pprof_sample {
	uint32_t first_location; /* stack[first_location .. + location_count): leaf first */
	uint32_t location_count;
	uint32_t first_label;
	uint32_t label_count;
};

/* A growing array of T. */
#define PPROF_ARRAY(T)                                                                             \
	struct {                                                                                   \
		T *items;                                                                          \
		uint32_t count;                                                                    \
		uint32_t capacity;                                                                 \
	}

struct pprof {
	PPROF_ARRAY(struct pprof_string) strings;
	PPROF_ARRAY(struct pprof_mapping) mappings;
	PPROF_ARRAY(struct pprof_function) functions;
	PPROF_ARRAY(struct pprof_location) locations;
	PPROF_ARRAY(struct pprof_line) lines;
	PPROF_ARRAY(struct pprof_sample) samples;
	PPROF_ARRAY(uint32_t) stack; /* indexes of locations */
	PPROF_ARRAY(struct pprof_label) labels;
	PPROF_ARRAY(int64_t) values;	/* sample_type_count for each sample */
	PPROF_ARRAY(uint32_t) comments; /* strings */
	struct pprof_value_type sample_types[PPROF_SAMPLE_TYPES_MAX];
	uint32_t sample_type_count;
	uint32_t default_sample_type; /* string; 0 = the last sample type */
	uint32_t drop_frames;	      /* string */
	uint32_t keep_frames;	      /* string */
	struct pprof_value_type period_type;
	int64_t period;
	int64_t time;	  /* ns since 1970 */
	int64_t duration; /* ns */
	struct memory_budget budget;
	struct arena arena; /* where the strings are */
};

/* Makes room for one more item in `array` of pprof `p`; false when the budget is used up. */
#define PPROF_GROW(p, array)                                                                       \
	({                                                                                         \
		void *grown_ =                                                                     \
			budget_grow(&(p)->budget, (p)->array.items, &(p)->array.capacity,          \
				    (uint64_t)(p)->array.count + 1, sizeof(*(p)->array.items));    \
		if (grown_)                                                                        \
			(p)->array.items = grown_;                                                 \
		grown_ != NULL;                                                                    \
	})

/* Appends an item; false when the budget is used up. */
#define PPROF_APPEND(p, array, ...)                                                                \
	(PPROF_GROW(p, array) && ((p)->array.items[(p)->array.count++] = __VA_ARGS__, true))

/* A profile is not moved or copied: its arena counts in its own budget. */
void pprof_init(struct pprof *p);
void pprof_free(struct pprof *p);

/* items + first, or NULL where there are none: an empty array may have no memory at all. */
#define PPROF_RANGE(array, first, n) ((n) ? (array).items + (first) : NULL)

/* Position in sample_types that a viewer should show first: the default one, else the last. */
uint32_t pprof_shown_type(const struct pprof *p);

/* The sample's string label `key`, or an empty string. */
struct pprof_string pprof_sample_label(const struct pprof *p, const struct pprof_sample *s,
				       const char *key);

/* Whether the string is exactly `text`. */
bool pprof_string_is(const struct pprof *p, uint32_t string, const char *text);

#endif
