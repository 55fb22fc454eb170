//! Lists of the indexes of an Indexed Job, as `1,3-5`.

/// An interval, both ends included.
type Interval = (i64, i64);

/// How many indexes a list has; `completions` is how many there can be.
pub(super) fn count(list: &str, completions: i64) -> Result<i64, String> {
    if list.is_empty() {
        return Ok(0);
    }
    let mut total = 0;
    let mut last = None;
    for part in list.split(',') {
        let (low, high) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= low) {
            return Err(format!("non-increasing order, previous: {last}, current: {low}"));
        }
        total += high - low + 1;
        last = Some(high);
    }
    Ok(total)
}

/// The first index that both lists have. Parts that cannot be read are left out.
pub(super) fn overlap(a: &str, b: &str, completions: i64) -> Option<i64> {
    let intervals =
        |list: &str| -> Vec<Interval> { list.split(',').filter_map(|part| interval(part, completions).ok()).collect() };
    let (a, b) = (intervals(a), intervals(b));
    let (mut x, mut y) = (0, 0);
    while let (Some(left), Some(right)) = (a.get(x), b.get(y)) {
        if left.0 <= right.1 && right.0 <= left.1 {
            return Some(left.0.max(right.0));
        }
        if left.0 <= right.0 { x += 1 } else { y += 1 }
    }
    None
}

fn interval(text: &str, completions: i64) -> Result<Interval, String> {
    let parts: Vec<_> = text.split('-').collect();
    let index = |text: &str| -> Result<i64, String> {
        let Ok(index) = text.parse::<i64>() else {
            return Err(format!("cannot convert string to integer for index: {text:?}"));
        };
        if index >= completions { Err(format!("too large index: {text:?}")) } else { Ok(index) }
    };
    match parts[..] {
        [one] => index(one).map(|one| (one, one)),
        [low, high] => match (index(low)?, index(high)?) {
            (low, high) if low >= high => Err(format!("non-increasing order, previous: {low}, current: {high}")),
            interval => Ok(interval),
        },
        _ => Err(format!(
            "the fragment {text:?} violates the requirement that an index interval can have at most two parts separated \
             by '-'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let cases = [
            ("", Ok(0)),
            ("0,2-4,7", Ok(5)),
            ("3,1", Err("non-increasing order, previous: 3, current: 1")),
            ("4-2", Err("non-increasing order, previous: 4, current: 2")),
            ("9", Err("too large index: \"9\"")),
            ("a", Err("cannot convert string to integer for index: \"a\"")),
        ];
        for (list, expected) in cases {
            assert_eq!(count(list, 9), expected.map_err(str::to_owned), "{list}");
        }
        assert_eq!(overlap("0-3,7", "4-6,7", 9), Some(7));
        assert_eq!(overlap("0-3", "4-6", 9), None);
    }
}
