//! What is on a screen, cell by cell, read from text with escape sequences for colours.

/// A character and how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) symbol: char,
    /// One of the sixteen colours; `None` is the usual one.
    pub(super) color: Option<u8>,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) underlined: bool,
    pub(super) reversed: bool,
}

const BLANK: Cell =
    Cell { symbol: ' ', color: None, bold: false, dim: false, underlined: false, reversed: false };

/// A screen.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) width: usize,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Screen {
    /// The screen as lines, without the blanks at their ends.
    pub(super) fn text(&self) -> String {
        let line = |row: &Vec<Cell>| {
            let line: String = row.iter().map(|cell| cell.symbol).collect();
            line.trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }
}

/// Reads a screen of this size.
pub(super) fn parse(styled: &str, width: u16, height: u16) -> Screen {
    let (width, height) = (usize::from(width), usize::from(height));
    let mut look = BLANK;
    let mut rows: Vec<Vec<Cell>> = styled.lines().map(|line| row(line, &mut look)).collect();
    rows.resize(height, Vec::new());
    rows.iter_mut().for_each(|row| row.resize(width, BLANK));
    Screen { width, rows }
}

/// Reads a line; the look at its end is that of the next line's beginning.
fn row(line: &str, look: &mut Cell) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some(symbol) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(sequence.len());
            let (numbers, behind) = sequence.split_at(end);
            if behind.starts_with('m') {
                apply(numbers, look);
            }
            rest = behind.get(1..).unwrap_or_default();
        } else {
            cells.push(Cell { symbol, ..*look });
            rest = &rest[symbol.len_utf8()..];
        }
    }
    cells
}

fn apply(numbers: &str, look: &mut Cell) {
    let mut numbers = numbers.split(';').map(|number| number.parse::<u8>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        match number {
            0 => *look = BLANK,
            1 => look.bold = true,
            2 => look.dim = true,
            4 => look.underlined = true,
            7 => look.reversed = true,
            22 => (look.bold, look.dim) = (false, false),
            24 => look.underlined = false,
            27 => look.reversed = false,
            color @ 30..=37 => look.color = Some(color - 30),
            // A colour by its number in a longer list, which begins with the sixteen.
            38 => look.color = numbers.nth(1),
            39 => look.color = None,
            color @ 90..=97 => look.color = Some(color - 82),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_go_on_over_lines_until_they_end() {
        let screen = parse("a\u{1b}[1;38;5;6mb\n\u{1b}[7mc\u{1b}[0md\u{1b}[2;4;91m│", 3, 3);
        assert_eq!(screen.text(), "ab\ncd│\n\n");
        let cell = |symbol| Cell { symbol, ..BLANK };
        let strong = |symbol| Cell { bold: true, color: Some(6), ..cell(symbol) };
        let last = Cell { dim: true, underlined: true, color: Some(9), ..cell('│') };
        assert_eq!(
            screen.rows,
            [
                vec![cell('a'), strong('b'), BLANK],
                vec![Cell { reversed: true, ..strong('c') }, cell('d'), last],
                vec![BLANK; 3],
            ]
        );
    }
}
