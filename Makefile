# The commands of this repository. `make` alone lists them.
# Everything here is a few lines over CMake presets and scripts/; nothing is built in the source
# folders. Options: JOBS (parallel jobs), PREFIX and DESTDIR (install), BOOTSTRAP=true (install no
# packages), FUZZ_SECONDS (per fuzzer), SEED.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
BOOTSTRAP ?= scripts/bootstrap
FUZZ_SECONDS ?= 30
REPORTS := build/reports

.PHONY: help bootstrap build demo test test-slow soak bench fuzz coverage format tidy install package \
  clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | \
	  awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

bootstrap: ## install the packages that build and tests need
	$(BOOTSTRAP) --tests

build: ## build the release binary: build/layard
	$(BOOTSTRAP) --build
	scripts/build app

demo: build ## build, then answer three questions about a real message
	@scripts/demo

test: ## everything a change must pass, from nothing: at most 30 minutes on two cores
	$(BOOTSTRAP) --tests
	scripts/check fast

test-slow: ## thread sanitizer, long differential fuzz, full-size checkpoint: at most 60 minutes
	$(BOOTSTRAP) --tests
	scripts/check slow

soak: ## the runs of ten minutes and more
	$(BOOTSTRAP) --tests
	scripts/check soak

bench: ## build and run the benchmarks
	$(BOOTSTRAP)
	scripts/build all
	scripts/bench

fuzz: ## run every fuzzer for FUZZ_SECONDS with address and undefined sanitizers
	$(BOOTSTRAP)
	scripts/fuzz $(FUZZ_SECONDS)

coverage: ## line and branch coverage of the fast tests: build/coverage/report
	$(BOOTSTRAP) --tests
	scripts/coverage

format: ## rewrite all C++ files in the house format
	$(BOOTSTRAP)
	python3 tools/tidy.py --fix Format

tidy: ## check the rules of the house that need no build
	@python3 tools/tidy.py

install: build ## install under PREFIX (default /usr/local), staged below DESTDIR if set
	cmake --build --preset release --parallel $(JOBS) --target layard >&2
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

package: ## a tar archive and a Debian package of the release build: build/package
	$(BOOTSTRAP) --package
	scripts/package

clean: ## remove what make builds; environments and training runs stay
	rm -rf build/dev build/release build/asan build/tsan build/fuzz build/coverage build/package \
	  $(REPORTS) build/layard build/share

export JOBS REPORTS
