/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOURCES: collector/procfs.c
 * OPTIONS: -eva-precision 3 -eva-split-return full -eva-interprocedural-history
 * FUNCTIONS: proc_mapping_decode proc_stat_decode proc_fdinfo_decode proc_mount_decode proc_mount_is_remote take_hex take_decimal take_word
 *
 * Texts of /proc: any bytes, any length. A text of the greatest length ends where its buffer ends.
 */
#include "collector/procfs.h"
#include "tests/prove/unknown.h"

static uint8_t line[PROC_LINE_MAX];
static uint8_t stat_text[PROC_STAT_MAX];
static uint8_t fdinfo_text[PROC_FDINFO_MAX];

static void too_long(uint32_t max)
{
	struct proc_mapping mapping;
	struct proc_stat stat;
	struct proc_mount mount;
	uint64_t mount_id;
	uint32_t len = Frama_C_unsigned_int_interval(max + 1, 0xffffffffu);
	const char *wrong;

	if (max == PROC_LINE_MAX) {
		wrong = proc_mapping_decode(line, len, &mapping);
		/*@ assert wrong != \null; */
		wrong = proc_mount_decode(line, len, &mount);
		/*@ assert wrong != \null; */
	} else {
		wrong = proc_stat_decode(stat_text, len, &stat);
		/*@ assert wrong != \null; */
		wrong = proc_fdinfo_decode(fdinfo_text, len, &mount_id);
		/*@ assert wrong != \null; */
	}
}

void prove_procfs(void);
void prove_procfs(void)
{
	struct proc_mapping mapping;
	struct proc_stat stat;
	struct proc_mount mount;
	uint64_t mount_id;

	unknown_bytes(line, sizeof(line));
	unknown_bytes(stat_text, sizeof(stat_text));
	unknown_bytes(fdinfo_text, sizeof(fdinfo_text));
	proc_mapping_decode(line, unknown_u32(), &mapping);
	proc_stat_decode(stat_text, unknown_u32(), &stat);
	proc_fdinfo_decode(fdinfo_text, unknown_u32(), &mount_id);
	if (!proc_mount_decode(line, unknown_u32(), &mount)) {
		/*@ assert mount.type[PROC_MOUNT_TYPE_LEN - 1] == 0; */
		proc_mount_is_remote(&mount);
	}
	too_long(PROC_LINE_MAX);
	too_long(PROC_STAT_MAX);
}
