//! What a single line of a file is: a definition, a comment, an import.

/// Words that may stand before the word that defines something.
const MODIFIERS: [&str; 27] = [
    "pub",
    "export",
    "default",
    "async",
    "unsafe",
    "static",
    "extern",
    "public",
    "private",
    "protected",
    "internal",
    "final",
    "abstract",
    "override",
    "inline",
    "virtual",
    "declare",
    "readonly",
    "sealed",
    "partial",
    "open",
    "data",
    "suspend",
    "local",
    "constexpr",
    "typedef",
    "create",
];

/// Words that define what is named after them.
const DEFINERS: [&str; 28] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "type",
    "const",
    "union",
    "macro_rules!",
    "def",
    "class",
    "function",
    "func",
    "fun",
    "interface",
    "module",
    "namespace",
    "record",
    "object",
    "protocol",
    "procedure",
    "defmodule",
    "defp",
    "extension",
    "table",
    "let-env",
    "sub",
];

/// Words that begin a statement which looks like a definition in C-like languages.
const STATEMENTS: [&str; 12] =
    ["if", "for", "while", "switch", "match", "else", "return", "catch", "loop", "do", "with", "} else"];

/// Languages whose functions are told only by their shape, `type name(…) {`.
const SHAPED: [&str; 16] =
    ["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "java", "js", "jsx", "ts", "tsx", "mjs", "cjs", "cs", "dart"];

/// Languages where `const` names any variable.
const SCRIPTED: [&str; 6] = ["js", "jsx", "ts", "tsx", "mjs", "cjs"];

/// What a line defines: the line from the defining word on, without what opens its body.
pub(crate) fn definition<'a>(line: &'a str, extension: &str) -> Option<&'a str> {
    let text = line.trim();
    match extension {
        "md" | "markdown" => return heading(text),
        "toml" | "ini" => return text.starts_with('[').then_some(text),
        "json" | "jsonl" | "yaml" | "yml" | "csv" | "txt" | "lock" => return None,
        _ => {}
    }
    if is_comment(text, extension) {
        return None;
    }
    let mut rest = text;
    loop {
        let word = rest.split(|letter: char| letter.is_whitespace() || letter == '(' || letter == '<').next()?;
        let after = rest.get(word.len()..)?;
        // `impl<T>` defines, `def(…)` is a call.
        if DEFINERS.iter().any(|definer| word.eq_ignore_ascii_case(definer))
            && (after.starts_with(' ') || after.starts_with('<'))
        {
            // Inside a function these name a mere variable.
            let local = word == "const" && SCRIPTED.contains(&extension) && line.starts_with([' ', '\t']);
            return (!local).then(|| signature(text));
        }
        if !MODIFIERS.iter().any(|modifier| word.eq_ignore_ascii_case(modifier)) {
            break;
        }
        let after = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, after)| after),
            None => after,
        };
        let after = after.trim_start();
        // The ABI of `extern "C" fn`.
        rest =
            after.strip_prefix('"').and_then(|abi| abi.split_once('"')).map_or(after, |(_, after)| after.trim_start());
        if rest.is_empty() {
            return None;
        }
    }
    (SHAPED.contains(&extension) && shaped(text)).then(|| signature(text))
}

/// The name in what [`definition`] gave: a heading is its own name, an `impl` is named by all that follows.
pub(crate) fn defined_name<'a>(signature: &'a str, extension: &str) -> &'a str {
    if matches!(extension, "md" | "markdown" | "toml" | "ini") {
        return signature;
    }
    let mut rest = signature;
    while let Some((word, after)) = rest.split_once(|letter: char| letter.is_whitespace() || letter == '<') {
        if word == "impl" {
            return after;
        }
        if DEFINERS.iter().any(|definer| word.eq_ignore_ascii_case(definer)) {
            // The receiver of a Go method.
            let after =
                after.strip_prefix('(').and_then(|inner| inner.split_once(')')).map_or(after, |(_, after)| after);
            return leading_name(after.trim_start());
        }
        rest = after;
    }
    let head = signature.split('(').next().unwrap_or_default();
    head.rsplit(|letter: char| !names(letter)).next().unwrap_or_default()
}

fn leading_name(text: &str) -> &str {
    text.split(|letter: char| !names(letter)).next().unwrap_or_default()
}

fn names(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `type name(…) {` that is no control statement and no call with a closure.
fn shaped(text: &str) -> bool {
    let Some(head) = text.strip_suffix('{').map(str::trim_end) else {
        return false;
    };
    let closes = head.ends_with(')')
        || head.rsplit_once(')').is_some_and(|(_, after)| after.trim_start().starts_with([':', 't', 'c', 'o']));
    let named = head.split_once('(').is_some_and(|(name, _)| {
        name.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') && !name.contains(['=', '.', '"'])
    });
    let first = text.split(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    closes && named && !STATEMENTS.contains(&first) && !text.starts_with('}')
}

fn heading(text: &str) -> Option<&str> {
    let title = text.trim_start_matches('#');
    (title.len() < text.len() && title.starts_with(' ')).then_some(text)
}

fn signature(text: &str) -> &str {
    text.trim_end_matches(['{', ':', ';', '(']).trim_end()
}

pub(crate) fn is_comment(text: &str, extension: &str) -> bool {
    let text = text.trim_start();
    let hash = match extension {
        "md" | "markdown" | "txt" | "json" | "jsonl" | "html" => false,
        "rs" | "c" | "h" | "cc" | "cpp" | "hpp" => false,
        _ => text.starts_with('#') && !text.starts_with("#!"),
    };
    let dashes = matches!(extension, "sql" | "lua" | "hs") && text.starts_with("--");
    let marks = ["//", "/*", "* ", "*/", "\"\"\"", "<!--"];
    hash || dashes || (extension != "md" && (text == "*" || marks.iter().any(|mark| text.starts_with(mark))))
}

/// Attributes and decorators stand between a comment and what it describes.
pub(crate) fn is_attribute(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("#[") || text.starts_with('@') || text.starts_with("template<")
}

pub(crate) fn is_import(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("pub ").unwrap_or(text);
    let reexport = text.starts_with("mod ") && text.trim_end().ends_with(';');
    reexport
        || ["use ", "import ", "#include", "require(", "extern crate "].iter().any(|word| text.starts_with(word))
        || (text.starts_with("from ") && text.contains(" import "))
        || (text.starts_with("const ") && text.contains("= require("))
}

pub(crate) fn indent(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).map(|letter| if letter == '\t' { 4 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_definitions() {
        for (extension, line, expected) in [
            ("rs", "    pub(crate) async fn open(&self) -> Self {", Some("pub(crate) async fn open(&self) -> Self")),
            ("rs", "pub unsafe extern \"C\" fn f() {", Some("pub unsafe extern \"C\" fn f()")),
            ("rs", "impl<T> Lease<T> {", Some("impl<T> Lease<T>")),
            ("rs", "    match open(x) {", None),
            ("rs", "    // fn old() {", None),
            ("rs", "    let fnord = 1;", None),
            ("py", "    def close(self):", Some("def close(self)")),
            ("py", "# class of things", None),
            ("go", "func (s *Server) Close() error {", Some("func (s *Server) Close() error")),
            ("ts", "export class Host {", Some("export class Host")),
            ("ts", "  private close(socket: Socket): void {", Some("private close(socket: Socket): void")),
            ("ts", "  if (socket.closed) {", None),
            ("ts", "export const limit = 5;", Some("export const limit = 5")),
            ("ts", "  const left = 5;", None),
            ("c", "static int close_socket(int fd) {", Some("static int close_socket(int fd)")),
            ("md", "## Sockets", Some("## Sockets")),
            ("md", "#hashtag", None),
            ("toml", "[dependencies]", Some("[dependencies]")),
        ] {
            assert_eq!(definition(line, extension), expected, "{extension}: {line}");
        }
    }

    #[test]
    fn knows_what_is_defined() {
        for (extension, signature, name) in [
            ("rs", "pub(crate) async fn open(&self) -> Self", "open"),
            ("rs", "pub struct Decision<T>", "Decision"),
            ("rs", "impl<T> Display for Lease<T>", "T> Display for Lease<T>"),
            ("go", "func (s *Server) Close() error", "Close"),
            ("c", "static int close_socket(int fd)", "close_socket"),
            ("md", "## Sockets", "## Sockets"),
        ] {
            assert_eq!(defined_name(signature, extension), name, "{signature}");
        }
    }
}
