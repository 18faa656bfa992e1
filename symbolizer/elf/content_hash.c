/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/content_hash.h"

#include <string.h>

/*
 * Odd constants with about half of their bits set: the fractions of sqrt(2), sqrt(3), sqrt(5),
 * sqrt(7).
 */
#define K0 0x6a09e667f3bcc909ull
#define K1 0xbb67ae8584caa73bull
#define K2 0x3c6ef372fe94f82bull
#define K3 0xa54ff53a5f1d36f1ull

/* High and low half of a 64 x 64 bit product, folded: each input bit reaches each output bit. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Bytes are assembled by value so that the id does not depend on the host. */
static uint64_t word_at(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

static void absorb(struct content_hash *h, const uint8_t *block)
{
	uint64_t a = word_at(block);
	uint64_t b = word_at(block + 8);
	uint64_t old = h->lane[0];

	/*
	 * The old state is added back: a product with a zero factor must not wipe out what came
	 * before.
	 */
	h->lane[0] = fold(h->lane[0] ^ a, K1 ^ b) + h->lane[1];
	h->lane[1] = fold(h->lane[1] ^ b, K2 ^ a) + (old << 23 | old >> 41);
}

void content_hash_start(struct content_hash *h)
{
	*h = (struct content_hash){ .lane = { K0, K3 } };
}

void content_hash_add(struct content_hash *h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	h->length += len;
	while (len > 0) {
		size_t room = sizeof(h->pending) - h->pending_len;
		size_t n = len < room ? len : room;

		if (h->pending_len == 0 && len >= sizeof(h->pending)) {
			absorb(h, p);
			p += sizeof(h->pending);
			len -= sizeof(h->pending);
			continue;
		}
		memcpy(h->pending + h->pending_len, p, n);
		h->pending_len += (uint32_t)n;
		p += n;
		len -= n;
		if (h->pending_len == sizeof(h->pending)) {
			absorb(h, h->pending);
			h->pending_len = 0;
		}
	}
}

void content_hash_end(struct content_hash *h, uint8_t *out)
{
	uint64_t x;
	uint64_t y;

	memset(h->pending + h->pending_len, 0, sizeof(h->pending) - h->pending_len);
	absorb(h, h->pending);
	x = fold(h->lane[0] ^ h->length, K3 ^ h->lane[1]) + h->lane[1];
	y = fold(h->lane[1] ^ K1, h->length ^ K0 ^ x) + h->lane[0];
	x ^= fold(y, K2);
	for (int i = 0; i < 8; i++) {
		out[i] = (uint8_t)(x >> 8 * i);
		out[8 + i] = (uint8_t)(y >> 8 * i);
	}
}
