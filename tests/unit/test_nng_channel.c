/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/nng_channel.h"

struct fixture {
	char directory[32];
	char path[64];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/belfry-nng.XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/s.sock", f->directory);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

static struct nng_channel *open_end(const char *path, bool push, bool listen, uid_t peer)
{
	struct nng_channel_options o = { .path = path, .push = push, .listen = listen,
					 .peer_uid = peer, .receive_max = 1 << 20 };
	struct nng_channel *c = NULL;

	assert_int_equal(nng_channel_open(&c, &o), 0);
	return c;
}

static bool ready(struct nng_channel *c, int milliseconds)
{
	struct pollfd p = { .fd = nng_channel_poll_fd(c), .events = POLLIN };

	return poll(&p, 1, milliseconds) == 1;
}

static void a_message_arrives_and_nobody_blocks(void **state)
{
	struct fixture *f = *state;
	struct nng_channel *pull = open_end(f->path, false, true, getuid());
	struct nng_channel *push;
	const uint8_t *data;
	size_t len;

	assert_int_equal(nng_channel_receive(pull, &data, &len), 0);
	push = open_end(f->path, true, false, getuid());
	assert_true(ready(push, 5000));
	assert_int_equal(nng_channel_send(push, "hello", 5), 0);
	assert_true(ready(pull, 5000));
	assert_int_equal(nng_channel_receive(pull, &data, &len), 1);
	assert_int_equal(len, 5);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(nng_channel_refused(pull), 0);
}

static void sending_to_nobody_is_eagain(void **state)
{
	struct fixture *f = *state;
	struct nng_channel *push = open_end(f->path, true, false, getuid());

	assert_int_equal(nng_channel_send(push, "x", 1), -EAGAIN);
}

static void a_peer_with_another_uid_is_refused(void **state)
{
	struct fixture *f = *state;
	struct nng_channel *pull = open_end(f->path, false, true, getuid() + 1);
	struct nng_channel *push = open_end(f->path, true, false, getuid());

	for (int i = 0; i < 50 && nng_channel_refused(pull) == 0; i++)
		usleep(100000);
	assert_true(nng_channel_refused(pull) > 0);
	assert_int_equal(nng_channel_send(push, "x", 1), -EAGAIN);
}

static void a_second_peer_waits_until_the_first_is_gone(void **state)
{
	struct fixture *f = *state;
	struct nng_channel *pull = open_end(f->path, false, true, getuid());
	struct nng_channel *second;
	const uint8_t *data;
	size_t len;
	pid_t first;

	/* nng has threads by now, so the child is a fresh program, not a mere fork. */
	first = fork();
	if (first == 0) {
		execl("/proc/self/exe", "test_nng_channel", "--first-peer", f->path, (char *)NULL);
		_exit(127);
	}
	assert_true(ready(pull, 5000));
	assert_int_equal(nng_channel_receive(pull, &data, &len), 1);
	assert_memory_equal(data, "first", 5);
	second = open_end(f->path, true, false, getuid());
	for (int i = 0; i < 50 && nng_channel_refused(pull) == 0; i++)
		usleep(100000);
	assert_true(nng_channel_refused(pull) > 0);
	assert_int_equal(nng_channel_send(second, "x", 1), -EAGAIN);
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	for (int i = 0; i < 100 && nng_channel_send(second, "second", 6) != 0; i++)
		usleep(100000);
	assert_true(ready(pull, 5000));
	assert_int_equal(nng_channel_receive(pull, &data, &len), 1);
	assert_memory_equal(data, "second", 6);
}

static void the_socket_is_not_for_others(void **state)
{
	struct fixture *f = *state;
	struct stat s;

	open_end(f->path, false, true, getuid());
	assert_int_equal(stat(f->path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0660);
}

static int be_the_first_peer(const char *path)
{
	struct nng_channel *push = open_end(path, true, false, getuid());

	for (int i = 0; i < 50 && nng_channel_send(push, "first", 5) != 0; i++)
		usleep(100000);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_message_arrives_and_nobody_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sending_to_nobody_is_eagain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_peer_with_another_uid_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_second_peer_waits_until_the_first_is_gone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_socket_is_not_for_others, set_up, tear_down),
	};
	int failed;

	if (argc == 3)
		return be_the_first_peer(argv[2]);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	/* Channels are never closed before the end (nng 1.5), so neither is this process's tidy-up run. */
	fflush(NULL);
	_exit(failed);
}
