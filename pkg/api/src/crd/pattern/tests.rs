//! Expressions of Go as they are read here.

use super::*;

#[test]
fn as_go_reads_it() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (r"^\d+$", &["12"], &["١", "a"]),
        (r"^[\w.-]+$", &["a.b-c_1"], &["ä", " "]),
        (r"^[a&&b[]+$", &["a&b["], &["c"]),
        (r"^{.*}$", &["{a}"], &["a"]),
        (r"^a{2}$", &["aa"], &["a{2}"]),
        (r"^[]a]$", &["]", "a"], &["b"]),
        (r"^[[:alpha:]]+$", &["ab"], &["1"]),
        (r"^(?i)abc$", &["ABC"], &["x"]),
        (r"^\p{L}+$", &["äb"], &["1"]),
        (r"^https?:\/\/.+$", &["http://a"], &["x"]),
        ("^a$", &["a"], &["a\n"]),
    ];
    for (pattern, good, bad) in cases {
        let compiled = compile(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
        good.iter().for_each(|text| assert!(compiled.is_match(text), "{pattern}: {text}"));
        bad.iter().for_each(|text| assert!(!compiled.is_match(text), "{pattern}: {text}"));
    }
    for pattern in ["[a", "(", r"(?=a)"] {
        assert!(compile(pattern).is_err(), "{pattern}");
    }
}

/// Go's answers: whether it takes the expression, and which of the texts match.
#[test]
fn expressions_that_go_reads_otherwise() {
    let texts = [
        "a",
        "ab",
        "a.b",
        "a-b",
        "a.bb",
        "A",
        "AB",
        "abc",
        "-",
        "+,-",
        "a-c",
        ",",
        "<a>",
        "<>",
        "a+",
        "aaa",
        "a{,3}",
        "a{ 2 }",
        "a{02}",
        "aa",
        "a&b",
        "a~b",
        "[a",
        "]",
        "]^_`a",
        "b",
        "c",
        "1",
        "12",
        " ",
        "\t -",
        "!",
        "\x00",
        "\u{03bb}",
        "\u{00e4}\u{03bb}a\u{00e4}",
        "a#b c",
        "ab a",
        "/-_@ ",
        "\n",
        "x{2",
        "abac",
        "]^\\",
        "\u{017f}",
        "B",
        "x",
        "",
    ];
    let cases: &[(&str, Option<&[usize]>)] = &[
        (r"^[\w-.]+$", Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 19, 25, 26, 27, 28, 40, 43, 44])),
        (r"^[\d-a]+$", Some(&[0, 8, 15, 19, 27, 28])),
        (r"^[\s-]+$", Some(&[8, 29, 30, 38])),
        (r"^[.-\w]+$", None),
        (r"^[\W-]+$", Some(&[8, 9, 11, 13, 23, 29, 30, 31, 32, 33, 38, 41, 42])),
        (r"^[^\w-]+$", Some(&[11, 13, 23, 29, 31, 32, 33, 38, 41, 42])),
        (r"^\<a\>$", Some(&[12])),
        (r"^[\<\>]+$", Some(&[13])),
        (r"^[+--]+$", Some(&[8, 9, 11])),
        (r"^[a--]+$", None),
        (r"^[--a]+$", Some(&[0, 5, 6, 8, 12, 13, 15, 19, 22, 23, 24, 27, 28, 41, 43])),
        (r"^[a-c--]+$", Some(&[0, 1, 3, 7, 8, 10, 15, 19, 25, 26, 40])),
        (r"^\Qa.b\E+$", Some(&[2, 4])),
        (r"^\Qa+", Some(&[14])),
        (r"^\101$", Some(&[5])),
        (r"^[\101-\103]+$", Some(&[5, 6, 43])),
        (r"^\0$", Some(&[32])),
        (r"^\1$", None),
        (r"^[a&&b]+$", Some(&[0, 1, 15, 19, 20, 25])),
        (r"^[a~~b]+$", Some(&[0, 1, 15, 19, 21, 25])),
        (r"^[[a]+$", Some(&[0, 15, 19, 22])),
        (r"^[]-a]+$", Some(&[0, 15, 19, 23, 24])),
        (r"^[^]a]+$", Some(&[5, 6, 8, 9, 11, 13, 25, 26, 27, 28, 29, 30, 31, 32, 33, 37, 38, 39, 42, 43, 44])),
        (r"^[[:alpha:]-]+$", Some(&[0, 1, 3, 5, 6, 7, 8, 10, 15, 19, 25, 26, 40, 43, 44])),
        (r"^[[:foo:]]$", None),
        (
            r"^[[:^digit:]]+$",
            Some(&[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 23, 24, 25, 26, 29, 30, 31, 32,
                33, 34, 35, 36, 37, 38, 40, 41, 42, 43, 44,
            ]),
        ),
        (r"a**", None),
        (r"a{2}{3}", None),
        (r"^a{,3}$", Some(&[16])),
        (r"^a{ 2 }$", Some(&[17])),
        (r"^a{02}$", Some(&[18])),
        (r"a{1001}", None),
        (r"a{3,2}", None),
        (r"^(?P<n>a)b$", Some(&[1])),
        (r"^(?<1>a)$", Some(&[0])),
        (r"(?x)a b", None),
        (r"^(?i)ab$", Some(&[1, 6])),
        (r"^(?i-i)ab$", Some(&[1])),
        (r"^(?)ab$", Some(&[1])),
        (r"(?u)a", None),
        (r"(?i-)a", None),
        (r"^\u0041$", None),
        (r"^\x41\x{42}$", Some(&[6])),
        (r"^\pL\p{Greek}\P{Greek}\p{^Greek}$", Some(&[34])),
        (r"^\p{greek}$", Some(&[33])),
        (r"^a#b c$", Some(&[35])),
        (r"^[\b]$", None),
        (r"\bab\b", Some(&[1, 36])),
        (r"^.$", Some(&[0, 5, 8, 11, 23, 25, 26, 27, 29, 31, 32, 33, 42, 43, 44])),
        (r"^\/\-\_\@\ $", Some(&[37])),
        (r"^[\x{D800}-\x{DFFF}a]+$", Some(&[0, 15, 19])),
        (r"\Z", None),
        (r"^a$\z", Some(&[0])),
        (r"^[a-\d]$", None),
        (r"x{2", Some(&[39])),
        (r"[z-a]", None),
        (r"^(a|b)*?c$", Some(&[7, 26, 40])),
        (r"(?=a)", None),
        (r"a++", None),
        (r"a???", None),
        (r"^[\]\[\\^-]+$", Some(&[8, 23, 41])),
        (
            r"^[ -~]+$",
            Some(&[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                28, 29, 31, 35, 36, 37, 39, 40, 41, 43, 44,
            ]),
        ),
        (r"\E", None),
        (r"^*a", Some(&[0, 1, 2, 3, 4, 7, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 34, 35, 36, 40])),
        (r"(?P<n>a)(?P<n>b)", Some(&[1, 7, 36, 40])),
    ];
    for (pattern, want) in cases {
        let found = compile(pattern).ok();
        let found: Option<Vec<usize>> =
            found.map(|r| (0..texts.len()).filter(|index| r.is_match(texts[*index])).collect());
        assert_eq!(found.as_deref(), *want, "{pattern}: {:?}", rewrite(pattern));
    }
}

#[test]
fn what_an_expression_takes() {
    assert_eq!(cost("^a+$").expect("small"), 1 << 14);
    assert!(cost(r"^\p{L}{1,110}$").expect("large") >= 1 << 20);
    assert!(cost(r"^(\p{L}{1000}){1000}$").is_err());
    assert!(cost("[").is_err());
}
