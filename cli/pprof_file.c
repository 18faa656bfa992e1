// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gzip_read.h"
#include "cli/pprof_read.h"
#include "cli/pprof_reader.h"

/* Reads to the end of the file, at most PPROF_FILE_MAX bytes, into a malloc()ed buffer. */
static const char *read_whole(int fd, uint8_t **out, uint32_t *out_len)
{
	struct memory_budget budget = { .limit = 2ull * PPROF_FILE_MAX };
	uint32_t capacity = 0;
	uint8_t *data = NULL;
	uint32_t len = 0;
	ssize_t got = 1;

	while (got > 0 || (got < 0 && errno == EINTR)) {
		uint8_t *grown = budget_grow(&budget, data, &capacity, len + 65536ull, 1);

		if (!grown || len > PPROF_FILE_MAX) {
			free(grown ? grown : data);
			return "the file is larger than 256 MiB, the most that is read";
		}
		data = grown;
		got = read(fd, data + len, capacity - len);
		if (got > 0)
			len += (uint32_t)got;
	}
	if (got < 0) {
		free(data);
		return strerror(errno);
	}
	*out = data;
	*out_len = len;
	return NULL;
}

const char *pprof_read_file(struct pprof *p, int fd)
{
	const char *problem;
	uint8_t *data = NULL;
	uint32_t len = 0;

	problem = read_whole(fd, &data, &len);
	if (problem)
		return problem;
	if (!len)
		problem = "the file is empty";
	else
		problem = pprof_read(p, data, len);
	if (problem || gzip_recognise(data, len)) {
		free(data);
	} else if (!arena_adopt(&p->arena, data, len)) {
		pprof_free(p);
		free(data);
		problem = pprof_no_memory;
	}
	return problem;
}
