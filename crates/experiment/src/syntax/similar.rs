//! Names that are similar to an unknown one.

/// Minimum Jaro-Winkler similarity of a name that is suggested instead of an unknown one.
const NEAR: f64 = 0.75;

/// Flags with names that are not those of the keys that they set.
const FLAGS: [(&str, &str); 2] = [("duration", "measure"), ("runs", "blocks")];

/// Lists the valid names after an introduction; suggests the most similar one, if it is similar enough.
pub(crate) fn one_of<'n>(
    unknown: &str,
    known: impl IntoIterator<Item = &'n str> + Clone,
    introduction: &str,
) -> String {
    let listed: Vec<&str> = known.clone().into_iter().collect();
    let all = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    let of_flag = FLAGS.iter().find(|(flag, key)| *flag == unknown && listed.contains(key));
    let meant = of_flag.map(|(_, key)| *key).or_else(|| similar(unknown, known.into_iter()));
    let meant = meant.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
    format!("{meant}{introduction} {all}")
}

/// Returns the valid name that is most similar to an unknown one, if it is similar enough.
pub fn similar<'n>(unknown: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = |name: &&str| strsim::jaro_winkler(unknown, name);
    known.max_by(|a, b| near(a).total_cmp(&near(b))).filter(|name| near(name) >= NEAR)
}
