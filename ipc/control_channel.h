/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control channel: whoever started the collector (the launcher of `belfry
 * record`) <-> collector, over an inherited SEQPACKET socket pair.
 * Fixed-size messages; no descriptors. A message that breaks a rule closes the channel.
 */
#ifndef BELFRY_IPC_CONTROL_CHANNEL_H
#define BELFRY_IPC_CONTROL_CHANNEL_H

#include <stdint.h>

#include "bpf/shared.h"
#include "ipc/message_rule.h"
#include "ipc/sample_channel.h"

#define CONTROL_MESSAGE_MAX 256

enum control_message_type {
	CONTROL_FILTER_ADD = 1, /* -> collector: add one entry to a filter */
	CONTROL_FILTER_REMOVE,  /* -> collector */
	CONTROL_START,          /* -> collector: begin sampling (perf events enabled) */
	CONTROL_STOP,           /* -> collector: end sampling, drain, send RECORD_END, answer STOPPED */
	CONTROL_GET_COUNTERS,   /* -> collector: answer COUNTERS */
	CONTROL_READY,          /* <- collector: loaded, confined, waiting for START or sampling */
	CONTROL_COUNTERS,       /* <- collector */
	CONTROL_STOPPED,        /* <- collector: final counters; held is 0 or was counted as lost */
	CONTROL_MESSAGE_TYPES
};

struct control_message {
	enum control_message_type type;
	uint32_t filter;      /* FILTER_*: enum filter_kind */
	uint32_t descendants; /* FILTER_PROCESS: 1 = its descendants as well */
	uint64_t key;         /* FILTER_*: tgid, cgroup id or uid */
	struct counters_record counters; /* COUNTERS, STOPPED */
};

#define CONTROL_PHASE_ANY 1u

extern const struct message_rule control_rules_to_collector[];
extern const unsigned int control_rules_to_collector_count;
extern const struct message_rule control_rules_to_launcher[];
extern const unsigned int control_rules_to_launcher_count;

uint32_t control_message_encode(const struct control_message *m, uint8_t *out);
const char *control_message_decode(const struct message_rule *rules, unsigned int rule_count,
				   const uint8_t *data, uint32_t len, uint32_t fds,
				   struct control_message *m);

#endif
