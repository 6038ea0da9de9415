//! Aligned columns without lines around them.

use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Row, Table, presets};
use subagentd_proto::run::State;

use super::words;
use crate::output::Screen;

/// Cells are cut where the width ends, not at the last word that fits: no cleaned text holds this character.
const NO_DELIMITER: char = '\u{1f}';

/// Below so many columns a table leaves out what can be spared.
const NARROW: u16 = 60;

/// Whether a table does without what can be spared.
pub(crate) const fn narrow(screen: &Screen) -> bool {
    screen.width < NARROW
}

/// A table whose last column takes what is left of the width; longer content is cut with `…`.
pub(crate) struct Columns {
    table: Table,
    columns: usize,
    left_out: Vec<usize>,
    whole: bool,
}

impl Columns {
    /// `spare` are the columns, from 0, that a narrow terminal does without.
    pub(crate) fn new(screen: &Screen, header: &[&str], spare: &[usize]) -> Self {
        let left_out = if narrow(screen) { spare.to_vec() } else { Vec::new() };
        let mut table = Table::new();
        let mut columns = Self { table: Table::new(), columns: header.len() - left_out.len(), left_out, whole: false };
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_truncation_indicator("…")
            .set_delimiter(NO_DELIMITER)
            .force_no_tty()
            .set_width(screen.width)
            .set_header(columns.kept(header.iter().map(Cell::new).collect()));
        if screen.color {
            table.enforce_styling();
        }
        columns.table = table;
        columns
    }

    /// The last column is not cut but goes on below, broken at spaces.
    #[must_use]
    pub(crate) fn whole(mut self) -> Self {
        self.whole = true;
        self.table.set_delimiter(' ');
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        let mut row = Row::from(self.kept(cells));
        if !self.whole {
            row.max_height(1);
        }
        self.table.add_row(row);
    }

    fn kept(&self, cells: Vec<Cell>) -> Vec<Cell> {
        let cells = cells.into_iter().enumerate();
        cells.filter(|(index, _)| !self.left_out.contains(index)).map(|(_, cell)| cell).collect()
    }

    /// The lines, each ended by a line feed.
    pub(crate) fn text(mut self) -> String {
        let last = self.columns.saturating_sub(1);
        for column in self.table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        for index in 0..last {
            if let Some(column) = self.table.column_mut(index) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        if let Some(column) = self.table.column_mut(last) {
            column.set_padding((0, 0));
        }
        let mut text = String::new();
        for line in self.table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A cell of plain text.
pub(crate) fn plain(text: &str) -> Cell {
    Cell::new(words::line(text))
}

/// A state, or what was asked of who stands there, coloured by whether it needs somebody.
pub(crate) fn state(state: State, intent: Option<&str>) -> Cell {
    let cell = Cell::new(words::standing(state, intent));
    match state {
        State::Succeeded => cell.fg(Color::Green),
        State::Failed | State::Rejected | State::TimedOut | State::BudgetExhausted | State::Interrupted => {
            cell.fg(Color::Red)
        }
        State::Running | State::Starting => cell.fg(Color::Cyan),
        State::Paused => cell.fg(Color::Yellow),
        State::Queued | State::Cancelled | State::Unknown => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_there_only_when_wanted() {
        let mut screen = Screen { json: false, width: 80, color: true, terminal: true };
        let draw = |screen: &Screen| {
            let mut columns = Columns::new(screen, &["STATE", "REST"], &[]);
            columns.row(vec![state(State::Failed, None), plain("x")]);
            columns.text()
        };
        assert!(draw(&screen).contains('\u{1b}'), "{:?}", draw(&screen));
        screen.color = false;
        assert_eq!(draw(&screen), "STATE   REST\nfailed  x\n");
    }
}
