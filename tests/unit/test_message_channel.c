/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/builder.h"
#include "ipc/message_channel.h"
#include "ipc/seqpacket.h"

#define MESSAGE_MAX (1 << 20)

struct fixture {
	char directory[40];
	char path[64];
	struct message_channel *sender;
	struct message_channel *receiver;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/belfry-channel.XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/s.sock", f->directory);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->sender)
		message_channel_close(f->sender);
	if (f->receiver)
		message_channel_close(f->receiver);
	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

static struct message_channel *open_end(const struct fixture *f, bool sends, bool listens, uid_t peer)
{
	struct message_channel_options o = { .path = f->path, .sends = sends, .listens = listens,
					     .peer_uid = peer, .message_max = MESSAGE_MAX };
	struct message_channel *c = NULL;

	assert_int_equal(message_channel_open(&c, &o), 0);
	return c;
}

/* The receiver listens, the sender connects: as collector and symbolizer do. */
static void open_both(struct fixture *f)
{
	f->receiver = open_end(f, false, true, getuid());
	f->sender = open_end(f, true, false, getuid());
}

/* One message through, however often the two ends must take turns. False when none comes within 5 s. */
static bool pass(struct fixture *f, const void *data, size_t len, const uint8_t **got, size_t *got_len)
{
	bool taken = false;

	for (int i = 0; i < 5000; i++) {
		if (!taken)
			taken = message_channel_send(f->sender, data, len) == 0;
		else
			message_channel_flush(f->sender);
		if (message_channel_receive(f->receiver, got, got_len) == 1)
			return true;
		usleep(1000);
	}
	return false;
}

static void assert_passes(struct fixture *f, const void *data, size_t len)
{
	const uint8_t *got = NULL;
	size_t got_len = 0;

	assert_true(pass(f, data, len, &got, &got_len));
	assert_int_equal(got_len, len);
	assert_memory_equal(got, data, len);
}

static bool readable(const struct message_channel *c)
{
	struct pollfd p = { .fd = message_channel_poll_fd(c), .events = POLLIN };

	return poll(&p, 1, 2000) == 1;
}

static void a_message_arrives_whichever_end_listens(void **state)
{
	struct fixture *f = *state;

	open_both(f);
	assert_passes(f, "hello", 5);
	message_channel_close(f->sender);
	message_channel_close(f->receiver);
	f->sender = open_end(f, true, true, getuid());
	f->receiver = open_end(f, false, false, getuid());
	assert_passes(f, "again", 5);
	assert_int_equal(message_channel_counters(f->receiver)->rules_broken, 0);
}

static void the_descriptor_says_when_there_is_something(void **state)
{
	struct fixture *f = *state;
	const uint8_t *data;
	size_t len;

	open_both(f);
	assert_true(readable(f->sender)); /* time to connect */
	message_channel_flush(f->sender);
	assert_true(readable(f->receiver)); /* a peer to accept */
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0);
	assert_int_equal(message_channel_send(f->sender, "x", 1), 0);
	assert_true(readable(f->receiver));
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 1);
}

static void sending_to_nobody_is_eagain(void **state)
{
	struct fixture *f = *state;

	f->sender = open_end(f, true, false, getuid());
	assert_int_equal(message_channel_send(f->sender, "x", 1), -EAGAIN);
	assert_int_equal(message_channel_send(f->sender, "x", 0), -EMSGSIZE);
	assert_int_equal(message_channel_send(f->sender, f, MESSAGE_MAX + 1), -EMSGSIZE);
}

/* 200,000 bytes are four packets: 3 x 65,536 and 3,392. */
static void a_long_message_is_cut_and_put_together(void **state)
{
	struct fixture *f = *state;
	static uint8_t data[MESSAGE_MAX];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + i / 251);
	open_both(f);
	assert_passes(f, data, 200000);
	assert_passes(f, data, MESSAGE_PIECE_MAX);
	assert_passes(f, data, MESSAGE_PIECE_MAX + 1);
	assert_passes(f, data, MESSAGE_MAX);
	assert_passes(f, "short", 5);
}

static void what_was_half_sent_goes_whole_to_the_next_peer(void **state)
{
	struct fixture *f = *state;
	static uint8_t data[MESSAGE_MAX];
	const uint8_t *got;
	size_t len;

	memset(data, 7, sizeof(data));
	open_both(f);
	assert_passes(f, "hello", 5);
	/* 1 MiB does not fit the socket's buffer (about 200 KiB), so part of it waits here. */
	assert_int_equal(message_channel_send(f->sender, data, sizeof(data)), 0);
	assert_false(message_channel_flush(f->sender));
	assert_int_equal(message_channel_receive(f->receiver, &got, &len), 0);
	message_channel_close(f->receiver);
	f->receiver = open_end(f, false, true, getuid());
	for (int i = 0; i < 5000; i++) {
		message_channel_flush(f->sender);
		if (message_channel_receive(f->receiver, &got, &len) == 1)
			break;
		usleep(1000);
	}
	assert_int_equal(len, sizeof(data));
	assert_memory_equal(got, data, sizeof(data));
}

static void a_peer_with_another_uid_is_refused_at_both_ends(void **state)
{
	struct fixture *f = *state;
	const uint8_t *data;
	size_t len;

	f->receiver = open_end(f, false, true, getuid() + 1);
	f->sender = open_end(f, true, false, getuid() + 2);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(message_channel_send(f->sender, "x", 1), -EAGAIN);
		assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0);
		usleep(2000);
	}
	assert_true(message_channel_counters(f->sender)->peers_refused > 0);
	assert_true(message_channel_counters(f->receiver)->peers_refused > 0);
	assert_false(message_channel_connected(f->sender));
	assert_false(message_channel_connected(f->receiver));
}

static void a_second_peer_is_refused_until_the_first_is_gone(void **state)
{
	struct fixture *f = *state;
	struct message_channel *second;
	const uint8_t *data;
	size_t len;

	open_both(f);
	assert_passes(f, "first", 5);
	second = open_end(f, true, false, getuid());
	usleep(5000);
	message_channel_flush(second);
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0);
	assert_int_equal(message_channel_counters(f->receiver)->peers_refused, 1);
	assert_passes(f, "still", 5);
	message_channel_close(f->sender);
	f->sender = second;
	assert_passes(f, "second", 6);
}

static void the_connecting_end_comes_back(void **state)
{
	struct fixture *f = *state;

	open_both(f);
	assert_passes(f, "one", 3);
	message_channel_close(f->receiver);
	unlink(f->path);
	usleep(200000);
	assert_int_equal(message_channel_send(f->sender, "x", 1), -EAGAIN);
	f->receiver = open_end(f, false, true, getuid());
	assert_passes(f, "two", 3);
}

/* A raw packet: announced length, offset, and `piece` bytes. */
static uint32_t raw_packet(uint8_t *out, uint32_t total, uint32_t offset, uint32_t piece)
{
	struct builder b = builder_over(out, MESSAGE_HEADER_LEN);

	builder_u32(&b, total);
	builder_u32(&b, offset);
	memset(out + MESSAGE_HEADER_LEN, 'p', piece);
	return MESSAGE_HEADER_LEN + piece;
}

struct raw {
	uint32_t total, offset, piece;
};

/* Sends the packets as a peer that has been taken over would; the receiver must hang up, count it, and live on. */
static void assert_hangs_up(struct fixture *f, const struct raw *packets, int count)
{
	uint64_t before = message_channel_counters(f->receiver)->rules_broken;
	static uint8_t packet[MESSAGE_HEADER_LEN + MESSAGE_PIECE_MAX + 1];
	int fd = seqpacket_connect(f->path);
	const uint8_t *data;
	size_t len;

	assert_true(fd >= 0);
	for (int i = 0; i < count; i++)
		assert_int_equal(seqpacket_send(fd, packet,
						raw_packet(packet, packets[i].total, packets[i].offset,
							   packets[i].piece),
						-1),
				 0);
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0);
	assert_int_equal(message_channel_counters(f->receiver)->rules_broken, before + 1);
	assert_false(message_channel_connected(f->receiver));
	close(fd);
}

static void broken_packets_end_the_connection(void **state)
{
	struct fixture *f = *state;
	static const struct raw nothing[] = { { 0, 0, 0 } };
	static const struct raw above_the_limit[] = { { MESSAGE_MAX + 1, 0, MESSAGE_PIECE_MAX } };
	static const struct raw longer_than_announced[] = { { 4, 0, 5 } };
	static const struct raw begins_in_the_middle[] = { { 100000, 65536, 34464 } };
	static const struct raw short_piece[] = { { 100000, 0, 10 } };
	static const struct raw other_length[] = { { 100000, 0, 65536 }, { 100001, 65536, 34465 } };
	static const struct raw twice[] = { { 100000, 0, 65536 }, { 100000, 0, 65536 } };
	static const struct raw beyond_a_packet[] = { { MESSAGE_PIECE_MAX + 1, 0, MESSAGE_PIECE_MAX + 1 } };
	static const struct raw wrapped[] = { { UINT32_MAX, UINT32_MAX, 1 } };

	f->receiver = open_end(f, false, true, getuid());
	assert_hangs_up(f, nothing, 1);
	assert_hangs_up(f, above_the_limit, 1);
	assert_hangs_up(f, longer_than_announced, 1);
	assert_hangs_up(f, begins_in_the_middle, 1);
	assert_hangs_up(f, short_piece, 1);
	assert_hangs_up(f, other_length, 2);
	assert_hangs_up(f, twice, 2);
	assert_hangs_up(f, beyond_a_packet, 1);
	assert_hangs_up(f, wrapped, 1);
	f->sender = open_end(f, true, false, getuid());
	assert_passes(f, "fine", 4);
}

static void a_descriptor_in_a_packet_ends_the_connection(void **state)
{
	struct fixture *f = *state;
	uint8_t packet[MESSAGE_HEADER_LEN + 1];
	const uint8_t *data;
	size_t len;
	int fd;

	f->receiver = open_end(f, false, true, getuid());
	fd = seqpacket_connect(f->path);
	assert_int_equal(seqpacket_send(fd, packet, raw_packet(packet, 1, 0, 1), STDIN_FILENO), 0);
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0);
	assert_int_equal(message_channel_counters(f->receiver)->rules_broken, 1);
	close(fd);
}

/* As a crashing or a hostile one does, hundreds of times: connect, perhaps say something, go. */
static void peers_that_come_and_go_do_no_harm(void **state)
{
	struct fixture *f = *state;
	uint8_t packet[MESSAGE_HEADER_LEN + 8];
	const uint8_t *data;
	size_t len;

	f->sender = open_end(f, true, true, getuid());
	for (int i = 0; i < 500; i++) {
		int fd = seqpacket_connect(f->path);

		if (i % 3 == 0)
			message_channel_send(f->sender, "x", 1);
		if (fd >= 0 && i % 2)
			seqpacket_send(fd, packet, raw_packet(packet, 8, 0, 8), -1);
		if (i % 5 == 0)
			message_channel_send(f->sender, "x", 1);
		if (fd >= 0)
			close(fd);
		message_channel_send(f->sender, "x", 1);
	}
	f->receiver = open_end(f, false, false, getuid());
	assert_true(pass(f, "last", 4, &data, &len));
}

/* A peer that talks back and dies, while the sender has nothing to send and so does not look: the next one waits behind it. */
static void unread_words_of_a_dead_peer_keep_nobody_out(void **state)
{
	struct fixture *f = *state;
	uint8_t packet[MESSAGE_HEADER_LEN + 8];
	const uint8_t *data;
	size_t len;
	int fd;

	f->sender = open_end(f, true, true, getuid());
	fd = seqpacket_connect(f->path);
	assert_int_equal(seqpacket_send(fd, packet, raw_packet(packet, 8, 0, 8), -1), 0);
	close(fd);
	f->receiver = open_end(f, false, false, getuid());
	usleep(2000);
	assert_int_equal(message_channel_receive(f->receiver, &data, &len), 0); /* connects */
	assert_true(message_channel_connected(f->receiver));
	message_channel_flush(f->sender); /* takes the dead one */
	message_channel_flush(f->sender);
	assert_true(pass(f, "next", 4, &data, &len));
	assert_int_equal(message_channel_counters(f->sender)->peers_refused, 0);
}

static void the_socket_is_not_for_others(void **state)
{
	struct fixture *f = *state;
	struct stat s;

	f->receiver = open_end(f, false, true, getuid());
	assert_int_equal(stat(f->path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0660);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_arrives_whichever_end_listens),
		TEST(the_descriptor_says_when_there_is_something),
		TEST(sending_to_nobody_is_eagain),
		TEST(a_long_message_is_cut_and_put_together),
		TEST(what_was_half_sent_goes_whole_to_the_next_peer),
		TEST(a_peer_with_another_uid_is_refused_at_both_ends),
		TEST(a_second_peer_is_refused_until_the_first_is_gone),
		TEST(the_connecting_end_comes_back),
		TEST(broken_packets_end_the_connection),
		TEST(a_descriptor_in_a_packet_ends_the_connection),
		TEST(peers_that_come_and_go_do_no_harm),
		TEST(unread_words_of_a_dead_peer_keep_nobody_out),
		TEST(the_socket_is_not_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
