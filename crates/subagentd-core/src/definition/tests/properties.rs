//! Whatever stands in the files, and in whatever order they come.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{AgentScope, Catalog, Content, Key, Layer, SourceFile, Sources};

fn text() -> impl Strategy<Value = Vec<u8>> {
    let key =
        prop_oneof![proptest::sample::select(Key::ALL.map(Key::word).to_vec()).prop_map(str::to_owned), "[a-z_]{1,8}",];
    let value = prop_oneof![
        Just(String::new()),
        Just("inherit".to_owned()),
        Just("[read, grep]".to_owned()),
        Just("[]".to_owned()),
        Just("true".to_owned()),
        Just("~".to_owned()),
        "[ -~]{0,12}",
        "\\PC{0,8}",
    ];
    let lines = vec((key, value), 0..6).prop_map(|pairs| {
        let lines: String = pairs.into_iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        format!("---\n{lines}---\nBody.\n").into_bytes()
    });
    prop_oneof![lines, vec(any::<u8>(), 0..200), "(---|\\PC|[\n\r\t ]){0,40}".prop_map(String::into_bytes)]
}

fn source() -> impl Strategy<Value = SourceFile> {
    let layer = proptest::sample::select(vec![Layer::Package, Layer::User, Layer::Project]);
    let name = prop_oneof![
        proptest::sample::select(vec![
            "explore.md",
            "Explore.md",
            "worker.md",
            "new.md",
            "NEW.md",
            "notes.txt",
            ".x.md"
        ])
        .prop_map(str::to_owned),
        "\\PC{0,8}\\.md",
    ];
    let content = prop_oneof![
        9 => text().prop_map(Content::Bytes),
        1 => "\\PC{0,9}".prop_map(Content::Unreadable),
    ];
    (layer, name, content).prop_map(|(layer, name, content)| SourceFile {
        layer,
        package: (layer == Layer::Package).then(|| "mine".to_owned()),
        path: format!("/{}/{name}", layer.word()),
        content,
    })
}

fn sources() -> impl Strategy<Value = Sources> {
    let packages =
        vec(proptest::sample::select(vec!["mine".to_owned(), "handoff".to_owned(), "none".to_owned()]), 0..3);
    let scope = proptest::sample::select(AgentScope::ALL.to_vec());
    (vec(source(), 0..8), packages, any::<bool>(), scope).prop_map(|(files, packages, project_trusted, scope)| {
        Sources { files, packages, project_trusted, scope, ..Sources::default() }
    })
}

proptest! {
    #[test]
    fn any_sources_give_one_catalogue_in_any_order(sources in sources(), seed in any::<u64>()) {
        let catalog = Catalog::build(&sources);
        let mut turned = sources;
        let turns = usize::try_from(seed % 8).unwrap();
        let (files, packages) = (turned.files.len(), turned.packages.len());
        turned.files.rotate_left(turns.min(files));
        turned.files.reverse();
        turned.packages.rotate_left(turns.min(packages));
        prop_assert_eq!(&Catalog::build(&turned), &catalog);
    }

    #[test]
    fn what_is_found_is_sound_and_what_is_broken_says_why(sources in sources(), asked in "\\PC{0,9}") {
        let catalog = Catalog::build(&sources);
        let names: Vec<_> = catalog.iter().map(|agent| agent.identifier.clone()).chain([asked]).collect();
        for name in names {
            match catalog.find(&name) {
                Ok(agent) => {
                    prop_assert!(!agent.broken && agent.is_enabled());
                    prop_assert!(agent.parts.iter().all(|part| part.layer != Layer::Project || sources.project_trusted));
                }
                Err(missing) => {
                    let told = missing.to_string();
                    prop_assert!(!told.is_empty());
                }
            }
        }
        for agent in catalog.iter() {
            prop_assert_eq!(agent.broken, agent.first_error().is_some());
            for problem in &agent.problems {
                prop_assert!(problem.line >= 1 && problem.column >= 1 && !problem.file.is_empty());
            }
            for (key, origin) in &agent.origins {
                prop_assert!(agent.parts.iter().any(|part| part.file == origin.file && part.keys.contains(key)));
            }
        }
    }
}
