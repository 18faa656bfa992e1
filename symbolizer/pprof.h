/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: encoder of profile.proto, by direct append, compressed as it goes. Ids are 1, 2, 3 ... in the order of the calls, as the
 * strictest readers want; nothing is written twice, and only strings and functions are remembered.
 */
#ifndef BELFRY_SYMBOLIZER_PPROF_H
#define BELFRY_SYMBOLIZER_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_encoder;

struct pprof_header {
	uint64_t time;     /* ns since 1970, start of the window */
	uint64_t duration; /* ns, measured */
	uint64_t period;   /* ns between samples of one CPU */
};

struct pprof_mapping {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
	const char *file;     /* valid UTF-8, as are all strings here */
	const char *build_id; /* "" = unknown */
	bool has_functions;
};

/* Sample types are samples/count and cpu/nanoseconds. `limit`: bytes of the compressed profile. NULL when out of memory. */
struct pprof_encoder *encoder_new(const struct pprof_header *h, size_t limit);

/* Each returns the id of what was added, 0 when the encoder has failed. */
uint64_t encoder_mapping(struct pprof_encoder *p, const struct pprof_mapping *m);
/* A function that was added before (same names, same file) gives its old id. */
uint64_t encoder_function(struct pprof_encoder *p, const char *name, const char *system_name, const char *file);
/* mapping_id 0 = in no mapping. */
uint64_t encoder_location(struct pprof_encoder *p, uint64_t mapping_id, uint64_t address, uint64_t function_id);

/* Locations leaf first. The labels are thread_id (number) and thread_name. */
void encoder_sample(struct pprof_encoder *p, const uint64_t *location_ids, uint32_t count, uint64_t samples,
		  uint32_t thread_id, const char *thread_name);

void encoder_comment(struct pprof_encoder *p, const char *text);

enum pprof_result {
	PPROF_DONE = 0,
	PPROF_NO_MEMORY,
	PPROF_TOO_LARGE,
};

/* Finishes. On PPROF_DONE *data (gzip, owned by p until encoder_free) and *len are set. */
enum pprof_result encoder_finish(struct pprof_encoder *p, const uint8_t **data, size_t *len);

void encoder_free(struct pprof_encoder *p);

#endif
