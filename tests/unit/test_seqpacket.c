/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/seqpacket.h"

static void open_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void a_descriptor_travels_and_is_close_on_exec(void **state)
{
	int pair[2], null = open("/dev/null", O_RDONLY), got;
	char data[8];

	(void)state;
	open_pair(pair);
	assert_int_equal(seqpacket_send(pair[0], "ab", 2, null), 0);
	assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), &got), 2);
	assert_true(got >= 0);
	assert_int_equal(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(got);
	close(null);
	close(pair[0]);
	close(pair[1]);
}

static void an_unwanted_descriptor_is_an_error_and_does_not_leak(void **state)
{
	int pair[2], null = open("/dev/null", O_RDONLY);
	char data[8];
	int before;

	(void)state;
	open_pair(pair);
	before = open_descriptors();
	assert_int_equal(seqpacket_send(pair[0], "ab", 2, null), 0);
	assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), NULL), -EMSGSIZE);
	assert_int_equal(open_descriptors(), before);
	close(null);
	close(pair[0]);
	close(pair[1]);
}

/* Sends one packet with `count` descriptors, as a hostile peer would. */
static void send_many(int fd, int pass, int count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(16 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { "ab", 2 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int)) };

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
	for (int i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + (size_t)i * sizeof(int), &pass, sizeof(int));
	assert_int_equal(sendmsg(fd, &m, 0), 2);
}

static void more_than_one_descriptor_is_an_error_and_does_not_leak(void **state)
{
	int pair[2], null = open("/dev/null", O_RDONLY), got;
	char data[8];
	int before;

	(void)state;
	open_pair(pair);
	before = open_descriptors();
	/* Two fit into the 8-byte aligned control space, sixteen do not. */
	for (int count = 2; count <= 16; count += 14) {
		send_many(pair[0], null, count);
		assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), &got), -EMSGSIZE);
		assert_int_equal(got, -1);
		assert_int_equal(open_descriptors(), before);
	}
	close(null);
	close(pair[0]);
	close(pair[1]);
}

static void an_oversized_packet_is_an_error(void **state)
{
	int pair[2], got;
	char data[4];

	(void)state;
	open_pair(pair);
	assert_int_equal(seqpacket_send(pair[0], "abcde", 5, -1), 0);
	assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), &got), -EMSGSIZE);
	assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), &got), -EAGAIN);
	close(pair[0]);
	assert_int_equal(seqpacket_receive(pair[1], data, sizeof(data), &got), 0);
	close(pair[1]);
}

static void a_path_that_does_not_fit_is_refused(void **state)
{
	char path[200];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(seqpacket_listen(path), -ENAMETOOLONG);
	assert_int_equal(seqpacket_connect(""), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_descriptor_travels_and_is_close_on_exec),
		cmocka_unit_test(an_unwanted_descriptor_is_an_error_and_does_not_leak),
		cmocka_unit_test(more_than_one_descriptor_is_an_error_and_does_not_leak),
		cmocka_unit_test(an_oversized_packet_is_an_error),
		cmocka_unit_test(a_path_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
