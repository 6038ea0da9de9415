//! Labelled values, one a line, the values aligned.

/// Lines of `label  value`; a value of several lines is indented below its first.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub(crate) fn add(&mut self, label: &'static str, value: impl Into<String>) {
        self.0.push((label, value.into()));
    }

    pub(crate) fn add_some(&mut self, label: &'static str, value: Option<impl Into<String>>) {
        if let Some(value) = value {
            self.add(label, value);
        }
    }

    pub(crate) fn text(&self, indent: usize) -> String {
        let width = self.0.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (label, value) in &self.0 {
            for (number, line) in value.lines().enumerate() {
                let label = if number == 0 { label } else { "" };
                let line = format!("{:indent$}{label:width$}  {line}", "");
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_one_column() {
        let mut fields = Fields::default();
        fields.add("model", "a/b");
        fields.add_some("nothing", None::<String>);
        fields.add("directory", "one\n\ntwo");
        assert_eq!(fields.text(2), "  model      a/b\n  directory  one\n\n             two\n");
    }
}
