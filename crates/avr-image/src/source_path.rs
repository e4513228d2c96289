//! Paths of sources as people read them.

/// A path, perhaps with a line number behind it, without `.` and without the folders that `..` leaves again.
#[must_use]
pub fn without_detours(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            // Two separators are one, except for the first of an absolute path.
            "" if !parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::without_detours;

    #[test]
    fn paths_lose_their_detours() {
        let check = |path: &str, expected: &str| assert_eq!(without_detours(path), expected);
        check("branch/main.c", "branch/main.c");
        check("branch/../common/./a.h", "common/a.h");
        check("../lib/a.c", "../lib/a.c");
        check("../../a.c", "../../a.c");
        check("/usr//src/../a.c", "/usr/a.c");
    }
}
