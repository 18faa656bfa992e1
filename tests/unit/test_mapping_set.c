/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cmocka_all.h"
#include "collector/mapping_set.h"
#include "ipc/sample_channel.h"

struct fixture {
	struct mapped_names *names;
	struct mapping_set *set;
	uint64_t serial;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.serial = 0;
	f.set = mapping_set_new();
	*state = &f;
	return mapped_names_new(&f.names, 1 << 20, 1000);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	mapping_set_release(f->set, f->names);
	/* Every use was given back. */
	assert_true(mapped_names_have_room(f->names, 1000));
	mapped_names_free(f->names);
	return 0;
}

/* Adds [start, end) of inode `inode`, offset 0, to the set. */
static enum mapping_added add(struct fixture *f, uint64_t start, uint64_t end, uint64_t inode)
{
	struct mapped_file file = { .device_major = 8, .inode = inode };
	struct mapping m = { .start = start,
			     .end = end,
			     .serial = ++f->serial,
			     .name = mapped_names_take(f->names, &file, 100 + inode,
						       (const uint8_t *)"/x", 2) };

	return mapping_set_add(&f->set, &m, 10, f->names);
}

static void expect(const struct mapping_set *s, uint32_t i, uint64_t start, uint64_t end,
		   uint64_t offset, uint64_t inode)
{
	assert_true(i < s->count);
	assert_int_equal(s->at[i].start, start);
	assert_int_equal(s->at[i].end, end);
	assert_int_equal(s->at[i].offset, offset);
	assert_int_equal(s->at[i].name->file.inode, inode);
}

static void stays_sorted_whatever_the_order(void **state)
{
	struct fixture *f = *state;

	add(f, 0x5000, 0x6000, 5);
	add(f, 0x1000, 0x2000, 1);
	add(f, 0x3000, 0x4000, 3);
	assert_int_equal(f->set->count, 3);
	expect(f->set, 0, 0x1000, 0x2000, 0, 1);
	expect(f->set, 1, 0x3000, 0x4000, 0, 3);
	expect(f->set, 2, 0x5000, 0x6000, 0, 5);
}

static void newer_splits_an_older_one_around_it(void **state)
{
	struct fixture *f = *state;

	add(f, 0x1000, 0x9000, 1);
	add(f, 0x3000, 0x4000, 2);
	assert_int_equal(f->set->count, 3);
	expect(f->set, 0, 0x1000, 0x3000, 0, 1);
	expect(f->set, 1, 0x3000, 0x4000, 0, 2);
	expect(f->set, 2, 0x4000, 0x9000, 0x3000, 1); /* 0x4000 - 0x1000 into the file */
}

static void newer_replaces_all_that_it_overlaps(void **state)
{
	struct fixture *f = *state;

	add(f, 0x1000, 0x3000, 1);
	add(f, 0x3000, 0x4000, 2);
	add(f, 0x4000, 0x6000, 3);
	add(f, 0x7000, 0x8000, 4);
	add(f, 0x2000, 0x5000, 9);
	assert_int_equal(f->set->count, 4);
	expect(f->set, 0, 0x1000, 0x2000, 0, 1);
	expect(f->set, 1, 0x2000, 0x5000, 0, 9);
	expect(f->set, 2, 0x5000, 0x6000, 0x1000, 3);
	expect(f->set, 3, 0x7000, 0x8000, 0, 4);
	add(f, 0, 0x10000, 7);
	assert_int_equal(f->set->count, 1);
	expect(f->set, 0, 0, 0x10000, 0, 7);
}

static void the_same_again_changes_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, 0x1000, 0x2000, 1), MAPPING_ADDED);
	assert_int_equal(add(f, 0x1000, 0x2000, 1), MAPPING_KNOWN);
	assert_int_equal(f->set->newest, 1);
	assert_int_equal(add(f, 0x1000, 0x2000, 2), MAPPING_ADDED);
	assert_int_equal(f->set->count, 1);
	assert_int_equal(f->set->newest, 3);
}

static void a_full_set_refuses(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(add(f, i * 0x1000, i * 0x1000 + 0x800, 1), MAPPING_ADDED);
	assert_int_equal(add(f, 0x100000, 0x101000, 1), MAPPING_NO_ROOM);
	assert_int_equal(f->set->count, 10);
}

static void a_shared_set_is_copied_before_it_changes(void **state)
{
	struct fixture *f = *state;
	struct mapping_set *child;

	add(f, 0x1000, 0x2000, 1);
	child = mapping_set_share(f->set);
	assert_ptr_equal(child, f->set);
	add(f, 0x3000, 0x4000, 2);
	assert_ptr_not_equal(child, f->set);
	assert_int_equal(child->count, 1);
	assert_int_equal(f->set->count, 2);
	assert_true(mapping_set_is_within(child, f->set));
	assert_false(mapping_set_is_within(f->set, child));
	mapping_set_release(child, f->names);
}

static void what_was_told_keeps_its_serial(void **state)
{
	struct fixture *f = *state;
	struct mapping_set *old;

	add(f, 0x1000, 0x2000, 1); /* serial 1 */
	old = f->set;
	f->set = mapping_set_new();
	add(f, 0x1000, 0x2000, 1); /* serial 2, the same */
	add(f, 0x3000, 0x4000, 3); /* serial 3 */
	mapping_set_keep_told(f->set, old);
	assert_int_equal(f->set->at[0].serial, 1);
	assert_int_equal(f->set->at[1].serial, 3);
	assert_int_equal(f->set->newest, 3);
	mapping_set_release(old, f->names);
}

static void names_are_kept_once_and_cut_when_there_is_no_room(void **state)
{
	struct mapped_file file = { .inode = 1 };
	struct mapped_file none = { 0 };
	struct mapped_name *a, *b, *c;
	struct mapped_names *n;

	(void)state;
	assert_int_equal(mapped_names_new(&n, sizeof(struct mapped_name) + 10, 3), 0);
	a = mapped_names_take(n, &file, 16, (const uint8_t *)"/tmp/file", 9);
	b = mapped_names_take(n, &file, 16, (const uint8_t *)"/tmp/file", 9);
	assert_ptr_equal(a, b);
	c = mapped_names_take(n, &none, 0, (const uint8_t *)"[vdso]", 6);
	assert_int_equal(c->path_len, 0); /* the bytes are used up */
	assert_int_equal(c->kind, MAPPING_VDSO);
	assert_int_equal(c->file_id, 1);
	assert_null(mapped_names_take(n, &none, 0, (const uint8_t *)"", 0)); /* a fourth user */
	mapped_names_release(n, a);
	mapped_names_release(n, b);
	mapped_names_release(n, c);
	mapped_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_sorted_whatever_the_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(newer_splits_an_older_one_around_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(newer_replaces_all_that_it_overlaps, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_same_again_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_set_refuses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_shared_set_is_copied_before_it_changes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_told_keeps_its_serial, set_up, tear_down),
		cmocka_unit_test(names_are_kept_once_and_cut_when_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
