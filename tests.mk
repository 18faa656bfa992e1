# SPDX-License-Identifier: Apache-2.0
# Targets that run, judge and measure what the Makefile builds. tests/README.md says what each is for.

FUZZ_SECONDS ?= 60
WORKLOADS    := build/workloads
PROFILES     := build/profiles

.PHONY: run check check-asan check-judges check-tables check-vm prove bench fuzz deps lint format install \
        packages packages-check workloads selftest

packages:
	@tools/install-packages.sh build

packages-check:
	@tools/install-packages.sh check

workloads:
	@$(MAKE) --no-print-directory -C tests/workloads W=$(abspath $(WORKLOADS))

# The roles with a hidden option that makes a forbidden call: what the containment tests run.
selftest:
	@$(MAKE) --no-print-directory -s VARIANT=selftest all

# Packages first: the other targets must not start before the compilers are there.
run: packages
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory -C tests/workloads W=$(abspath $(WORKLOADS)) $(abspath $(WORKLOADS))/demo
	@$(WORKLOADS)/demo 12 & pid=$$!; \
	$(B)/belfry record -a -F 99 -d 10 -o belfry-run.pb.gz; rc=$$?; \
	kill $$pid 2>/dev/null; wait $$pid 2>/dev/null; exit $$rc

check: packages-check
	@$(MAKE) --no-print-directory -s all workloads unit-tests
	@$(MAKE) --no-print-directory selftest
	@$(MAKE) --no-print-directory deps
	@tests/run.sh release

check-asan: packages-check
	@$(MAKE) --no-print-directory workloads
	@$(MAKE) --no-print-directory -s VARIANT=asan all unit-tests
	@tests/run.sh asan

check-judges:
	@tests/judges/run.sh $(PROFILES)
	@$(MAKE) --no-print-directory all
	@tests/judges/unwind/tables.sh

# Every ELF file of this machine, row by row against elfutils: some minutes.
check-tables: all
	@tests/judges/unwind/tables.sh --all

check-vm: packages-check
	@$(MAKE) --no-print-directory all workloads
	@tests/vm/smoke.sh

prove: packages-check
	@tests/prove/run.sh

fuzz: packages-check
	@$(MAKE) --no-print-directory -s VARIANT=fuzz G=build/gen-fuzz fuzzers
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh

bench: packages-check
	@$(MAKE) --no-print-directory all workloads
	@tests/bench/bench.sh

deps:
	@/usr/bin/python3 tools/deps.py

lint: $(SKELETON) $(POLICIES)
	@tools/lint.sh

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/belfry
	install -m 0755 $(B)/belfry $(DESTDIR)$(PREFIX)/bin/belfry
	install -m 0755 $(ROLES:%=$(B)/belfry-%) $(DESTDIR)$(PREFIX)/libexec/belfry/
