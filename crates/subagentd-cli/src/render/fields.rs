//! Labelled values, one a line, the values aligned.

use super::fit;
use crate::output::Screen;

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

    pub(crate) fn text(&self, indent: usize, screen: &Screen) -> String {
        let width = self.0.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let left = usize::from(screen.width).saturating_sub(indent + width + 2);
        let mut text = String::new();
        for (label, value) in &self.0 {
            for (number, line) in value.lines().flat_map(|line| fit::wrap(line, left)).enumerate() {
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
    use crate::render::samples;

    #[test]
    fn values_stand_in_one_column() {
        let mut fields = Fields::default();
        fields.add("model", "a/b");
        fields.add_some("nothing", None::<String>);
        fields.add("directory", "one\n\ntwo");
        assert_eq!(fields.text(2, &samples::screen()), "  model      a/b\n  directory  one\n\n             two\n");
    }

    #[test]
    fn a_long_value_goes_on_below_its_beginning() {
        let mut fields = Fields::default();
        fields.add("runtime", "offline (default: no runtime with a model is set up; name one by `default_runtime`)");
        assert_eq!(
            fields.text(2, &samples::screen()),
            "  \
  runtime  offline (default: no runtime with a model is set up; name one by
           `default_runtime`)
"
        );
    }
}
