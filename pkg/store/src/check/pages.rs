//! Rows straight from the pages of the file, for pages that SQLite refuses
//! (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
//!
//! Nothing here is certain: a page may be a free one that holds what was deleted. It is good for
//! names of keys, which are better guessed than left out.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use bytes::Bytes;

/// Columns of a row: the id (held elsewhere), prev, key, and so on; later layouts may add some.
const COLUMNS: usize = 8;
const PAGE_HEADER: usize = 8;

/// Ids and keys of all that looks like a row of the log.
pub(super) fn leaf_rows(path: &Path) -> io::Result<Vec<(i64, Bytes)>> {
    let mut file = File::open(path)?;
    let mut page = vec![0; 512];
    file.read_exact(&mut page)?;
    let size = match u16::from_be_bytes([page[16], page[17]]) {
        1 => 65536,
        size if size.is_power_of_two() && size >= 512 => usize::from(size),
        _ => 4096,
    };
    // The first page is of the schema.
    page.resize(size, 0);
    file.read_exact(&mut page[512..])?;
    let mut rows = Vec::new();
    loop {
        match file.read_exact(&mut page) {
            Ok(()) => rows.extend(rows_of(&page)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(rows),
            Err(error) => return Err(error),
        }
    }
}

/// Each cell by itself: one that is broken does not hide the others.
fn rows_of(page: &[u8]) -> impl Iterator<Item = (i64, Bytes)> {
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]])).min((page.len() - PAGE_HEADER) / 2);
    (0..cells).filter_map(|n| {
        let at = PAGE_HEADER + 2 * n;
        row(page.get(usize::from(u16::from_be_bytes([page[at], page[at + 1]]))..)?)
    })
}

fn row(cell: &[u8]) -> Option<(i64, Bytes)> {
    let mut cell = cell;
    let _payload = varint(&mut cell)?;
    let id = varint(&mut cell)?;
    let mut types = cell;
    let header = usize::try_from(varint(&mut types)?).ok()?;
    types = types.get(..header.checked_sub(cell.len() - types.len())?)?;
    let mut body = cell.get(header..)?;
    let mut columns = Vec::new();
    while !types.is_empty() {
        columns.push(varint(&mut types)?);
    }
    let blob = |n: usize| columns[n] >= 12 && columns[n] % 2 == 0;
    let integer = |n: usize| (1..=9).contains(&columns[n]);
    if columns.len() < COLUMNS || columns[0] != 0 || ![1, 3, 4, 5, 6].into_iter().all(integer) || !blob(2) || !blob(7) {
        return None;
    }
    // Bytes of integers, by type.
    body = body.get([0, 1, 2, 3, 4, 6, 8, 8, 0, 0][usize::try_from(columns[1]).ok()?]..)?;
    let key = body.get(..usize::try_from((columns[2] - 12) / 2).ok()?)?;
    (id > 0 && !key.is_empty()).then(|| (id, Bytes::copy_from_slice(key)))
}

/// Seven bits to a byte, the most significant first; a ninth byte gives all eight.
fn varint(from: &mut &[u8]) -> Option<i64> {
    let mut value = 0;
    for n in 1..=9 {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        if n == 9 {
            return Some(value << 8 | i64::from(*byte));
        }
        value = value << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
