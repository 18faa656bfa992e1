/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOURCES: collector/sideband_record.c
 * OPTIONS: -eva-precision 3 -eva-split-return full -eva-interprocedural-history
 * FUNCTIONS: sideband_record_decode decode_mmap decode_comm decode_task decode_lost take_name
 *
 * Perf side-band records: any bytes, any length. Short ones (all fixed fields, and names of up to 16 bytes) end exactly
 * where the buffer ends, so that a read past the record is out of bounds; longer ones at once.
 */
#include "collector/sideband_record.h"
#include "tests/prove/unknown.h"

#define SHORT_MAX 112

static uint8_t record[SIDEBAND_RECORD_MAX];
static uint8_t short_record[SHORT_MAX];

/* What a caller may rely on: the name is there up to its NUL, a comm ends, the type is a known one. */
static uint8_t use(const struct sideband_event *e, uint32_t len)
{
	/*@ assert e->type <= SIDEBAND_LOST; */
	/*@ assert e->comm[BELFRY_COMM_LEN - 1] == 0; */
	if (!e->path)
		return 0;
	/* 72 bytes of fixed fields, the NUL, 16 bytes of sample id: the name does not run into the latter. */
	/*@ assert e->path_len + 89 <= len; */
	return e->path[e->path_len];
}

void prove_sideband_record(void);
void prove_sideband_record(void)
{
	struct sideband_event e;
	const char *wrong;

	/*@ loop unroll SHORT_MAX + 1; */
	for (uint32_t len = 0; len <= SHORT_MAX; len++) {
		unknown_bytes(short_record, sizeof(short_record));
		if (!sideband_record_decode(short_record + sizeof(short_record) - len, len, &e))
			use(&e, len);
	}
	unknown_bytes(record, sizeof(record));
	sideband_record_decode(record, unknown_u32(), &e);
	wrong = sideband_record_decode(record, Frama_C_unsigned_int_interval(SIDEBAND_RECORD_MAX + 1, 0xffffffffu), &e);
	/*@ assert wrong != \null; */
}
