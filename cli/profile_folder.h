/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_folder: reads back what the uploader of a recording has written: its journal, which is
 * the account, and the profiles. These come from a role that may have been taken over: they are
 * foreign bytes, read by a launcher without rights.
 */
#ifndef BELFRY_CLI_PROFILE_FOLDER_H
#define BELFRY_CLI_PROFILE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/pprof_merge.h"
#include "ipc/ledger.h"

struct profile_folder {
	int fd;		    /* of the folder, not owned */
	uint64_t files;	    /* merged */
	uint64_t bad_files; /* that could not be */
	char problem[256];  /* with the first of them */
};

/*
 * The account as the journal tells it, completed by the collector's last counters (NULL where they
 * never came). Returns 0 or -errno; a missing journal is an account of nothing.
 */
int profile_folder_account(const struct profile_folder *f, const struct counters_record *last,
			   struct ledger_table *t);

/* Merges every profile; `command`: the process whose program comes first, 0 = none. Returns NULL or
 * a sentence. */
const char *profile_folder_merge(struct profile_folder *f, struct pprof_merge *m, pid_t command);

#endif
