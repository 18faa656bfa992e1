/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"

#define WINDOW_MESSAGE_MAX 1024 /* bytes of a WINDOW or END message: an account and a few numbers */

struct outlet_item {
	struct outlet_item *next;
	size_t len;
	uint8_t data[];
};

struct outlet {
	struct message_channel *channel;
	bool under_way; /* the channel has not sent all of the last message yet */
	struct outlet_item *first;
	struct outlet_item **last;
	uint64_t bytes;
	uint64_t bytes_max;
	uint64_t sequence;
	uint8_t header[PROFILE_HEADER_MAX];
};

int outlet_new(struct outlet **out, uint64_t bytes_max)
{
	struct outlet *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->bytes_max = bytes_max;
	o->last = &o->first;
	*out = o;
	return 0;
}

void outlet_free(struct outlet *o)
{
	if (!o)
		return;
	while (o->first) {
		struct outlet_item *item = o->first;

		o->first = item->next;
		free(item);
	}
	free(o);
}

void outlet_attach(struct outlet *o, struct message_channel *channel)
{
	o->channel = channel;
}

uint64_t outlet_size(struct outlet *o, const struct profile_message *m)
{
	struct builder b = builder_over(o->header, sizeof(o->header));
	uint64_t size;

	profile_message_encode_header(&b, m);
	size = (uint64_t)b.len + (m->type == PROFILE_PPROF ? m->pprof_len : 0);
	return b.bad || size > PROFILE_MESSAGE_MAX ? UINT64_MAX : size;
}

bool outlet_has_room(const struct outlet *o, uint64_t pending, uint64_t size)
{
	uint64_t taken = o->bytes + pending + WINDOW_MESSAGE_MAX;

	return taken <= o->bytes_max && size <= o->bytes_max - taken;
}

int outlet_add(struct outlet *o, struct profile_message *m)
{
	struct outlet_item *item;
	uint64_t size;
	size_t header;

	m->sequence = o->sequence;
	size = outlet_size(o, m); /* leaves the encoded header in o->header */
	if (size == UINT64_MAX || size > o->bytes_max - o->bytes)
		return -ENOBUFS;
	item = malloc(sizeof(*item) + size);
	if (!item)
		return -ENOMEM;
	header = size - (m->type == PROFILE_PPROF ? m->pprof_len : 0);
	item->next = NULL;
	item->len = size;
	memcpy(item->data, o->header, header);
	if (size > header)
		memcpy(item->data + header, m->pprof, m->pprof_len);
	*o->last = item;
	o->last = &item->next;
	o->bytes += item->len;
	o->sequence++;
	return 0;
}

void outlet_flush(struct outlet *o)
{
	if (!o->channel)
		return;
	while (o->first) {
		struct outlet_item *item = o->first;
		int error = message_channel_send(o->channel, item->data, item->len);

		if (error == -EAGAIN)
			break;
		if (error)
			log_error("outlet", "sending to the uploader: %s", strerror(-error));
		o->first = item->next;
		if (!o->first)
			o->last = &o->first;
		o->bytes -= item->len;
		free(item);
	}
	o->under_way = !message_channel_flush(o->channel);
}

bool outlet_empty(const struct outlet *o)
{
	return !o->first && !o->under_way;
}
