/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outlet: messages on their way to the uploader. A bounded queue in front of the profile channel; what was taken into it is
 * promised in a window's account, so it is never dropped here: what does not fit is refused at the door.
 */
#ifndef BELFRY_SYMBOLIZER_OUTLET_H
#define BELFRY_SYMBOLIZER_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/message_channel.h"
#include "ipc/profile_channel.h"

struct outlet;

int outlet_new(struct outlet **out, uint64_t bytes_max);
void outlet_free(struct outlet *o);

/* The channel is opened after the outlet and given to it then. */
void outlet_attach(struct outlet *o, struct message_channel *channel);

/* Bytes that `m` takes in the queue; its account's values do not matter. UINT64_MAX when it can never be taken. */
uint64_t outlet_size(struct outlet *o, const struct profile_message *m);

/* Whether `size` bytes more would be taken now, after `pending` bytes and the window's own message. */
bool outlet_has_room(const struct outlet *o, uint64_t pending, uint64_t size);

/* Takes a message (its sequence number is given here). Returns 0, -ENOBUFS or -ENOMEM. */
int outlet_add(struct outlet *o, struct profile_message *m);

/* Sends what the channel takes now. */
void outlet_flush(struct outlet *o);

bool outlet_empty(const struct outlet *o);

#endif
