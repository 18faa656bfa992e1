/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal: the file `journal` in the sink directory: a line for every file written and every window
 * accounted for (ipc/journal_entry.h), and the ledger rebuilt from it after a restart.
 *
 * It grows to a limit; then a new one begins with a checkpoint of the ledger, and the old one is
 * kept as `journal.1`. A line that could not be written (disk full) is made up for by a checkpoint
 * before the next line.
 */
#ifndef BELFRY_UPLOADER_JOURNAL_H
#define BELFRY_UPLOADER_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/journal_entry.h"

struct journal;

/*
 * Opens or makes the journal in `directory` (lent), reads it, settles a profile that an earlier run
 * may have left without its name. `limit` in bytes. Returns 0 or -errno (logged); -EBUSY where
 * another uploader works there.
 */
int journal_open(struct journal **out, int directory, uint64_t limit);

/* Syncs and closes. */
void journal_close(struct journal *j);

/* An earlier run took a stream's END and was killed before it could leave. */
bool journal_found_end(const struct journal *j);

/* The account as far as it goes. Owned by the journal. */
struct ledger *journal_ledger(struct journal *j);

/* Appends a line; sets its time. Returns 0 or -errno (logged): the line is then not there, and will
 * be made up for. */
int journal_append(struct journal *j, struct journal_entry *e);

/* Brings it to the disk. */
void journal_sync(struct journal *j);

#endif
