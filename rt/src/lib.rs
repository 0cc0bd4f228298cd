/// Rotates each letter by `by` places.
pub fn rotate(text: &str, by: u8) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='z' => turned(c, b'a', by),
            'A'..='Z' => turned(c, b'A', by),
            other => other,
        })
        .collect()
}

fn turned(c: char, first: u8, by: u8) -> char {
    (first + (c as u8 - first + by % 26) % 26) as char
}
