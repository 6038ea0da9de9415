//! Files in, definitions and problems out.

mod fields;
mod layers;
mod properties;
mod reports;

use super::{AgentScope, Catalog, Content, Definition, Field, Layer, SourceFile, Sources, Tools};

fn parse(text: &str) -> Definition {
    Definition::parse("Auditor", Layer::Builtin, "agents/Auditor.md", text)
}

fn front(line: &str) -> Definition {
    parse(&format!("---\n{line}\n---\nAudit.\n"))
}

fn list(names: &[&str]) -> Field<Tools> {
    Field::Set(Tools::List(owned(names)))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn file(layer: Layer, path: &str, text: &str) -> SourceFile {
    SourceFile { layer, package: None, path: path.to_owned(), content: Content::Bytes(text.as_bytes().to_vec()) }
}

fn user(name: &str, text: &str) -> SourceFile {
    file(Layer::User, &format!("/u/{name}"), text)
}

fn project(name: &str, text: &str) -> SourceFile {
    file(Layer::Project, &format!("/p/{name}"), text)
}

fn packaged(package: &str, name: &str, text: &str) -> SourceFile {
    SourceFile { package: Some(package.to_owned()), ..file(Layer::Package, &format!("/k/{package}/{name}"), text) }
}

fn trusted(files: Vec<SourceFile>) -> Sources {
    Sources { files, project_trusted: true, scope: AgentScope::Both, ..Sources::default() }
}

fn catalog(files: Vec<SourceFile>) -> Catalog {
    Catalog::build(&trusted(files))
}
