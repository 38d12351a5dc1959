# SPDX-License-Identifier: Apache-2.0
# The verbs. What they do is in scripts/; each sets up what it needs, and only what is not there yet.

# Those who set CARGO_TARGET_DIR are heard everywhere.
TARGET := $(or $(CARGO_TARGET_DIR),target)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all lint format bench fuzz kills generate drivers release setup clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

demo: release drivers ## latency and throughput of a bare UDP socket and of Cyclone DDS, on this host
	@printf '\nLatency and throughput over the loopback interface: first a bare UDP socket, then Cyclone DDS.\n\n'
	$(TARGET)/release/ddsmark characterize --driver udp --driver cyclonedds

test: setup drivers ## the tests, then `make lint`
	@scripts/test.sh
	@scripts/lint.sh

test-all: setup drivers ## `make test`, and what takes long: several versions, fuzzing, kills, calibration
	@scripts/test.sh all
	@scripts/lint.sh
	@$(MAKE) --no-print-directory kills
	cargo test --release -p agent --test page_faults --test allocations --test paced_writer_allocations
	cargo bench -p stats --bench calibration
	cargo bench -p simulate --bench calibration -- claims

lint: setup ## formatting, clippy, rustdoc, licences, generated files
	@scripts/lint.sh

format: setup ## format Rust and C
	@scripts/lint.sh fix

bench: release drivers ## what ddsmark costs a sample and adds to a bare loop; how often its claims are wrong; kills
	@scripts/setup.sh bench
	@scripts/bench.sh

fuzz: ## give what reads bytes that others wrote bytes that nobody would write: 20 s each
	@scripts/setup.sh
	@scripts/fuzz.sh

kills: release drivers ## kill agents 200 times at random, and count what that costs beyond their runs
	cargo build --release --package xtask
	cargo xtask kills --driver udp,cyclonedds --runs 200

generate: ## write the references, man pages, completions and the schema anew
	cargo xtask generate

drivers: ## build all drivers and their middleware into target/drivers
	@scripts/setup.sh
	@scripts/drivers.sh

release: ## build ddsmark and its agent, optimised
	@scripts/setup.sh
	cargo build --release --package ddsmark --package agent

setup: ## system packages and pinned tools
	@scripts/setup.sh tools

clean: ## remove what was built; what was fetched stays in .sdk
	rm -rf $(TARGET)
