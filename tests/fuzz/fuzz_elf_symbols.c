/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a worker does with a file: headers, build id, addresses, names. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint32_t names;
	uint32_t ends;
};

/* What a worker says must always be something that the main process takes. */
static bool take(void *context, const void *packet, uint32_t len)
{
	struct seen *s = context;
	struct worker_packet p;

	assert(!worker_packet_decode(packet, len, &p));
	for (uint32_t i = 0; p.type == WORKER_NAMES && i < p.count; i++) {
		struct worker_name n;

		assert(!worker_name_decode(&p.body, &n));
		s->names++;
	}
	s->ends += p.type == WORKER_END;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_source source = elf_source_from_memory(data, size);
	struct worker_request r = { .file_size = size, .identify = true, .count = 64 };
	struct seen seen = { 0 };
	struct worker_output output = { .send = take, .context = &seen };

	for (uint32_t i = 0; i < r.count; i++)
		r.offsets[i] = (uint64_t)i * size / r.count;
	assert(worker_answer(&source, &r, &output));
	assert(seen.names == r.count && seen.ends == 1);
	return 0;
}
