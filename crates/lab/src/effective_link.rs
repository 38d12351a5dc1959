//! Links as the kernel and the switch have them, read back.

use experiment::LinkSpec;
use serde_json::Value;

use crate::{error::LabError, layout::INTERFACE, link::TABLE, links::Links, tools::Tool};

/// Returns the rate of the send queue of a device in bit/s in the output of `tc -j qdisc show`; an error if it cannot be read.
fn send_rate(text: &str, device: &str) -> Option<Option<u64>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let queue = list.as_array()?.iter().find(|entry| entry["dev"] == device && entry["kind"] == "tbf");
    // In bytes/s.
    queue.map_or(Some(None), |queue| Some(Some(queue["options"]["rate"].as_u64()?.checked_mul(8)?)))
}

/// Returns the loss in the output of `nft -j list chain` for the chain of arriving frames, in parts of 1,000,000; `None` if it
/// cannot be read.
fn loss_ppm(text: &str) -> Option<u32> {
    let document: Value = serde_json::from_str(text).ok()?;
    let rules = document["nftables"].as_array()?.iter().filter_map(|entry| entry["rule"]["expr"].as_array());
    let Some(rule) = rules.into_iter().find(|rule| rule.iter().any(|part| part.get("goto").is_some())) else {
        return Some(0);
    };
    let drawn = rule.iter().map(|part| &part["match"]).find(|part| part["left"].get("numgen").is_some());
    // Without a draw, all are lost.
    drawn.map_or(Some(1_000_000), |drawn| {
        (drawn["left"]["numgen"]["mod"] == 1_000_000).then(|| u32::try_from(drawn["right"].as_u64()?).ok())?
    })
}

/// Returns the MTU of a device in the output of `ip -j link show`.
fn mtu(text: &str) -> Option<u32> {
    let list: Value = serde_json::from_str(text).ok()?;
    u32::try_from(list[0]["mtu"].as_u64()?).ok()
}

/// Returns whether a host and the switch have one rate: `tc` counts in bytes.
fn is_alike(at_host: Option<u64>, at_switch: Option<u64>) -> bool {
    at_host.map(|rate| rate / 8) == at_switch.map(|rate| rate / 8)
}

impl Links {
    /// Reads the links of all hosts, which have to be alike. The MTU is the smallest of the hosts.
    pub(crate) fn read(&self) -> Result<LinkSpec, LabError> {
        let action = "read the links";
        let failed =
            |message: &str| LabError::Tool { action: action.to_owned(), message: message.to_owned() };
        let timing = self.timing();
        let mut common: Option<LinkSpec> = None;
        for namespace in &self.hosts {
            let send_rate = |text: &str| send_rate(text, INTERFACE);
            let rate = Tool::Tc.read(namespace, action, &["-j", "qdisc", "show"], send_rate)?;
            if !is_alike(rate, timing.rate_bit_per_s()) {
                return Err(failed("a host and the switch have different rates"));
            }
            let loss_ppm = if self.has_loss_rules {
                let arguments = ["-j", "list", "chain", "netdev", TABLE, "ingress"];
                Tool::Nft.read(namespace, action, &arguments, loss_ppm)?
            } else {
                0
            };
            let arguments = ["-j", "link", "show", "dev", INTERFACE];
            let mtu_bytes = Tool::Ip.read(namespace, action, &arguments, mtu)?;
            let link = LinkSpec {
                rate_bit_per_s: timing.rate_bit_per_s(),
                delay_ns: timing.delay_ns(),
                loss_ppm,
                mtu_bytes,
            };
            let least = common.map_or(mtu_bytes, |common| common.mtu_bytes.min(mtu_bytes));
            match common {
                Some(common) if common != (LinkSpec { mtu_bytes: common.mtu_bytes, ..link }) => {
                    return Err(failed("the hosts have different links"));
                }
                _ => common = Some(LinkSpec { mtu_bytes: least, ..link }),
            }
        }
        common.ok_or_else(|| failed("unexpected output"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_that_of_the_programs() {
        let tc = r#"[{"kind":"noqueue","dev":"lo","root":true,"options":{}},
            {"kind":"tbf","dev":"eth0","root":true,"options":{"rate":12500000,"burst":15625,"lat":50000}}]"#;
        assert_eq!((send_rate(tc, "eth0"), send_rate(tc, "lo")), (Some(Some(100_000_000)), Some(None)));
        assert_eq!(send_rate(r#"[{"kind":"tbf","dev":"eth0","options":{}}]"#, "eth0"), None);
        assert!(is_alike(Some(8), Some(15)) && !is_alike(Some(8), Some(16)) && !is_alike(None, Some(8)));
        let rule = |parts: &str| {
            format!(
                r#"{{"nftables":[{{"metainfo":{{}}}},{{"chain":{{}}}},{{"rule":{{"expr":[{parts}]}}}}]}}"#
            )
        };
        let drawn = r#"{"match":{"op":"<","left":{"numgen":{"mode":"random","mod":1000000,"offset":0}},"right":1000}}"#;
        let lost = r#"{"goto":{"target":"lost"}}"#;
        assert_eq!(loss_ppm(&rule(&format!("{drawn},{lost}"))), Some(1_000));
        assert_eq!(loss_ppm(&rule(lost)), Some(1_000_000));
        assert_eq!(loss_ppm(r#"{"nftables":[{"chain":{}}]}"#), Some(0));
        assert_eq!(loss_ppm(&rule(&format!("{},{lost}", drawn.replace("1000000", "7")))), None);
        assert_eq!((mtu(r#"[{"ifname":"eth0","mtu":1500}]"#), mtu("[]"), mtu("")), (Some(1_500), None, None));
    }
}
