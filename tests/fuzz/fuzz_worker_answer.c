/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a taken-over worker may send to the main process, and what a broken main process may ask of
 * a worker.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symbolizer/worker_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const struct worker_file *f)
{
	assert(strlen(f->build_id) <= WORKER_BUILD_ID_MAX);
	assert(strlen(f->detail) <= WORKER_DETAIL_MAX);
	assert(strspn(f->build_id, "0123456789abcdef") == strlen(f->build_id));
}

static void check_name(const struct worker_name *n)
{
	if (!n->has_symbol)
		return;
	assert(n->has_address && n->function_start <= n->address);
	assert(n->name_len > 0 && n->name_len <= WORKER_NAME_MAX);
	assert(!memchr(n->name, 0, n->name_len));
	assert(n->system_name_len > 0 && n->system_name_len <= WORKER_NAME_MAX);
	assert(!memchr(n->system_name, 0, n->system_name_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct worker_request r;
	struct worker_packet p;
	struct worker_name n;

	if (size > WORKER_REQUEST_MAX)
		return 0;
	if (!worker_request_decode(data, (uint32_t)size, &r))
		assert(r.count <= WORKER_OFFSETS_MAX);
	if (worker_packet_decode(data, (uint32_t)size, &p))
		return 0;
	if (p.type == WORKER_FILE)
		check_file(&p.file);
	for (uint32_t i = 0; p.type == WORKER_NAMES && i < p.count; i++) {
		if (worker_name_decode(&p.body, &n))
			return 0;
		check_name(&n);
	}
	return 0;
}
