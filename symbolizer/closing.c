/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/closing.h"

#include <stddef.h>

#include "symbolizer/frame_names.h"

void closing_begin(struct closing *c, struct window *w, uint64_t now_ms)
{
	closing_run(c, now_ms, true);
	c->window = w;
	c->deadline_ms = now_ms + CLOSING_WAIT_MS;
	window_bind_late(w);
	frame_names_want(c->builder.symbols, w);
	symbols_start(c->builder.symbols);
}

void closing_run(struct closing *c, uint64_t now_ms, bool at_once)
{
	if (!c->window)
		return;
	if (!at_once && now_ms < c->deadline_ms && !symbols_idle(c->builder.symbols))
		return;
	profile_builder_run(&c->builder, c->window);
	c->last = c->window->account;
	window_free(c->window);
	c->window = NULL;
}

int closing_timeout(const struct closing *c, uint64_t now_ms)
{
	if (!c->window)
		return -1;
	return now_ms < c->deadline_ms ? (int)(c->deadline_ms - now_ms) : 0;
}
