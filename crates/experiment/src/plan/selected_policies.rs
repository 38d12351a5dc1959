//! QoS policies of the profiles and bases that an experiment selects.

use std::collections::BTreeMap;

use crate::{
    factors::{DEFAULT_PROFILE, endpoint_qos::End, policies::Policies, profiles::qos_profile},
    plan::{experiment_file::ExperimentFile, room::lack_of_room},
    syntax::{input_file::InputFile, one_or_many::Located, spanned_error::SpannedError},
};

/// Policies of one kind of endpoint.
pub(crate) struct SelectedPolicies {
    /// Kind of endpoint.
    pub end: End,
    /// Policies.
    pub policies: Policies,
    /// Names of their profile and base in brackets, as the end of a message; empty without either.
    pub origin: String,
}

impl ExperimentFile {
    /// Returns the policies of writers and of readers: of `[qos]` and each base over it, of each profile over each of these, and of each
    /// flow over each of all these. Of a combination of a base with a profile that contradict each other, both are left out: the
    /// planner rejects it, unless it is excluded. Profiles and bases that the experiment does not select do not count.
    pub(crate) fn all_policies(&self) -> impl Iterator<Item = SelectedPolicies> {
        let profiles = self.selected("profile", &self.profiles);
        let of_profile = |name: &str, base: &str| format!(" (profile `{name}`{base})");
        let mut bases: Vec<(Policies, String)> =
            profiles.iter().map(|(name, profile)| (profile.over(&self.qos), of_profile(name, ""))).collect();
        bases.push((self.qos.clone(), String::new()));
        for (base_name, base) in self.selected("base", &self.bases) {
            let base = base.over(&self.qos);
            let over = profiles.iter().map(|(name, profile)| {
                (profile.over(&base), of_profile(name, &format!(" over base `{base_name}`")))
            });
            bases.extend(over.filter(|(policies, _)| policies.contradiction().is_none()));
            bases.push((base, format!(" (base `{base_name}`)")));
        }
        // Flows without policies of their own have those of the bases.
        let of_flows =
            self.flows.iter().map(|flow| &flow.get().qos).filter(|own| **own != Policies::default());
        let over = |own: &Policies| {
            let over = bases.iter().map(|(base, origin)| (own.over(base), origin.clone()));
            over.collect::<Vec<_>>()
        };
        let over: Vec<(Policies, String)> = of_flows.flat_map(over).collect();
        bases.into_iter().chain(over).flat_map(|(policies, origin)| {
            End::BOTH.map(|end| SelectedPolicies {
                end,
                policies: policies.of_end(end),
                origin: origin.clone(),
            })
        })
    }

    /// Returns the policies of the names that a factor selects.
    fn selected<'p>(
        &self,
        key: &str,
        defined: &'p BTreeMap<Located<String>, Policies>,
    ) -> Vec<(&'p str, &'p Policies)> {
        let names: Vec<Located<String>> = self.values_of::<String>(key).collect();
        let selected = defined.iter().filter(|(name, _)| names.contains(name));
        selected.map(|(name, policies)| (name.get().as_str(), policies)).collect()
    }

    /// Rejects policies that are requested of an endpoint that does not have them.
    pub(crate) fn check_ends(&self) -> Result<(), SpannedError> {
        let of_flows = self.flows.iter().map(|flow| &flow.get().qos);
        self.profiles
            .values()
            .chain(self.bases.values())
            .chain([&self.qos])
            .chain(of_flows)
            .try_for_each(Policies::check_ends)
    }

    /// Returns the experiment with the profiles that its factor `profile` names beyond `[profiles]`: presets, and
    /// profiles of files; and notes about them. If it names none, it has all profiles of `[profiles]`, except those that have no room
    /// for its instances.
    pub(crate) fn with_profiles(
        &self,
        files: &BTreeMap<String, InputFile>,
    ) -> Result<(Self, Vec<String>), SpannedError> {
        let (mut resolved, mut notes) = (self.clone(), Vec::new());
        if self.factors.values.get("profile").is_none() && !self.profiles.is_empty() {
            let mut names = vec![DEFAULT_PROFILE.to_owned()];
            for (name, profile) in &self.profiles {
                let name = name.get();
                match lack_of_room(self, profile) {
                    _ if name == DEFAULT_PROFILE => {}
                    Some(why) => notes.push(format!("the profile `{name}` is left out: {why}")),
                    None => names.push(name.clone()),
                }
            }
            resolved.factors.values.give("profile", names);
        }
        for name in self.values_of::<String>("profile") {
            if resolved.profiles.contains_key(&name) {
                continue;
            }
            let found =
                qos_profile(name.get(), files, &name.span()).map_err(|error| error.at(name.span()))?;
            if let Some(profile) = found {
                notes.extend(profile.note);
                resolved.profiles.insert(name, profile.policies);
            }
        }
        Ok((resolved, notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_as_many_as_flows_times_profiles() {
        let flows: Vec<String> = (0..100)
            .map(|flow| {
                let qos = if flow % 2 == 0 { ", qos = { reliability = \"best_effort\" }" } else { "" };
                format!("{{ name = \"f{flow}\", size = 64, rate = \"50/s\"{qos} }}")
            })
            .collect();
        let text = format!(
            "question = \"?\"\nworkload = \"paced\"\nflows = [{}]\n[profiles.a]\nhistory = \"keep_all\"\n[bases.b]\nhistory = \
             \"keep_all\"\n",
            flows.join(", ")
        );
        let file: ExperimentFile = toml::from_str(&text).expect("an experiment");
        let (file, _) = file.with_profiles(&BTreeMap::new()).expect("profiles");
        // `[qos]` and the profile, alone and below each of the 50 flows with policies of their own, for writers and readers; no base
        assert_eq!(file.all_policies().count(), 2 * (2 + 50 * 2));
    }
}
