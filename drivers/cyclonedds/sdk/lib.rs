// SPDX-License-Identifier: Apache-2.0
// Empty on purpose: see Cargo.toml.
