#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench.sh: what the product costs, measured on this host in one run: program time a sample beside the yardstick,
# memory and CPU of the three roles, the encoder, and the lines of code that ever run with a capability.
set -u
cd "$(dirname "$0")/../.."
build=${BELFRY_BUILD:-build/release}
gen=${BELFRY_GEN:-build/gen}
work=build/bench
mkdir -p "$work"
[ "$(id -u)" = 0 ] || { echo "bench: needs root" >&2; exit 1; }
failed=0

clang -target bpf -mcpu=v3 -O2 -g -Wall -Werror -I. -c tests/bench/baseline.bpf.c -o "$work/baseline.bpf.o" || exit 1
gcc -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I. tests/bench/program_time.c -o "$work/program_time" -lbpf || exit 1

echo "== BPF program time a sample: sampler (identity, filters, stack, output) beside bpf_get_stack alone"
for depth in 10 45 100; do
	build/workloads/deep $depth 20 & one=$!
	build/workloads/deep $depth 20 & two=$!
	"$build/belfry" record -a -F 499 -d 10 -o "$work/time.pb.gz" >"$work/log" 2>&1 & recording=$!
	sleep 3
	"$work/program_time" "$work/baseline.bpf.o" 499 5 >"$work/times" || failed=1
	wait $recording || { cat "$work/log"; failed=1; }
	kill $one $two 2>/dev/null
	wait $one $two 2>/dev/null
	sampler=$(sed -n 's/^sampler .*ns_per_run=//p' "$work/times")
	baseline=$(sed -n 's/^baseline .*ns_per_run=//p' "$work/times")
	runs=$(sed -n 's/^sampler runs=\([0-9]*\).*/\1/p' "$work/times")
	echo "$depth ${sampler:-0} ${baseline:-0}" >>"$work/slope.new"
	awk -v d=$depth -v s="${sampler:-0}" -v b="${baseline:-0}" -v r="${runs:-0}" 'BEGIN {
		printf "  %3d frames: sampler %6d ns, bpf_get_stack %6d ns, ratio %.2f (%d runs); at 99 Hz %.3f %% of a busy CPU\n",
			d, s, b, b ? s / b : 0, r, s * 99 / 1e7 }'
done
awk '{ d[NR] = $1; s[NR] = $2; b[NR] = $3 } END {
	n = d[NR] - d[1]; if (n > 0) printf "  a frame: sampler %.1f ns, bpf_get_stack %.1f ns, ratio %.2f\n",
		(s[NR] - s[1]) / n, (b[NR] - b[1]) / n, b[NR] > b[1] ? (s[NR] - s[1]) / (b[NR] - b[1]) : 0 }' "$work/slope.new"
rm -f "$work/slope.new"

# roles_cost SECONDS: memory and CPU of the roles of the recording that runs.
roles_cost()
{
	/usr/bin/python3 tests/bench/roles_cost.py "$1" || failed=1
}
echo "== roles, idle host, 19 Hz"
"$build/belfry" record -a -F 19 -d 26 -o "$work/idle.pb.gz" >"$work/log" 2>&1 & recording=$!
sleep 13
roles_cost 10
wait $recording || { cat "$work/log"; failed=1; }
echo "== roles, both CPUs busy, 19 Hz"
build/workloads/threads 40 & load=$!
"$build/belfry" record -a -F 19 -d 26 -o "$work/busy.pb.gz" >"$work/log" 2>&1 & recording=$!
sleep 13
roles_cost 10
wait $recording || { cat "$work/log"; failed=1; }
kill $load 2>/dev/null
wait $load 2>/dev/null

echo "== pprof encoder (aim: 120 ms, 16384 KiB above its input)"
if gcc -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I. tests/bench/pprof_speed.c -o "$work/pprof_speed" \
	-Wl,--start-group "$build/libsymbolizer.a" "$build/libpolicy.a" "$build/libipc.a" -Wl,--end-group \
	-lz -ldeflate -lcap -lseccomp -l:libiberty.a -lpthread; then
	for _ in 1 2 3; do
		"$work/pprof_speed" || failed=1
	done
else
	failed=1
fi

echo "== lines of code that ever run with a capability (aim: 4000)"
/usr/bin/python3 tests/bench/privileged_lines.py "$build" "$gen" || failed=1
exit $failed
