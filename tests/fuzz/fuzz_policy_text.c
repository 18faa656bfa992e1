/* SPDX-License-Identifier: Apache-2.0 */
/* Any text where a policy should be. An accepted one keeps what the table promises. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_text *t;
	char error[200] = "";
	char *text;

	if (size > POLICY_TEXT_MAX + 16)
		return 0;
	text = malloc(size ? size : 1); /* of the exact length: the sanitizer sees its end */
	assert(text);
	memcpy(text, data, size);
	if (policy_text_parse("fuzz", text, size, &t, error, sizeof(error)) != 0) {
		assert(!t && strncmp(error, "fuzz:", 5) == 0);
	} else {
		const struct policy *p = &t->policy;

		/* A right that was not there at first never appears. */
		assert(!(p->capabilities[POLICY_PHASE_STEADY] &
			 ~p->capabilities[POLICY_PHASE_LOAD]));
		assert(!(p->capabilities_old_kernel & ~p->capabilities[POLICY_PHASE_LOAD]));
		assert(!(p->capabilities_optional & ~p->capabilities[POLICY_PHASE_STEADY]));
		for (uint32_t i = 0; i < p->syscall_count; i++) {
			assert(p->syscalls[i].reason &&
			       p->syscalls[i].condition_count <= POLICY_CONDITIONS_MAX);
			for (uint8_t c = 0; c < p->syscalls[i].condition_count; c++)
				assert(!(p->syscalls[i].conditions[c].value &
					 ~p->syscalls[i].conditions[c].mask));
		}
		policy_text_free(t);
	}
	free(text);
	return 0;
}
