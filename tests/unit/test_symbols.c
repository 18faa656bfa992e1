/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main process's side, against a zygote played by the test: it answers as a worker would, or as
 * a taken-over one.
 */
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/unit/built_file.h"
#include "ipc/seqpacket.h"
#include "symbolizer/symbols.h"
#include "symbolizer/worker.h"

struct fixture {
	struct symbols *symbols;
	int zygote; /* the test's end */
	int other;  /* what symbols_new() got */
};

/* A request that reached the test as zygote and worker. */
struct taken {
	int socket;
	int file;
	struct worker_request request;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct fixture begin_with(struct symbols_limits limits)
{
	struct fixture f;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	f.zygote = pair[0];
	f.other = pair[1];
	assert_int_equal(symbols_new(&f.symbols, pair[1], &limits), 0);
	return f;
}

static struct fixture begin(void)
{
	return begin_with((struct symbols_limits){ .open_files = 8,
						   .cached_addresses = 1000,
						   .workers = 2,
						   .worker_wall_ms = 2000,
						   .deny_seconds = 60 });
}

static void end(struct fixture *f)
{
	symbols_free(f->symbols);
	if (f->zygote >= 0)
		close(f->zygote);
	close(f->other);
}

static enum file_result add_identity(struct fixture *f, uint64_t id, uint64_t inode)
{
	struct file_message m = { .type = FILE_OPENED,
				  .file_id = id,
				  .device = 1,
				  .inode = inode,
				  .size = 1000,
				  .change_time = 7 };

	return symbols_add_file(f->symbols, &m, open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static enum file_result add(struct fixture *f, uint64_t id)
{
	return add_identity(f, id, id);
}

/* Takes one request; false when none has come. */
static bool take(struct fixture *f, struct taken *t)
{
	static uint8_t data[WORKER_REQUEST_MAX];
	ssize_t len = seqpacket_receive(f->zygote, data, sizeof(data), &t->socket);

	if (len == -EAGAIN)
		return false;
	assert_int_equal(len, 1);
	assert_true(t->socket >= 0);
	len = seqpacket_receive(t->socket, data, sizeof(data), &t->file);
	assert_true(len > 0);
	assert_true(t->file >= 0);
	assert_null(worker_request_decode(data, (uint32_t)len, &t->request));
	return true;
}

static void hang_up(struct taken *t)
{
	close(t->socket);
	close(t->file);
}

static void say_file(struct taken *t)
{
	uint8_t packet[1024];
	struct builder b = builder_over(packet, sizeof(packet));
	struct worker_file file = { .status = WORKER_FILE_OK,
				    .build_id = "abcd",
				    .parts = WORKER_HAS_SYMTAB | WORKER_HAS_SEGMENTS };

	worker_file_encode(&b, &file);
	assert_int_equal(seqpacket_send(t->socket, packet, b.len, -1), 0);
}

/* `count` answers: address = offset + 0x400000, all in one function. */
static void say_names(struct taken *t, uint32_t first, uint32_t count)
{
	static uint8_t packet[WORKER_PACKET_MAX];
	struct builder b = builder_over(packet, sizeof(packet));

	worker_names_begin(&b);
	for (uint32_t i = 0; i < count; i++) {
		struct worker_name n = { .has_address = true,
					 .has_symbol = true,
					 .name = "f(int)",
					 .name_len = 6,
					 .system_name = "_Z1fi",
					 .system_name_len = 5,
					 .function_start = 0x400000 };

		n.address = 0x400000 + t->request.offsets[(first + i) % WORKER_OFFSETS_MAX];
		assert_true(worker_names_add(&b, &n));
	}
	assert_int_equal(seqpacket_send(t->socket, packet, b.len, -1), 0);
}

static void say_bare(struct taken *t, enum worker_packet_type type)
{
	uint8_t packet[64];
	struct builder b = builder_over(packet, sizeof(packet));

	worker_bare_encode(&b, type);
	assert_int_equal(seqpacket_send(t->socket, packet, b.len, -1), 0);
}

static void answer_well(struct fixture *f)
{
	struct taken t;

	while (take(f, &t)) {
		say_file(&t);
		if (t.request.count)
			say_names(&t, 0, t.request.count);
		say_bare(&t, WORKER_END);
		hang_up(&t);
		symbols_handle(f->symbols, now_ms());
	}
}

static bool known(struct fixture *f, uint64_t id, uint64_t offset)
{
	struct symbol s;

	return symbols_lookup(f->symbols, id, offset, &s);
}

static void wanted_addresses_are_asked_once_and_cached(void **state)
{
	struct fixture f = begin();
	struct symbol s;

	(void)state;
	assert_int_equal(add(&f, 20), FILE_ACCEPTED);
	assert_true(symbols_idle(f.symbols));
	symbols_want(f.symbols, 20, 0x123);
	symbols_want(f.symbols, 20, 0x123);
	symbols_want(f.symbols, 20, 0x456);
	assert_false(symbols_idle(f.symbols));
	assert_false(known(&f, 20, 0x123));
	symbols_start(f.symbols);
	answer_well(&f);
	assert_true(symbols_idle(f.symbols));
	assert_true(symbols_lookup(f.symbols, 20, 0x123, &s));
	assert_true(s.has_address);
	assert_int_equal(s.address, 0x400123);
	assert_string_equal(s.name, "f(int)");
	assert_string_equal(s.system_name, "_Z1fi");
	assert_int_equal(s.function_start, 0x400000);
	assert_true(known(&f, 20, 0x456));
	assert_false(known(&f, 20, 0x457));
	assert_string_equal(symbols_file(f.symbols, 20)->build_id, "abcd");
	assert_true(symbols_file(f.symbols, 20)->has_symbols);
	assert_int_equal(symbols_counters(f.symbols)->workers_started, 1);
	assert_int_equal(symbols_counters(f.symbols)->addresses_named, 2);
	symbols_want(f.symbols, 20, 0x123);
	assert_true(symbols_idle(f.symbols));
	end(&f);
}

static void more_than_one_requests_worth_is_asked_in_turn(void **state)
{
	struct fixture f = begin_with((struct symbols_limits){
		.open_files = 8, .cached_addresses = 20000, .workers = 2, .worker_wall_ms = 2000 });

	(void)state;
	add(&f, 20);
	for (uint64_t i = 0; i < 10000; i++)
		symbols_want(f.symbols, 20, i);
	symbols_start(f.symbols);
	while (!symbols_idle(f.symbols)) {
		struct taken t;

		/* One worker at a time reads a file. */
		assert_true(take(&f, &t));
		say_file(&t);
		for (uint32_t at = 0; at < t.request.count; at += 512)
			say_names(&t, at, t.request.count - at < 512 ? t.request.count - at : 512);
		say_bare(&t, WORKER_END);
		hang_up(&t);
		symbols_handle(f.symbols, now_ms());
	}
	assert_int_equal(symbols_counters(f.symbols)->workers_started, 3); /* 4096 + 4096 + 1808 */
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(known(&f, 20, i));
	end(&f);
}

static void a_worker_that_dies_denies_its_file_and_no_other(void **state)
{
	struct fixture f = begin();
	struct taken t;

	(void)state;
	add(&f, 20);
	add(&f, 21);
	symbols_want(f.symbols, 20, 1);
	symbols_want(f.symbols, 21, 1);
	symbols_start(f.symbols);
	assert_true(take(&f, &t));
	assert_int_equal(t.request.offsets[0], 1);
	say_file(&t);
	hang_up(&t); /* before its names */
	answer_well(&f);
	symbols_handle(f.symbols, now_ms());
	assert_int_equal(symbols_counters(f.symbols)->workers_died, 1);
	assert_int_equal(symbols_counters(f.symbols)->files_denied, 1);
	assert_int_equal(symbols_file(f.symbols, 20)->status, FILE_STATUS_WORKER_DIED);
	assert_int_equal(symbols_file(f.symbols, 21)->status, FILE_STATUS_OK);
	assert_false(known(&f, 20, 1));
	assert_true(known(&f, 21, 1));
	/* Not asked again ... */
	symbols_want(f.symbols, 20, 1);
	symbols_want(f.symbols, 20, 2);
	assert_true(symbols_idle(f.symbols));
	/* ... nor under another id, while a file with another identity is taken. */
	assert_int_equal(add_identity(&f, 30, 20), FILE_REFUSED);
	assert_int_equal(symbols_file(f.symbols, 30)->status, FILE_STATUS_WORKER_DIED);
	assert_int_equal(add_identity(&f, 31, 22), FILE_ACCEPTED);
	end(&f);
}

static void a_denial_ends(void **state)
{
	struct fixture f = begin_with((struct symbols_limits){ .open_files = 8,
							       .cached_addresses = 1000,
							       .workers = 1,
							       .worker_wall_ms = 2000,
							       .deny_seconds = 0 });
	struct taken t;

	(void)state;
	add(&f, 20);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	assert_true(take(&f, &t));
	hang_up(&t);
	symbols_handle(f.symbols, now_ms());
	assert_int_equal(symbols_file(f.symbols, 20)->status, FILE_STATUS_WORKER_DIED);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	answer_well(&f);
	assert_int_equal(symbols_file(f.symbols, 20)->status, FILE_STATUS_OK);
	assert_true(known(&f, 20, 1));
	end(&f);
}

static void lie_order(struct taken *t)
{
	say_names(t, 0, 1);
}

static void lie_file_twice(struct taken *t)
{
	say_file(t);
	say_file(t);
}

static void lie_too_many(struct taken *t)
{
	say_file(t);
	say_names(t, 0, t->request.count + 1);
}

static void lie_too_few(struct taken *t)
{
	say_file(t);
	say_names(t, 0, t->request.count - 1);
	say_bare(t, WORKER_END);
}

static void lie_empty(struct taken *t)
{
	say_file(t);
	say_names(t, 0, 0);
}

static void lie_late_busy(struct taken *t)
{
	say_file(t);
	say_bare(t, WORKER_BUSY);
}

static void lie_garbage(struct taken *t)
{
	seqpacket_send(t->socket, "garbage", 7, -1);
}

static void lie_long(struct taken *t)
{
	static uint8_t packet[WORKER_PACKET_MAX + 1];

	seqpacket_send(t->socket, packet, sizeof(packet), -1);
}

static void lie_descriptor(struct taken *t)
{
	uint8_t packet[64];
	struct builder b = builder_over(packet, sizeof(packet));

	worker_bare_encode(&b, WORKER_END);
	seqpacket_send(t->socket, packet, b.len, t->file);
}

static void an_answer_that_breaks_a_rule_counts_as_a_death(void **state)
{
	static void (*const lies[])(struct taken *) = {
		lie_order,     lie_file_twice, lie_too_many, lie_too_few,   lie_empty,
		lie_late_busy, lie_garbage,    lie_long,     lie_descriptor
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct fixture f = begin();
		struct taken t;

		add(&f, 20);
		symbols_want(f.symbols, 20, 1);
		symbols_want(f.symbols, 20, 2);
		symbols_start(f.symbols);
		assert_true(take(&f, &t));
		lies[i](&t);
		symbols_handle(f.symbols, now_ms());
		assert_int_equal(symbols_counters(f.symbols)->answers_bad, 1);
		assert_int_equal(symbols_counters(f.symbols)->workers_died, 1);
		assert_true(symbols_idle(f.symbols));
		hang_up(&t);
		end(&f);
	}
}

static void a_silent_worker_is_given_up(void **state)
{
	struct fixture f = begin();
	uint64_t ms = now_ms();
	struct taken t;
	int timeout;

	(void)state;
	add(&f, 20);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	timeout = symbols_timeout(f.symbols, ms);
	assert_in_range(timeout, 1900, 2100);
	assert_true(take(&f, &t));
	symbols_handle(f.symbols, ms + 1000);
	assert_false(symbols_idle(f.symbols));
	symbols_handle(f.symbols, ms + 2500);
	assert_true(symbols_idle(f.symbols));
	assert_int_equal(symbols_counters(f.symbols)->workers_late, 1);
	assert_int_equal(symbols_timeout(f.symbols, ms), -1);
	hang_up(&t);
	end(&f);
}

static void a_busy_zygote_is_asked_again_later(void **state)
{
	struct fixture f = begin();
	struct taken t;

	(void)state;
	add(&f, 20);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	assert_true(take(&f, &t));
	say_bare(&t, WORKER_BUSY);
	hang_up(&t);
	symbols_handle(f.symbols, now_ms());
	assert_int_equal(symbols_counters(f.symbols)->workers_busy, 1);
	assert_int_equal(symbols_counters(f.symbols)->workers_died, 0);
	assert_false(symbols_idle(f.symbols));
	usleep(120000);
	symbols_start(f.symbols);
	answer_well(&f);
	assert_true(known(&f, 20, 1));
	end(&f);
}

static void without_its_zygote_it_says_that_it_is_broken(void **state)
{
	struct fixture f = begin();

	(void)state;
	close(f.zygote);
	f.zygote = -1;
	add(&f, 20);
	symbols_want(f.symbols, 20, 1);
	assert_false(symbols_broken(f.symbols));
	symbols_start(f.symbols);
	assert_true(symbols_broken(f.symbols));
	assert_true(symbols_idle(f.symbols));
	end(&f);
}

static void at_most_so_many_workers_run_at_once(void **state)
{
	struct fixture f = begin();
	struct taken t[3];

	(void)state;
	for (uint64_t id = 20; id < 25; id++) {
		add(&f, id);
		symbols_want(f.symbols, id, 1);
	}
	symbols_start(f.symbols);
	assert_true(take(&f, &t[0]));
	assert_true(take(&f, &t[1]));
	assert_false(take(&f, &t[2]));
	hang_up(&t[0]);
	symbols_handle(f.symbols, now_ms());
	assert_true(take(&f, &t[2]));
	hang_up(&t[1]);
	hang_up(&t[2]);
	end(&f);
}

static void the_least_recently_used_descriptor_goes_and_is_asked_for_again(void **state)
{
	struct fixture f =
		begin_with((struct symbols_limits){ .open_files = 3, /* the vDSO is one */
						    .cached_addresses = 1000,
						    .workers = 1,
						    .worker_wall_ms = 2000 });

	(void)state;
	add(&f, 20);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	answer_well(&f);
	add(&f, 21);
	assert_int_equal(add(&f, 22), FILE_ACCEPTED);
	assert_int_equal(symbols_counters(f.symbols)->files_evicted, 1);
	/* What is cached of it stays. */
	assert_true(known(&f, 20, 1));
	assert_int_equal(symbols_next_missing(f.symbols), 0);
	symbols_want(f.symbols, 20, 2);
	assert_true(symbols_idle(f.symbols));
	assert_int_equal(symbols_next_missing(f.symbols), 20);
	assert_int_equal(symbols_next_missing(f.symbols), 0);
	assert_int_equal(add(&f, 20), FILE_ACCEPTED);
	assert_false(symbols_idle(f.symbols));
	symbols_start(f.symbols);
	answer_well(&f);
	assert_true(known(&f, 20, 1));
	assert_true(known(&f, 20, 2));
	end(&f);
}

static void a_file_never_seen_is_missing_as_well(void **state)
{
	struct fixture f = begin();

	(void)state;
	symbols_want(f.symbols, 99, 1);
	symbols_want(f.symbols, FILE_ID_NONE, 1);
	assert_int_equal(symbols_next_missing(f.symbols), 99);
	assert_int_equal(add(&f, 99), FILE_ACCEPTED);
	symbols_start(f.symbols);
	answer_well(&f);
	assert_true(known(&f, 99, 1));
	assert_int_equal(symbols_file(f.symbols, 12345)->status, FILE_STATUS_UNKNOWN);
	end(&f);
}

static void the_cache_stays_below_its_limit(void **state)
{
	struct fixture f = begin_with((struct symbols_limits){
		.open_files = 8, .cached_addresses = 100, .workers = 1, .worker_wall_ms = 2000 });

	(void)state;
	for (uint64_t id = 20; id < 23; id++) {
		add(&f, id);
		for (uint64_t i = 0; i < 60; i++)
			symbols_want(f.symbols, id, i);
		symbols_start(f.symbols);
		answer_well(&f);
	}
	/* 60 + 60 do not fit: each new file pushes the one before it out. */
	assert_false(known(&f, 20, 0));
	assert_false(known(&f, 21, 0));
	assert_true(known(&f, 22, 59));
	/* One file alone cannot have more than there is. */
	for (uint64_t i = 0; i < 200; i++)
		symbols_want(f.symbols, 22, 1000 + i);
	assert_true(symbols_counters(f.symbols)->wants_refused > 0);
	end(&f);
}

static void a_new_collector_makes_file_ids_mean_other_files(void **state)
{
	struct fixture f = begin();
	struct taken t;

	(void)state;
	add(&f, 20);
	add(&f, 21);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	answer_well(&f);
	symbols_want(f.symbols, 21, 1);
	symbols_start(f.symbols);
	assert_true(take(&f, &t)); /* still under way */
	symbols_reset(f.symbols);
	assert_true(symbols_idle(f.symbols));
	assert_false(known(&f, 20, 1));
	hang_up(&t);
	/* An id that comes back with another identity, even without a reset, is another file. */
	assert_int_equal(add_identity(&f, 20, 500), FILE_ACCEPTED);
	symbols_want(f.symbols, 20, 1);
	symbols_start(f.symbols);
	answer_well(&f);
	assert_int_equal(add_identity(&f, 20, 501), FILE_ACCEPTED);
	assert_false(known(&f, 20, 1));
	end(&f);
}

static bool send_to_socket(void *context, const void *packet, uint32_t len)
{
	return seqpacket_send(*(int *)context, packet, len, -1) == 0;
}

/* The vDSO is copied from this very process, and its worker is played by the real code. */
static void the_vdso_is_named(void **state)
{
	struct fixture f = begin();
	struct worker_output output = { .send = send_to_socket };
	struct elf_source source;
	struct symbol s;
	struct taken t;
	bool named = false;

	(void)state;
	for (uint64_t offset = 0; offset < 8192; offset += 16)
		symbols_want(f.symbols, FILE_ID_VDSO, offset);
	symbols_start(f.symbols);
	assert_true(take(&f, &t));
	source = elf_source_from_fd(t.file, t.request.file_size);
	output.context = &t.socket;
	assert_true(worker_answer(&source, &t.request, &output));
	hang_up(&t);
	symbols_handle(f.symbols, now_ms());
	for (uint64_t offset = 0; offset < 8192; offset += 16)
		if (symbols_lookup(f.symbols, FILE_ID_VDSO, offset, &s) && s.name &&
		    strstr(s.name, "clock_gettime"))
			named = true;
	assert_true(named);
	assert_true(strlen(symbols_file(f.symbols, FILE_ID_VDSO)->build_id) >= 16);
	/* Nobody but ourselves may say what the vDSO is. */
	assert_int_equal(add(&f, FILE_ID_VDSO), FILE_REFUSED);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_addresses_are_asked_once_and_cached),
		cmocka_unit_test(more_than_one_requests_worth_is_asked_in_turn),
		cmocka_unit_test(a_worker_that_dies_denies_its_file_and_no_other),
		cmocka_unit_test(a_denial_ends),
		cmocka_unit_test(an_answer_that_breaks_a_rule_counts_as_a_death),
		cmocka_unit_test(a_silent_worker_is_given_up),
		cmocka_unit_test(a_busy_zygote_is_asked_again_later),
		cmocka_unit_test(without_its_zygote_it_says_that_it_is_broken),
		cmocka_unit_test(at_most_so_many_workers_run_at_once),
		cmocka_unit_test(the_least_recently_used_descriptor_goes_and_is_asked_for_again),
		cmocka_unit_test(a_file_never_seen_is_missing_as_well),
		cmocka_unit_test(the_cache_stays_below_its_limit),
		cmocka_unit_test(a_new_collector_makes_file_ids_mean_other_files),
		cmocka_unit_test(the_vdso_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
