#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# smoke.sh [SUITE]...: boots cloud kernels of Debian suites (default: the floor and the newest) under qemu and records there with
# the real binaries and their real libraries. Each machine's verdicts are RESULT lines on its console. Last line:
# `N passed, N failed`. Always TCG: a KVM that opens is not one that boots these kernels.
set -u
cd "$(dirname "$0")/../.."
build=${BELFRY_BUILD:-build/release}
cache=build/vm
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- bullseye sid

root=$work/root
mkdir -p "$root/bin" "$root/belfry" "$root/workloads" "$root/etc" "$root/proc" "$root/sys" "$root/dev" "$root/lib64"
for program in belfry belfry-collector belfry-symbolizer belfry-uploader; do
	cp "$build/$program" "$root/belfry/"
done
cp build/workloads/chain build/workloads/threads "$root/workloads/"
# Every library a binary maps, where its loader looks for it.
for program in "$root"/belfry/* "$root"/workloads/*; do
	ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t*\(\/[^ ]*ld-[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do
	mkdir -p "$root$(dirname "$library")"
	cp -L "$library" "$root$library"
done
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in sh mount mkdir chmod cat grep awk sed sleep kill dmesg poweroff uname ip ls ln; do
	ln -s busybox "$root/bin/$applet"
done
printf 'root:x:0:0:root:/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
cp tests/vm/init "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet) >"$work/initramfs"

for suite; do
	if ! version=$(tests/vm/kernels.sh "$suite" "$cache"); then
		echo "FAIL $suite: its kernel cannot be fetched"
		failed=$((failed + 1))
		continue
	fi
	console=$cache/$suite/console
	rm -f "$console"
	# -cx16: the emulator's cmpxchg16b corrupts some kernels' slab. A paranoid of 3 is what Debian's kernels begin with.
	timeout 300 qemu-system-x86_64 -nodefaults -no-reboot -display none -monitor none -M q35 -accel tcg,thread=multi \
		-cpu max,-cx16 -smp 2 -m 768 -kernel "$cache/$suite/vmlinuz" -initrd "$work/initramfs" \
		-append "console=ttyS0 panic=-1 quiet" -serial "file:$console" >"$work/qemu" 2>&1
	for name in paranoid-3 record chain account audit hotplug cpu-that-came-back kernel-log; do
		if grep -q "RESULT $name pass" "$console" 2>/dev/null; then
			passed=$((passed + 1))
		else
			echo "FAIL $suite $version: $name"
			failed=$((failed + 1))
		fi
	done
	if ! grep -q 'RESULT end reached' "$console" 2>/dev/null; then
		echo "$suite $version did not reach its end:"
		cat "$work/qemu"
		tail -20 "$console" 2>/dev/null
	fi
	echo "$suite $version: $(grep -c 'RESULT .* pass' "$console" 2>/dev/null) passed, console in $console"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
