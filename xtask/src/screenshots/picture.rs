//! A screen as a picture.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use ab_glyph::{Font, FontVec, Glyph, ScaleFont};
use flate2::{Compression, Crc, write::ZlibEncoder};

use super::{
    cells::{Cell, Screen},
    font::Fonts,
};
use crate::{Error, Result};

/// The height of the font in pixels; its lines then meet without gaps.
const FONT_HEIGHT: f32 = 32.0;

/// What is left free around the screen, in pixels.
const MARGIN: usize = 24;

type Color = [u8; 3];

const BACKGROUND: Color = [0x1a, 0x1c, 0x23];
const FOREGROUND: Color = [0xd8, 0xda, 0xe0];

/// The sixteen colours of a terminal.
const COLORS: [Color; 16] = [
    [0x1a, 0x1c, 0x23],
    [0xf0, 0x6a, 0x6f],
    [0x8f, 0xc9, 0x7b],
    [0xe2, 0xc0, 0x6d],
    [0x6f, 0xa8, 0xf5],
    [0xc7, 0x92, 0xea],
    [0x6c, 0xc7, 0xd1],
    [0xd8, 0xda, 0xe0],
    [0x6b, 0x70, 0x80],
    [0xff, 0x8a, 0x8f],
    [0xa9, 0xe0, 0x97],
    [0xf5, 0xd8, 0x8c],
    [0x93, 0xc0, 0xff],
    [0xdb, 0xb0, 0xf7],
    [0x8e, 0xde, 0xe6],
    [0xff, 0xff, 0xff],
];

/// Writes a screen as a PNG.
pub(super) fn write(screen: &Screen, fonts: &Fonts, path: &Path) -> Result<()> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let bytes = png(&Picture::of(screen, fonts)).map_err(failed)?;
    fs::write(path, bytes).map_err(failed)
}

/// The bytes of a PNG: eight bits for each of red, green and blue, no filter.
fn png(picture: &Picture) -> io::Result<Vec<u8>> {
    let size = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
    let mut header = Vec::new();
    header.extend(size(picture.width)?.to_be_bytes());
    header.extend(size(picture.height())?.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in picture.pixels.chunks(picture.width) {
        rows.write_all(&[0])?;
        rows.write_all(&row.concat())?;
    }
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
        let mut sum = Crc::new();
        sum.update(name);
        sum.update(&content);
        bytes.extend(size(content.len())?.to_be_bytes());
        bytes.extend(name);
        bytes.extend(&content);
        bytes.extend(sum.sum().to_be_bytes());
    }
    Ok(bytes)
}

struct Picture {
    width: usize,
    pixels: Vec<Color>,
}

impl Picture {
    fn of(screen: &Screen, fonts: &Fonts) -> Self {
        let scaled = fonts.regular.as_scaled(FONT_HEIGHT);
        // Every character of the font is as wide as this one.
        let cell_width = scaled.h_advance(scaled.glyph_id('m')).round() as usize;
        let cell_height = scaled.height().round() as usize;
        let width = screen.width * cell_width + 2 * MARGIN;
        let height = screen.rows.len() * cell_height + 2 * MARGIN;
        let mut picture = Self { width, pixels: vec![BACKGROUND; width * height] };
        for (row, cells) in screen.rows.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let x = MARGIN + column * cell_width;
                let y = MARGIN + row * cell_height;
                let (ink, paper) = colors(cell);
                picture.fill(x, y, cell_width, cell_height, paper);
                let font = if cell.bold { &fonts.bold } else { &fonts.regular };
                picture.draw(font, cell.symbol, (x, y), ink);
                if cell.underlined {
                    picture.fill(x, y + cell_height - 4, cell_width, 2, ink);
                }
            }
        }
        picture
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, color: Color) {
        for y in y..y + height {
            let start = y * self.width + x;
            self.pixels[start..start + width].fill(color);
        }
    }

    fn draw(&mut self, font: &FontVec, symbol: char, (x, y): (usize, usize), ink: Color) {
        let scaled = font.as_scaled(FONT_HEIGHT);
        let position = ab_glyph::point(x as f32, y as f32 + scaled.ascent());
        let glyph: Glyph = scaled.glyph_id(symbol).with_scale_and_position(FONT_HEIGHT, position);
        let Some(outline) = font.outline_glyph(glyph) else { return };
        let bounds = outline.px_bounds();
        outline.draw(|dx, dy, coverage| {
            // Glyphs reach a little beyond their cells, and the margin is wider than that.
            let at_x = bounds.min.x as usize + dx as usize;
            let at_y = bounds.min.y as usize + dy as usize;
            if let Some(pixel) = self.pixels.get_mut(at_y * self.width + at_x) {
                *pixel = mixed(*pixel, ink, coverage.min(1.0));
            }
        });
    }
}

/// The colours of a cell's character and of what is behind it.
fn colors(cell: &Cell) -> (Color, Color) {
    let ink = cell.color.map_or(FOREGROUND, |color| COLORS[usize::from(color) % COLORS.len()]);
    let ink = if cell.dim { mixed(ink, BACKGROUND, 0.45) } else { ink };
    if cell.reversed { (BACKGROUND, ink) } else { (ink, BACKGROUND) }
}

fn mixed(from: Color, to: Color, share: f32) -> Color {
    let mix = |from: u8, to: u8| {
        let (from, to) = (f32::from(from), f32::from(to));
        (from + (to - from) * share).round() as u8
    };
    [mix(from[0], to[0]), mix(from[1], to[1]), mix(from[2], to[2])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screenshots::cells::parse;

    #[test]
    fn colours_are_those_of_the_cell() {
        let screen = parse("a\u{1b}[36mb\u{1b}[7mc\u{1b}[0;2md", 4, 1);
        let colors: Vec<_> = screen.rows[0].iter().map(colors).collect();
        let dim = mixed(FOREGROUND, BACKGROUND, 0.45);
        let wanted = [
            (FOREGROUND, BACKGROUND),
            (COLORS[6], BACKGROUND),
            (BACKGROUND, COLORS[6]),
            (dim, BACKGROUND),
        ];
        assert_eq!(colors, wanted);
        assert_eq!(mixed([0, 100, 200], [100, 100, 0], 0.25), [25, 100, 150]);
    }

    #[test]
    fn a_picture_is_written_as_others_read_it() {
        let picture = Picture { width: 2, pixels: vec![[1, 2, 3], [4, 5, 6]] };
        let bytes = png(&picture).unwrap();
        assert_eq!(bytes[..16], *b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
        assert_eq!(bytes[16..33], *b"\0\0\0\x02\0\0\0\x01\x08\x02\0\0\0\x7b\x40\xe8\xdd");
        let mut row = Vec::new();
        let data = &bytes[41..bytes.len() - 16];
        io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(data), &mut row).unwrap();
        assert_eq!(row, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(bytes[bytes.len() - 12..], *b"\0\0\0\0IEND\xaeB`\x82");
    }
}
