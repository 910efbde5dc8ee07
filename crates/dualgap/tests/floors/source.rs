//! The source of a crate as words, its files, and the modules that they are.

use std::fs;
use std::path::{Path, PathBuf};

/// A word or a sign of the source, and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// The source as tokens, without comments, and with strings and characters left out.
pub fn tokens(source: &str) -> Vec<Token> {
    scan(source).0
}

/// The strings of the source with their quotes, and the line that each begins in.
pub fn strings(source: &str) -> Vec<Token> {
    scan(source).1
}

/// The tokens, and the strings.
fn scan(source: &str) -> (Vec<Token>, Vec<Token>) {
    let mut strings = Vec::new();
    let text: Vec<char> = source.chars().collect();
    let (mut tokens, mut line, mut k) = (Vec::new(), 1, 0);
    let at = |k: usize| text.get(k).copied().unwrap_or('\0');
    let named = |c: char| c.is_alphanumeric() || c == '_';
    while k < text.len() {
        let start = k;
        match (at(k), at(k + 1)) {
            ('/', '/') => k += text[k..].iter().take_while(|&&c| c != '\n').count(),
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(k), at(k + 1)) {
                        ('/', '*') => (depth, k) = (depth + 1, k + 2),
                        ('*', '/') => (depth, k) = (depth - 1, k + 2),
                        _ => k += 1,
                    }
                    if depth == 0 || k >= text.len() {
                        break;
                    }
                }
            }
            ('r', '"' | '#') if raw_string(&text[k..]).is_some() => {
                k += raw_string(&text[k..]).unwrap_or(1);
                strings.push(Token { text: text[start..k].iter().collect(), line });
            }
            ('"', _) => {
                k += quoted(&text[k..], '"');
                let end = k.min(text.len());
                strings.push(Token { text: text[start..end].iter().collect(), line });
            }
            // A character, or a lifetime: that has no closing quote behind its first letter.
            ('\'', '\\') => k += quoted(&text[k..], '\''),
            ('\'', _) if at(k + 2) == '\'' => k += 3,
            (c, _) if named(c) => {
                k += text[k..].iter().take_while(|&&c| named(c)).count();
                tokens.push(Token { text: text[start..k].iter().collect(), line });
            }
            (':', ':') => {
                k += 2;
                tokens.push(Token { text: "::".into(), line });
            }
            (c, _) => {
                k += 1;
                if !c.is_whitespace() {
                    tokens.push(Token { text: c.into(), line });
                }
            }
        }
        line += text[start..k.min(text.len())].iter().filter(|&&c| c == '\n').count();
    }
    (tokens, strings)
}

/// The length of a text in quotes, escapes included.
fn quoted(text: &[char], quote: char) -> usize {
    let mut k = 1;
    while k < text.len() && text[k] != quote {
        k += if text[k] == '\\' { 2 } else { 1 };
    }
    k + 1
}

/// The length of `r"…"` or `r#"…"#`, if this is one.
fn raw_string(text: &[char]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|&&c| c == '#').count();
    if text.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let closing: Vec<char> = std::iter::once('"').chain(vec!['#'; hashes]).collect();
    let start = 2 + hashes;
    let end = text[start..].windows(closing.len()).position(|window| window == closing)?;
    Some(start + end + closing.len())
}

/// The tokens without the items that only tests are compiled with.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut k = 0;
    let is = |k: usize, texts: &[&str]| {
        texts.iter().enumerate().all(|(j, text)| tokens.get(k + j).is_some_and(|t| t.text == *text))
    };
    while k < tokens.len() {
        if is(k, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            // The item ends with its braces, or with a semicolon before any.
            let (mut depth, mut open) = (0_i32, false);
            k += 7;
            while k < tokens.len() {
                let text = tokens[k].text.as_str();
                depth += i32::from(text == "{") - i32::from(text == "}");
                open |= text == "{";
                k += 1;
                if (open && depth == 0) || (!open && text == ";") {
                    break;
                }
            }
        } else {
            kept.push(tokens[k].clone());
            k += 1;
        }
    }
    kept
}

/// The modules that a file is in, from the crate's root: `dual`, `engine` for `dual/engine.rs`.
pub fn modules(file: &Path) -> Vec<String> {
    let parts = file.with_extension("");
    let mut modules: Vec<String> =
        parts.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if modules.last().is_some_and(|last| last == "mod") {
        modules.pop();
    }
    modules
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A file of tests, which its module declares as `#[cfg(test)] mod NAME;`.
pub fn is_test_module(path: &Path) -> bool {
    let module = fs::read_to_string(path.with_file_name("mod.rs")).unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    module.contains(&format!("#[cfg(test)]\nmod {name};"))
}
