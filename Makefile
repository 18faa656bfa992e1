# SPDX-License-Identifier: Apache-2.0
# Belfry: see README.md for the two commands that matter (run, check).

PREFIX  ?= /usr/local
DESTDIR ?=
VARIANT ?= release

CC     := gcc
CLANG  ?= clang
ARCH   := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')

B := build/$(VARIANT)
G := build/gen

HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero \
             -D_FORTIFY_SOURCE=2 -fno-strict-aliasing
ifeq ($(ARCH),x86)
HARDENING += -fcf-protection=full
endif
LDHARDENING := -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed

CFLAGS_COMMON := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
                 -Wmissing-prototypes -Wvla -D_GNU_SOURCE -I. -I$(G)

ifeq ($(VARIANT),asan)
CFLAGS  := $(CFLAGS_COMMON) -fPIE -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS := -pie -fsanitize=address,undefined
else ifeq ($(VARIANT),selftest)
# A role built with a hidden option that makes a forbidden call: for the containment tests only.
CFLAGS  := $(CFLAGS_COMMON) $(HARDENING) -DBELFRY_SELFTEST
LDFLAGS := $(LDHARDENING)
else ifeq ($(VARIANT),fuzz)
CC      := $(CLANG)
CFLAGS  := $(CFLAGS_COMMON) -O1 -fPIE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS := -pie -fsanitize=fuzzer,address,undefined
else
CFLAGS  := $(CFLAGS_COMMON) $(HARDENING)
LDFLAGS := $(LDHARDENING)
endif

# -- what each binary links with ------------------------------------------------------------
LIBS_collector  := -lbpf -lcap -lseccomp
LIBS_symbolizer := -lz -ldeflate -lcap -lseccomp -l:libiberty.a
LIBS_uploader   := -lz -lcap -lseccomp
LIBS_cli        := -lz -ldeflate -lcap -lseccomp
LIBS_all        := -lbpf -lz -ldeflate -lcap -lseccomp -l:libiberty.a -lpthread

MODULES := ipc policy collector symbolizer uploader cli
SOURCES_ipc        := $(wildcard ipc/*.c)
SOURCES_policy     := $(filter-out policy/policyc.c,$(wildcard policy/*.c))
SOURCES_collector  := $(filter-out collector/main.c,$(wildcard collector/*.c))
SOURCES_symbolizer := $(filter-out symbolizer/main.c,$(wildcard symbolizer/*.c symbolizer/*/*.c))
SOURCES_uploader   := $(filter-out uploader/main.c,$(wildcard uploader/*.c))
SOURCES_cli        := $(filter-out cli/main.c,$(wildcard cli/*.c))

ROLES     := collector symbolizer uploader
POLICIES  := $(ROLES:%=$(G)/policy_%.c)
PAGES     := $(ROLES:%=$(G)/policy_%.md) $(ROLES:%=$(G)/policy_%.conf)
ARCHIVES  := $(MODULES:%=$(B)/lib%.a)
BINARIES  := $(ROLES:%=$(B)/belfry-%) $(B)/belfry
SKELETON  := $(G)/sampler.skel.h

# Say what is done only when asked to: make V=1.
ifndef V
.SILENT:
endif

.PHONY: all clean
all: $(BINARIES) belfry $(PAGES)

# ./belfry is the product: another variant must not take its place.
belfry: $(B)/belfry
	$(if $(filter release,$(VARIANT)),@ln -sfn $< $@)

# A tree that nobody prepared: say so before the first compiler does, in its own words.
.PHONY: programs
programs:
	@for program in $(CC) $(CLANG) bpftool; do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	test -z "$$missing" || { echo "missing programs:$$missing (on Debian, \"sudo make packages\" installs what building needs)" >&2; exit 1; }

# -- BPF: one object, embedded through its skeleton -----------------------------------------
$(G)/sampler.bpf.o: bpf/sampler.bpf.c $(wildcard bpf/*.h) | programs
	@mkdir -p $(@D)
	$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -I. -c $< -o $@.tmp
	bpftool gen object $@ $@.tmp
	@rm -f $@.tmp

$(SKELETON): $(G)/sampler.bpf.o
	bpftool gen skeleton $< name sampler_bpf > $@.tmp && mv $@.tmp $@

# -- policies -> tables, unit hardening, auditor's page -------------------------------------
PARSER := policy/policyc.c policy/policy_text.c policy/policy_parser.c policy/syscall_line.c
$(G)/policyc: $(PARSER) $(wildcard policy/*.h) | programs
	@mkdir -p $(@D)
	$(if $(filter fuzz,$(VARIANT)),$(CLANG),gcc) $(CFLAGS_COMMON) $(PARSER) -o $@ -lcap -lseccomp

$(G)/policy_%.c: policy/%.policy $(G)/policyc
	$(G)/policyc --table $< > $@.tmp && mv $@.tmp $@

# A page for auditors, and the hardening lines of a unit (a drop-in: belfry-ROLE.service.d/policy.conf).
$(G)/policy_%.md: policy/%.policy $(G)/policyc
	$(G)/policyc --page $< > $@.tmp && mv $@.tmp $@

$(G)/policy_%.conf: policy/%.policy $(G)/policyc
	$(G)/policyc --unit $< > $@.tmp && mv $@.tmp $@

# -- objects, archives, binaries ------------------------------------------------------------
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/obj/gen/%.o: $(G)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

define ARCHIVE
$(B)/lib$(1).a: $$(SOURCES_$(1):%.c=$(B)/obj/%.o) $(if $(filter policy,$(1)),$$(POLICIES:$(G)/%.c=$(B)/obj/gen/%.o))
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call ARCHIVE,$(m))))

$(SOURCES_collector:%.c=$(B)/obj/%.o): | $(SKELETON)

define ROLE
$(B)/belfry-$(1): $(B)/obj/$(1)/main.o $(B)/lib$(1).a $(B)/libpolicy.a $(B)/libipc.a
	$(CC) $(CFLAGS) $(LDFLAGS) $$^ -o $$@ $(LIBS_$(1))
endef
$(foreach r,$(ROLES),$(eval $(call ROLE,$(r))))

$(B)/belfry: $(B)/obj/cli/main.o $(B)/libcli.a $(B)/libpolicy.a $(B)/libipc.a
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS_cli)

# -- unit tests: tests/unit/test_NAME.c, one cmocka program each ----------------------------
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
.PHONY: unit-tests
unit-tests: $(UNIT_TESTS)
$(B)/tests/%: $(B)/obj/tests/unit/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $< -Wl,--start-group $(ARCHIVES) -Wl,--end-group -o $@ -lcmocka $(LIBS_all)

# -- fuzz targets: tests/fuzz/fuzz_NAME.c (VARIANT=fuzz) ------------------------------------
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
.PHONY: fuzzers
fuzzers: $(FUZZERS)
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $< -Wl,--start-group $(ARCHIVES) -Wl,--end-group -o $@ $(LIBS_all)

clean:
	rm -rf build belfry

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
.SECONDARY:

include tests.mk
