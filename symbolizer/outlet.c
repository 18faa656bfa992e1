/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"

/* An account and labels take less; the bytes of a profile come on top. */
#define MESSAGE_OVERHEAD (8 * 1024)

struct outlet_item {
	struct outlet_item *next;
	size_t len;
	uint8_t data[];
};

struct outlet {
	struct nng_channel *channel;
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

void outlet_attach(struct outlet *o, struct nng_channel *channel)
{
	o->channel = channel;
}

bool outlet_has_room(const struct outlet *o, uint64_t pending, uint64_t pprof_len)
{
	return o->bytes + pending + pprof_len + MESSAGE_OVERHEAD <= o->bytes_max;
}

int outlet_add(struct outlet *o, struct profile_message *m)
{
	struct builder b = builder_over(o->header, sizeof(o->header));
	uint32_t pprof_len = m->type == PROFILE_PPROF ? m->pprof_len : 0;
	struct outlet_item *item;

	m->sequence = o->sequence;
	profile_message_encode_header(&b, m);
	if (b.bad || b.len + pprof_len > PROFILE_MESSAGE_MAX || o->bytes + b.len + pprof_len > o->bytes_max)
		return -ENOBUFS;
	item = malloc(sizeof(*item) + b.len + pprof_len);
	if (!item)
		return -ENOMEM;
	item->next = NULL;
	item->len = b.len + pprof_len;
	memcpy(item->data, o->header, b.len);
	if (pprof_len)
		memcpy(item->data + b.len, m->pprof, pprof_len);
	*o->last = item;
	o->last = &item->next;
	o->bytes += item->len;
	o->sequence++;
	return 0;
}

void outlet_flush(struct outlet *o)
{
	while (o->first && o->channel) {
		struct outlet_item *item = o->first;
		int error = nng_channel_send(o->channel, item->data, item->len);

		if (error == -EAGAIN)
			return;
		if (error)
			log_error("outlet", "sending to the uploader: %s", strerror(-error));
		o->first = item->next;
		if (!o->first)
			o->last = &o->first;
		o->bytes -= item->len;
		free(item);
	}
}

bool outlet_empty(const struct outlet *o)
{
	return !o->first;
}
