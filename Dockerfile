# SPDX-License-Identifier: Apache-2.0
#
# ddsmark in a container: the builder stage packs it with `make dist`, the last stage installs the Debian package.
# Not tested as an image: the commands of its RUN lines are tried by `make dist` and scripts/test_dist.sh, without Docker.
#
#   docker build -t ddsmark .
#   docker run --rm -v "$PWD:/results" ddsmark latency -d udp -s 64 --quick
#   docker build --target package --output . .     only the packages
FROM rust:1-bookworm AS builder
# What scripts/setup.sh would install.
RUN apt-get update \
    && apt-get install -y --no-install-recommends cmake g++ gcc libc6-dev python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /ddsmark
COPY . .
RUN make dist

FROM scratch AS package
COPY --from=builder /ddsmark/target/dist/ /

FROM debian:bookworm-slim
RUN --mount=from=builder,source=/ddsmark/target/dist,target=/dist dpkg -i /dist/ddsmark_*.deb
WORKDIR /results
ENTRYPOINT ["ddsmark"]
