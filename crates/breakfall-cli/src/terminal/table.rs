//! Tables that fit: columns give way in an order, and cells are cut where they must.

use super::text::{cut, width};
use super::{Style, Terminal};

/// Between two columns.
const GAP: usize = 2;

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) align: Align,
    /// How narrow it may become; 0 where it keeps its width.
    pub(crate) least: usize,
    /// The highest goes first when there is no room; 0 never goes.
    pub(crate) goes: u8,
}

/// What stands in a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// Rows under columns. Cells are safe text in one line.
#[derive(Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Column {
    pub(crate) const fn left(name: &'static str, least: usize, goes: u8) -> Self {
        Self { name, align: Align::Left, least, goes }
    }

    pub(crate) const fn right(name: &'static str, goes: u8) -> Self {
        Self { name, align: Align::Right, least: 0, goes }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, style: Style::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Cell {
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table without columns in which nothing stands, as wide as the terminal at most.
    pub(crate) fn render(&self, terminal: &Terminal) -> String {
        let natural: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|at| natural[*at] > 0).collect();
        let widths = loop {
            if let Some(widths) = self.fitted(&shown, &natural, terminal.width) {
                break widths;
            }
            let last = shown.iter().copied().max_by_key(|at| self.columns[*at].goes);
            match last.filter(|at| self.columns[*at].goes > 0) {
                Some(last) => shown.retain(|at| *at != last),
                None => break squeezed(&shown, &natural, terminal.width),
            }
        };
        let mut text = String::new();
        let heads = |at: &usize| Cell::styled(self.columns[*at].name, Style::Faint);
        let head: Vec<Cell> = shown.iter().map(heads).collect();
        let nothing = Cell::default();
        self.line(&mut text, &shown, &widths, &head.iter().collect::<Vec<_>>(), terminal);
        for row in &self.rows {
            let row: Vec<&Cell> = shown.iter().map(|at| row.get(*at).unwrap_or(&nothing)).collect();
            self.line(&mut text, &shown, &widths, &row, terminal);
        }
        text
    }

    fn line(
        &self,
        text: &mut String,
        shown: &[usize],
        widths: &[usize],
        row: &[&Cell],
        terminal: &Terminal,
    ) {
        let mut line = String::new();
        for (number, ((at, most), cell)) in shown.iter().zip(widths).zip(row).enumerate() {
            let short = cut(&cell.text, *most);
            let space = " ".repeat(most - width(&short));
            let painted = terminal.paint(&short, cell.style);
            if number > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            match self.columns[*at].align {
                Align::Left => line.extend([painted, space]),
                Align::Right => line.extend([space, painted]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }

    /// As wide as the widest cell; nothing where no cell has anything.
    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let widest = cells.map(|cell| width(&cell.text)).max().unwrap_or(0);
        if widest == 0 { 0 } else { widest.max(width(self.columns[at].name)) }
    }

    /// The widths of the columns, where they fit: those that may give way do, the widest first.
    fn fitted(&self, shown: &[usize], natural: &[usize], most: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = shown.iter().map(|at| natural[*at]).collect();
        let room = most.saturating_sub(GAP * shown.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let gives = |number: &usize| {
                let least = self.columns[shown[*number]].least;
                least > 0 && widths[*number] > least
            };
            let widest = (0..widths.len()).filter(gives).max_by_key(|number| widths[*number])?;
            widths[widest] -= 1;
        }
        Some(widths)
    }
}

/// The last resort: the widest column gives way, whichever it is.
fn squeezed(shown: &[usize], natural: &[usize], most: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = shown.iter().map(|at| natural[*at]).collect();
    let room = most.saturating_sub(GAP * shown.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room.max(widths.len()) {
        let Some(widest) = widths.iter_mut().max() else { break };
        *widest -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::left("NAME", 6, 0),
        Column::right("COUNT", 0),
        Column::left("ABOUT", 8, 2),
        Column::left("NEVER", 0, 1),
    ];

    fn terminal(width: usize) -> Terminal {
        Terminal { width, has_colour: false, is_one: false }
    }

    fn table(names: &[&str]) -> Table {
        let mut table = Table::new(&COLUMNS);
        for name in names {
            table.push(vec![(*name).into(), "12".into(), "a tool that does it".into()]);
        }
        table
    }

    #[test]
    fn columns_give_way_then_go() {
        let table = table(&["read_the_file", "x"]);
        assert_eq!(
            table.render(&terminal(80)),
            "NAME           COUNT  ABOUT\n\
             read_the_file     12  a tool that does it\n\
             x                 12  a tool that does it\n"
        );
        assert_eq!(
            table.render(&terminal(26)),
            "NAME       COUNT  ABOUT\n\
             read_the…     12  a tool…\n\
             x             12  a tool…\n"
        );
        assert_eq!(
            table.render(&terminal(14)),
            "NAME     COUNT\n\
             read_t…     12\nx           12\n"
        );
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            names in proptest::collection::vec("[a-zé日🎉 ]{0,30}", 1..5),
            wide in 12_usize..100,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for line in table(&names).render(&terminal(wide)).lines() {
                prop_assert!(width(line) <= wide, "{line}");
            }
        }
    }
}
