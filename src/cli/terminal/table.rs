//! A table as text.

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::sanitize;

/// A table without borders. Each cell stays on its own rows, whatever its text contains.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// A table with these headings, as wide as its cells.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that makes them"
    )]
    pub(crate) fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(headings);
        Self(table)
    }

    /// Limits the width, in columns; longer cells continue below.
    pub(crate) fn with_max_width(mut self, width: Option<usize>) -> Self {
        if let Some(width) = width {
            self.0.set_content_arrangement(ContentArrangement::Dynamic);
            self.0.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        self
    }

    /// Aligns these columns as numbers, counted from 0.
    pub(crate) fn with_figures(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        for column in columns {
            if let Some(column) = self.0.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self
    }

    /// Adds a row.
    pub(crate) fn push_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(
            cells
                .into_iter()
                .map(|cell| sanitize::sanitize_line(&cell).into_owned()),
        );
    }

    /// The table without trailing spaces.
    pub(crate) fn table_text(&self) -> String {
        self.0.trim_fmt()
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_cell_breaks_no_row_and_controls_nothing() {
        let mut table = Table::new(["one", "two"]);
        table.push_row(["a\nb".to_owned(), "\u{1b}[2J".to_owned()]);
        let text = table.table_text();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(
            text.contains("a b") && text.contains("\\u001b[2J"),
            "{text}"
        );
    }
}
