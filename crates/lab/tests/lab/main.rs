//! Labs with real namespaces, links and traffic. Needs root, iproute2, nftables and ethtool.

mod delays;
mod hosts;
mod links;
mod owners;
mod support;
