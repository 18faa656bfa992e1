/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any message of the profile channel, and the ledger behind it: a hostile symbolizer. What is accepted must encode to the
 * very same bytes; the account of two such messages must add up whatever they say.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ledger.h"
#include "ipc/profile_channel.h"

static void check_encoding(const struct profile_message *m, const uint8_t *data, uint32_t len)
{
	struct builder b = builder_over(malloc(len), len);

	assert(b.data);
	profile_message_encode_header(&b, m);
	builder_bytes(&b, m->pprof, m->pprof_len);
	assert(!b.bad && b.len == len && memcmp(b.data, data, len) == 0);
	free(b.data);
}

/* Takes the message into the account, twice, and looks at the sum before and after the end. */
static void check_account(struct ledger *l, const struct profile_message *m)
{
	const struct window_account *a = &m->account;
	struct ledger_table t;

	for (int i = 0; i < 2; i++) {
		ledger_window(l, a);
		if (m->type == PROFILE_PPROF)
			ledger_profile(l, a->symbolizer_id, a->window, m->index, m->samples, true);
		if (m->type == PROFILE_END)
			ledger_end(l, a);
		ledger_sum(l, i, &t);
		assert(t.contradictions[LEDGER_SUM_WRONG] == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct profile_message m;
	struct ledger *l = ledger_new();
	size_t from = 0;

	assert(l);
	/* Input: messages, each behind its length in two bytes. */
	while (size - from >= 2) {
		uint32_t len = (uint32_t)(data[from] | data[from + 1] << 8);
		uint8_t *message;

		from += 2;
		if (len > size - from)
			len = (uint32_t)(size - from);
		message = malloc(len ? len : 1); /* of the exact length, so that the sanitizer sees its end */
		assert(message);
		memcpy(message, data + from, len);
		if (!profile_message_decode(message, len, &m)) {
			check_encoding(&m, message, len);
			check_account(l, &m);
		}
		free(message);
		from += len;
	}
	ledger_free(l);
	return 0;
}
