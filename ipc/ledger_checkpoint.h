/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_checkpoint: a ledger's whole state as journal entries, and back. */
#ifndef BELFRY_IPC_LEDGER_CHECKPOINT_H
#define BELFRY_IPC_LEDGER_CHECKPOINT_H

#include "ipc/journal_entry.h"

/* Called for each entry in turn. Returns 0, or a negative errno that ends the checkpoint. */
typedef int (*ledger_emit)(void *context, const struct journal_entry *e);

/* Emits CHECKPOINT ... CHECKPOINT_END. Returns 0 or what `emit` returned. */
int ledger_checkpoint(const struct ledger *l, uint64_t time, ledger_emit emit, void *context);

/*
 * Takes one entry of the kinds CHECKPOINT .. SEEN into a new ledger. Returns NULL, or a constant
 * sentence that names what was wrong; the ledger is of no use then.
 */
const char *ledger_restore(struct ledger *l, const struct journal_entry *e);

#endif
