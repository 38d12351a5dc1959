//! Links as the kernel and the switch have them, read back.

use experiment::LinkSpec;
use serde_json::Value;

use crate::{
    error::LabError,
    layout::{INTERFACE, port},
    link::TABLE,
    links::Links,
    namespace::Namespace,
    tools::Tool,
};

/// Rate and delay of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Queues {
    rate_bit_per_s: Option<u64>,
    delay_ns: u64,
}

/// Returns rate and delay of a device in the output of `tc -j qdisc show`; `None` if it cannot be read.
fn queues(text: &str, device: &str) -> Option<Queues> {
    let list: Value = serde_json::from_str(text).ok()?;
    let mut queues = Queues::default();
    for entry in list.as_array()?.iter().filter(|entry| entry["dev"] == device) {
        let options = &entry["options"];
        match entry["kind"].as_str()? {
            // In bytes/s.
            "tbf" => queues.rate_bit_per_s = Some(options["rate"].as_u64()?.checked_mul(8)?),
            "netem" => queues.delay_ns = (options["delay"]["delay"].as_f64()? * 1e9).round() as u64,
            _ => {}
        }
    }
    Some(queues)
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

impl Links {
    /// Reads the links of all hosts, which have to be alike. The MTU is the smallest of the hosts.
    pub(crate) fn read(&self) -> Result<LinkSpec, LabError> {
        let action = "read the links";
        let failed =
            |message: &str| LabError::Tool { action: action.to_owned(), message: message.to_owned() };
        let unreadable = || failed("unexpected output");
        let tc = |namespace: &Namespace| Tool::Tc.run(Some(namespace), action, &["-j", "qdisc", "show"], "");
        let at_ports = tc(self.middle())?;
        let mut common: Option<LinkSpec> = None;
        for (index, namespace) in self.hosts().iter().enumerate() {
            let at_host = queues(&tc(namespace)?, INTERFACE).ok_or_else(unreadable)?;
            let at_port = queues(&at_ports, &port(index)).ok_or_else(unreadable)?;
            if at_host.rate_bit_per_s != at_port.rate_bit_per_s {
                return Err(failed("the two directions of a link have different rates"));
            }
            let loss_ppm = if self.has_loss_rules() {
                let arguments = ["-j", "list", "chain", "netdev", TABLE, "ingress"];
                loss_ppm(&Tool::Nft.run(Some(namespace), action, &arguments, "")?).ok_or_else(unreadable)?
            } else {
                0
            };
            let text =
                Tool::Ip.run(Some(namespace), action, &["-j", "link", "show", "dev", INTERFACE], "")?;
            let mtu_bytes = mtu(&text).ok_or_else(unreadable)?;
            let link = LinkSpec {
                rate_bit_per_s: at_host.rate_bit_per_s,
                delay_ns: at_port.delay_ns + self.switch_delay_ns(),
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
        common.ok_or_else(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_that_of_the_programs() {
        let tc = r#"[{"kind":"noqueue","dev":"lo","root":true,"options":{}},
            {"kind":"netem","handle":"1:","dev":"p1","root":true,"options":{"limit":10000,"delay":{"delay":0.0015,"jitter":0}}},
            {"kind":"tbf","dev":"p1","parent":"1:1","options":{"rate":12500000,"burst":15625,"lat":50000}}]"#;
        let expected = Queues { rate_bit_per_s: Some(100_000_000), delay_ns: 1_500_000 };
        assert_eq!((queues(tc, "p1"), queues(tc, "p2")), (Some(expected), Some(Queues::default())));
        assert_eq!(queues(r#"[{"kind":"tbf","dev":"p1","options":{}}]"#, "p1"), None);
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
