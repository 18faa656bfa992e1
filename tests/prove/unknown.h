/* SPDX-License-Identifier: Apache-2.0 */
/* unknown: values of which the analysis assumes nothing: every input at once. */
#ifndef BELFRY_PROVE_UNKNOWN_H
#define BELFRY_PROVE_UNKNOWN_H

#include <stdint.h>

#include "__fc_builtin.h"

static inline void unknown_bytes(uint8_t *bytes, uint32_t size)
{
	Frama_C_make_unknown((char *)bytes, size);
}

static inline uint32_t unknown_u32(void)
{
	return Frama_C_unsigned_int_interval(0, 0xffffffffu);
}

static inline uint64_t unknown_u64(void)
{
	return Frama_C_unsigned_long_interval(0, 0xffffffffffffffffu);
}

#endif
