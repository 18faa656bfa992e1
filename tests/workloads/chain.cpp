// SPDX-License-Identifier: Apache-2.0
// chain-cpp SECONDS: namespaces, a template, a method, a lambda: their names must come out demangled.
#include <cstdlib>

#include "burn.h"

namespace tower
{
volatile uint64_t sink;
double deadline;

template <typename Number, int Size> struct Bell {
	Number strike(Number x) const __attribute__((noinline));
};

template <typename Number, int Size> Number Bell<Number, Size>::strike(Number x) const
{
	while (seconds_now() < deadline)
		x = burn_step(x);
	sink = x;
	return x + Size;
}

namespace rope
{
__attribute__((noinline)) uint64_t pull(uint64_t x)
{
	Bell<uint64_t, 3> bell;

	x = bell.strike(x);
	sink = x;
	return x + 1;
}
} // namespace rope

__attribute__((noinline)) uint64_t ring(uint64_t x)
{
	x = rope::pull(x);
	sink = x;
	return x + 1;
}
} // namespace tower

int main(int argc, char **argv)
{
	tower::deadline = seconds_now() + (argc > 1 ? atof(argv[1]) : 3.0);
	tower::sink = tower::ring(7);
	return 0;
}
