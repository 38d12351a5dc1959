//! Imports between the files of a crate: which file uses which, and the cycles among them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{Item, UseTree, visit::Visit};

use crate::Error;

/// Crates whose folders have an order: files of a folder use those before it only.
pub const LAYERS: &[(&str, &[&str])] = &[
    ("agent", &["base", "traffic", "roles", "session"]),
    ("charts", &["model", "draw"]),
    ("ddsmark", &["cli", "work", "commands"]),
    ("experiment", &["syntax", "factors", "plan", "run_topology"]),
    ("import", &["document", "irobot", "rosbag2"]),
    ("rendezvous", &["mailbox", "envelope", "lobby", "streams"]),
    ("perftest", &["table", "settings", "output"]),
    ("results", &["schema", "values", "directory"]),
    ("runner", &["agents", "drivers", "run", "session"]),
    ("remote-hosts", &["framing", "steward", "client", "guest", "remote", "ssh", "slurm"]),
    ("host", &["values", "machine", "agents", "clocks"]),
];

/// Path of a module from the root of its crate.
type Module = Vec<String>;

/// Files of a crate, as modules, with the modules that each uses.
#[derive(Debug, Default)]
pub struct Imports {
    files: BTreeMap<Module, Parsed>,
}

/// Contents of a file that matter for imports.
#[derive(Debug, Default)]
struct Parsed {
    /// Paths that the file uses, from the root of the crate.
    paths: BTreeSet<Vec<String>>,
    /// Names imported from this crate, and the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// Names imported from other crates.
    foreign: BTreeSet<String>,
}

impl Imports {
    /// Reads the files of a crate, from its `lib.rs` or `main.rs`. Tests are left out.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let mut imports = Self::default();
        let folder = root.parent().ok_or("a file lies in a folder")?;
        imports.read_file(root, folder, &[])?;
        Ok(imports)
    }

    fn read_file(&mut self, file: &Path, folder: &Path, module: &[String]) -> Result<(), Error> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let syntax = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut reader = FileReader { module: module.to_vec(), ..FileReader::default() };
        reader.visit_file(&syntax);
        self.files.insert(module.to_vec(), reader.parsed);
        for (name, path) in reader.children {
            let child: Module = module.iter().cloned().chain([name.clone()]).collect();
            let inner = folder.join(&name);
            let candidates = match path {
                Some(path) => vec![file.with_file_name(path)],
                None => vec![folder.join(format!("{name}.rs")), inner.join("mod.rs")],
            };
            let found = candidates.into_iter().find(|path: &PathBuf| path.is_file());
            let found = found.ok_or_else(|| format!("no file of module `{}`", child.join("::")))?;
            self.read_file(&found, &inner, &child)?;
        }
        Ok(())
    }

    /// Returns the module of a path: follows names that a module re-exports.
    fn resolve(&self, path: &[String], depth: usize) -> Module {
        let mut module = Module::new();
        for (index, segment) in path.iter().enumerate() {
            let child: Module = module.iter().cloned().chain([segment.clone()]).collect();
            if self.files.contains_key(&child) {
                module = child;
                continue;
            }
            // A name of this module: its own, or one that it imports.
            if let Some(target) = self.files[&module].names.get(segment)
                && depth < 16
            {
                let whole: Vec<String> = target.iter().chain(&path[index + 1..]).cloned().collect();
                return self.resolve(&whole, depth + 1);
            }
            break;
        }
        module
    }

    /// Returns the modules that each module uses, without its parents and children.
    pub fn edges(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |(module, parsed): (&'_ Module, &Parsed)| {
            let used = parsed.paths.iter().map(|path| self.resolve(path, 0));
            used.filter(|used| !used.starts_with(module) && !module.starts_with(used)).collect()
        };
        self.files.iter().map(|(module, parsed)| (module, of((module, parsed)))).collect()
    }

    /// Returns the cycles: groups of modules that use each other, directly or through others.
    pub fn cycles(&self) -> Vec<Vec<String>> {
        let edges = self.edges();
        let reached = |from: &Module| {
            let mut seen: BTreeSet<&Module> = BTreeSet::new();
            let mut open: Vec<&Module> = edges[from].iter().collect();
            while let Some(next) = open.pop() {
                if seen.insert(next) {
                    open.extend(&edges[next]);
                }
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.keys().map(|module| (module, reached(module))).collect();
        let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, seen) in reach.iter().filter(|(module, seen)| seen.contains(*module)) {
            let group = seen.iter().filter(|other| reach[**other].contains(module));
            groups.insert(group.map(|module| module.join("::")).collect());
        }
        groups.into_iter().collect()
    }

    /// Returns the imports of names that the root only re-exports: a file imports by module path, which says where a name
    /// is defined.
    pub fn through_root(&self) -> Vec<String> {
        let root = &self.files[&Module::new()];
        let mut found = Vec::new();
        for (module, parsed) in self.files.iter().filter(|(module, _)| !module.is_empty()) {
            let firsts: BTreeSet<&String> = parsed.paths.iter().filter_map(|path| path.first()).collect();
            // A module may have the name of a function that it defines.
            let is_module = |name: &String| self.files.contains_key(std::slice::from_ref(name));
            let is_imported = |name: &&String| {
                !is_module(name) && (root.names.contains_key(*name) || root.foreign.contains(*name))
            };
            let names = firsts.into_iter().filter(is_imported);
            found
                .extend(names.map(|name| format!("{} imports `{name}` through the root", module.join("::"))));
        }
        found
    }

    /// Returns the imports that run against the order of these folders.
    pub fn against(&self, folders: &[&str]) -> Vec<String> {
        let place =
            |module: &Module| folders.iter().position(|folder| module.first().is_some_and(|m| m == folder));
        let mut found = Vec::new();
        for (module, used) in self.edges() {
            let later = used.iter().filter(|used| place(module).is_some_and(|own| place(used) > Some(own)));
            found.extend(later.map(|used| format!("{} uses {}", module.join("::"), used.join("::"))));
        }
        found
    }
}

/// Reader of the imports of a file.
#[derive(Default)]
struct FileReader {
    module: Module,
    /// Number of modules around the item that are written in the same file.
    inline: usize,
    parsed: Parsed,
    /// Modules in files of their own, with the path if it is given.
    children: Vec<(String, Option<String>)>,
}

impl FileReader {
    /// Returns the path from the root of the crate; `None` for a path to another crate, or to a local name.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?.as_str();
        match first {
            "crate" => Some(path[1..].to_vec()),
            "self" | "super" => {
                let ups = path.iter().take_while(|segment| *segment == "super").count();
                let rest = path.iter().skip_while(|segment| *segment == "super" || *segment == "self");
                let kept = self.module.len().saturating_sub(ups.saturating_sub(self.inline));
                Some(self.module[..kept].iter().chain(rest).cloned().collect())
            }
            name if self.children.iter().any(|(child, _)| child == name) => {
                Some(self.module.iter().chain(path).cloned().collect())
            }
            _ => None,
        }
    }

    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
            UseTree::Name(name) if name.ident == "self" => {
                let own = before.last().cloned().unwrap_or_default();
                self.import(before, own);
            }
            UseTree::Name(name) => self.import(&with(&name.ident), name.ident.to_string()),
            UseTree::Rename(rename) => self.import(&with(&rename.ident), rename.rename.to_string()),
            UseTree::Glob(_) => self.import(before, "*".to_owned()),
        }
    }

    fn import(&mut self, path: &[String], name: String) {
        if let Some(path) = self.absolute(path) {
            if self.inline == 0 {
                self.parsed.names.insert(name, path.clone());
            }
            self.parsed.paths.insert(path);
        } else if self.inline == 0 {
            self.parsed.foreign.insert(name);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    };
    attributes.iter().any(is_test)
}

impl<'ast> Visit<'ast> for FileReader {
    fn visit_file(&mut self, file: &'ast syn::File) {
        // The names of modules first: an import may begin with one.
        for item in &file.items {
            if let Item::Mod(module) = item
                && module.content.is_none()
                && !is_test(&module.attrs)
            {
                let path = module.attrs.iter().find_map(|attribute| match &attribute.meta {
                    syn::Meta::NameValue(value) if value.path.is_ident("path") => match &value.value {
                        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                        _ => None,
                    },
                    _ => None,
                });
                self.children.push((module.ident.to_string(), path));
            }
        }
        syn::visit::visit_file(self, file);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() && !is_test(&module.attrs) {
            self.inline += 1;
            syn::visit::visit_item_mod(self, module);
            self.inline -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(segments[0].as_str(), "crate" | "super")
            && let Some(path) = self.absolute(&segments)
        {
            self.parsed.paths.insert(path);
        }
        syn::visit::visit_path(self, path);
    }
}

/// Returns descriptions of the cycles of imports, of imports against the order of folders, and of imports through the root,
/// of all crates in a folder.
/// A cycle makes it impossible to understand, or to test, one file before the others.
pub fn violations(crates: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut names: Vec<PathBuf> =
        fs::read_dir(crates)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    names.sort();
    for folder in names {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let roots = ["lib.rs", "main.rs"].map(|root| folder.join("src").join(root));
        let mut cycles = Vec::new();
        for root in roots.iter().filter(|root| root.is_file()) {
            let imports = Imports::read(root)?;
            cycles.extend(imports.cycles());
            let order =
                LAYERS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, folders)| *folders);
            let imports = imports.against(order).into_iter().chain(imports.through_root());
            found.extend(imports.map(|words| format!("`{name}`: {words}")));
        }
        found.extend(cycles.iter().map(|cycle| format!("`{name}`: {} use each other", cycle.join(", "))));
    }
    Ok(found)
}
