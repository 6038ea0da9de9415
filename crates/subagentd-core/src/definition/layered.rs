//! Definitions of one name laid over each other.

use crate::outcome::error_line;

use super::{About, Definition, Field, InheritTools, Key, Origin, Problem, Severity, Tools};

impl Definition {
    /// Lays `upper` over this one. Each field comes from the highest file that mentions it; lists and bodies are
    /// replaced, never joined.
    pub(super) fn lay(&mut self, upper: Self) {
        self.warn_of_widening(&upper);
        over(&mut self.description, upper.description);
        over(&mut self.display_name, upper.display_name);
        over(&mut self.aliases, upper.aliases);
        over(&mut self.tools, upper.tools);
        over(&mut self.inherit_tools, upper.inherit_tools);
        over(&mut self.exclude_tools, upper.exclude_tools);
        over(&mut self.model, upper.model);
        over(&mut self.thinking, upper.thinking);
        over(&mut self.max_turns, upper.max_turns);
        over(&mut self.inherit_context, upper.inherit_context);
        over(&mut self.run_in_background, upper.run_in_background);
        over(&mut self.enabled, upper.enabled);
        over(&mut self.acceptance_role, upper.acceptance_role);
        over(&mut self.access, upper.access);
        over(&mut self.timeout_ms, upper.timeout_ms);
        over(&mut self.idle_timeout_ms, upper.idle_timeout_ms);
        over(&mut self.output, upper.output);
        over(&mut self.runtime, upper.runtime);
        over(&mut self.allow_plan_files, upper.allow_plan_files);
        if !upper.instructions.is_empty() {
            self.instructions = upper.instructions;
        }
        self.layer = upper.layer;
        self.file = upper.file;
        self.origins.extend(upper.origins);
        self.parts.extend(upper.parts);
        self.claimants.extend(upper.claimants);
        // An error may have been cut from the list.
        self.broken |= upper.broken;
        for problem in upper.problems {
            self.report(problem);
        }
    }

    /// Null is the one value of `tools` that can give more than the layer below without saying so.
    fn warn_of_widening(&mut self, upper: &Self) {
        if let (Field::Set(Tools::List(_)), Field::Null) = (&self.tools, &upper.tools) {
            let below = self.origin(Key::Tools).map_or(self.file.as_str(), |origin| origin.file.as_str());
            let message = format!(
                "tools: nothing here takes back the list in {below}, so that the agent inherits its parent's tools; \
                 write `inherit` if that is meant, or leave the key out"
            );
            self.report_origin(upper.origin(Key::Tools).cloned(), Severity::Warning, Key::Tools, message);
        }
    }

    /// What only shows once every layer has spoken.
    pub(super) fn settle(&mut self) {
        let adds = matches!(self.inherit_tools, Field::Set(InheritTools::NonDestructive | InheritTools::All));
        let listed = matches!(self.tools, Field::Set(Tools::List(_)));
        if adds && !listed {
            let origins = [Key::InheritTools, Key::Tools].map(|key| self.origin(key).cloned());
            let [inherits, tools] = origins;
            let highest = inherits.into_iter().chain(tools).max_by_key(|origin| origin.layer);
            let message = "inherit_tools: it adds to a list of tools and does not go with `tools: inherit`; \
                           list the tools, or write `inherit_tools: none`";
            self.report_origin(highest, Severity::Error, Key::InheritTools, message.to_owned());
        }
    }

    /// Two files of one layer claim this name: neither is a sure choice, and neither is a layer below them.
    pub(super) fn contest(&mut self, other: &Self) {
        if self.claimants.is_empty() {
            self.claimants.push(self.file.clone());
        }
        self.claimants.push(other.file.clone());
        let name = error_line(&self.identifier);
        let message =
            format!("{} and {} are both the agent `{name}`; rename or remove one of them", self.file, other.file);
        let problem = Problem {
            severity: Severity::Error,
            about: About::Name,
            file: other.file.clone(),
            line: 1,
            column: 1,
            message,
        };
        self.report(problem);
    }

    fn report_origin(&mut self, origin: Option<Origin>, severity: Severity, key: Key, message: String) {
        let (file, line) = origin.map_or_else(|| (self.file.clone(), 1), |origin| (origin.file, origin.line));
        self.report(Problem { severity, about: About::Field(key), file, line, column: 1, message });
    }
}

fn over<T>(below: &mut Field<T>, above: Field<T>) {
    if !matches!(above, Field::Absent) {
        *below = above;
    }
}
