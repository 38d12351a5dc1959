# SPDX-License-Identifier: Apache-2.0
# Targets. scripts/ contains what they do. Each installs the tools that it needs, once.

# Every target respects CARGO_TARGET_DIR.
TARGET := $(or $(CARGO_TARGET_DIR),target)

# What an installation contains.
PROGRAMS := --package ddsmark --package agent

# Where `make install` installs.
PREFIX ?= $(HOME)/.local

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all lint format bench fuzz kills generate docs drivers release install dist setup clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

demo: ## measure a bare UDP socket and Cyclone DDS on this host
	@scripts/setup.sh
	@scripts/build.sh udp cyclonedds -- --release $(PROGRAMS)
	@printf '\nLatency and throughput over the loopback interface, of a bare UDP socket and of Cyclone DDS: about a minute.\n\n'
	$(TARGET)/release/ddsmark characterize --driver udp,cyclonedds --size 64,1024,16384 --duration 400ms

test: setup ## run the tests and `make lint`
	@scripts/test.sh

test-all: setup ## run `make test` and the long tests: several versions, fuzzing, packages, the book, kills, calibration
	@scripts/test_all.sh

lint: setup ## check formatting, wording, clippy, rustdoc, licences and generated files
	@scripts/lint.sh

format: setup ## format Rust and C
	@scripts/lint.sh fix

bench: release ## measure the overhead of ddsmark and the rate of false claims; run `make kills`
	@scripts/setup.sh bench
	@scripts/drivers.sh --tests
	@scripts/bench.sh

fuzz: ## run each fuzz target for 20 s
	@scripts/setup.sh
	@scripts/fuzz.sh

kills: release drivers ## kill agents 200 times at random, and count the damage beyond their runs
	cargo build --release --package validation
	cargo validation kills --driver udp,cyclonedds --runs 200

generate: ## rewrite the references, the schemas and the crate table
	RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/scripts/rustc.sh cargo xtask generate

docs: setup ## build the documentation as a book, in target/book
	@scripts/docs.sh

drivers: ## build all drivers and their middleware into target/drivers, without their tests
	@scripts/setup.sh
	@scripts/drivers.sh

release: ## build ddsmark and its agent, optimized, and its man pages and completions
	@scripts/setup.sh
	cargo build --release $(PROGRAMS)
	$(TARGET)/release/ddsmark generate share $(TARGET)/share

install: ## install the programs, drivers, man pages and completions below PREFIX, by default ~/.local
	@scripts/setup.sh
	@scripts/build.sh -- --release $(PROGRAMS)
	@scripts/stage.sh $(TARGET)/release $(DESTDIR)$(PREFIX)

dist: ## pack an installation into target/dist, as a .tar.gz, a .deb and a .whl
	@scripts/setup.sh
	@scripts/build.sh -- --profile dist --target-dir $(TARGET)/lto $(PROGRAMS) --features ddsmark/png
	@scripts/dist.sh

setup: ## install the system packages and the pinned tools
	@scripts/setup.sh tools

clean: ## remove the build directory; downloads stay in .sdk
	rm -rf $(TARGET)
