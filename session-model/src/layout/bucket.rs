//! Names of buckets: the folders that hold the sessions of one directory.

use crate::storage::MAX_SEGMENT_BYTES;

/// How a directory becomes the name of its bucket.
///
/// Both ways lose information: two directories can share a bucket, and the `cwd` of a session's
/// header decides whose it is. The directory is taken as it is given; for one name to lead to one
/// bucket it should be canonical (the real path, else as the user gave it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BucketScheme {
    /// The whole path: `--work-project--`.
    #[default]
    Absolute,
    /// As omp has it: `-tmp-<rest>` inside the directory for temporary files, else `-<rest>`
    /// inside the home directory, else as [`Absolute`](Self::Absolute).
    ///
    /// Older versions of omp look at the home directory first, which makes a difference only if
    /// one of the two lies in the other.
    Relative,
}

/// The directories [`BucketScheme::Relative`] shortens, canonical as the paths it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketRoots<'a> {
    /// The user's home directory, if known.
    pub home: Option<&'a str>,
    /// The directory for temporary files, if known.
    pub temp: Option<&'a str>,
}

impl BucketScheme {
    /// Returns the name of a directory's bucket.
    ///
    /// A name that would be longer than a key's segment may be is cut, and a digest of the whole
    /// keeps it apart from others.
    ///
    /// ```
    /// use session_model::layout::{BucketRoots, BucketScheme};
    ///
    /// let roots = BucketRoots { home: Some("/home/sam"), temp: Some("/tmp") };
    /// let cwd = "/home/sam/my project";
    /// assert_eq!(BucketScheme::Absolute.bucket_name(cwd, &roots), "--home-sam-my project--");
    /// assert_eq!(BucketScheme::Relative.bucket_name(cwd, &roots), "-my project");
    /// ```
    pub fn bucket_name(self, cwd: &str, roots: &BucketRoots<'_>) -> String {
        let inside = |root: Option<&str>| match self {
            Self::Absolute => None,
            Self::Relative => root.and_then(|root| below(cwd, root)),
        };
        let (prefix, rest, suffix) = match (inside(roots.temp), inside(roots.home)) {
            (Some(""), _) => ("-tmp", "", ""),
            (Some(rest), _) => ("-tmp-", rest, ""),
            (None, Some(rest)) => ("-", rest, ""),
            (None, None) => ("--", cwd.strip_prefix(SEPARATORS).unwrap_or(cwd), "--"),
        };
        let dashed = rest.trim_end_matches(SEPARATORS).replace(['/', '\\', ':'], "-");
        fitted(prefix, &dashed, suffix)
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// What of a path lies below a root, without separators around it.
fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches(SEPARATORS))?;
    let is_whole = !root.is_empty() && (rest.is_empty() || rest.starts_with(SEPARATORS));
    is_whole.then(|| rest.trim_matches(SEPARATORS))
}

fn fitted(prefix: &str, middle: &str, suffix: &str) -> String {
    let room = MAX_SEGMENT_BYTES - prefix.len() - suffix.len();
    if middle.len() <= room {
        return format!("{prefix}{middle}{suffix}");
    }
    let digest = format!("~{:016x}", fnv1a(middle));
    let end = (0..=room - digest.len()).rev().find(|&at| middle.is_char_boundary(at));
    format!("{prefix}{}{digest}{suffix}", &middle[..end.unwrap_or(0)])
}

/// The 64-bit FNV-1a hash: short, and the same in every version of this crate.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::StorageKey;

    const ROOTS: BucketRoots<'static> = BucketRoots { home: Some("/home/sam"), temp: Some("/tmp") };

    #[test]
    fn names_of_ordinary_and_odd_directories() {
        for (cwd, absolute, relative) in [
            ("/work/project", "--work-project--", "--work-project--"),
            ("/", "----", "----"),
            ("/a", "--a--", "--a--"),
            ("/a/b:c", "--a-b-c--", "--a-b-c--"),
            ("/a\\b", "--a-b--", "--a-b--"),
            ("/a-b/c", "--a-b-c--", "--a-b-c--"),
            ("/a/b-c", "--a-b-c--", "--a-b-c--"),
            ("/home/sam", "--home-sam--", "-"),
            ("/home/sam/", "--home-sam--", "-"),
            ("/home/sam/proj", "--home-sam-proj--", "-proj"),
            ("/home/sam/proj/sub dir", "--home-sam-proj-sub dir--", "-proj-sub dir"),
            ("/home/sam/-x", "--home-sam--x--", "--x"),
            ("/home/samx", "--home-samx--", "--home-samx--"),
            ("/tmp", "--tmp--", "-tmp"),
            ("/tmp/x", "--tmp-x--", "-tmp-x"),
            ("/tmp/x/y", "--tmp-x-y--", "-tmp-x-y"),
            ("/tmpx", "--tmpx--", "--tmpx--"),
            ("/wörk/日本", "--wörk-日本--", "--wörk-日本--"),
            ("/srv/with space/x", "--srv-with space-x--", "--srv-with space-x--"),
            ("/--x--", "----x----", "----x----"),
            ("/work/a.b", "--work-a.b--", "--work-a.b--"),
            ("C:\\work\\app", "--C--work-app--", "--C--work-app--"),
            ("", "----", "----"),
        ] {
            assert_eq!(BucketScheme::Absolute.bucket_name(cwd, &ROOTS), absolute, "{cwd}");
            assert_eq!(BucketScheme::Relative.bucket_name(cwd, &ROOTS), relative, "{cwd}");
        }
    }

    #[test]
    fn roots_are_tried_in_order_and_may_be_missing() {
        let name = |cwd, roots: &BucketRoots<'_>| BucketScheme::Relative.bucket_name(cwd, roots);
        let nested = BucketRoots { home: Some("/tmp/home/"), temp: Some("/tmp/") };
        assert_eq!(name("/tmp/home/x", &nested), "-tmp-home-x");
        let windows = BucketRoots { home: Some("C:\\Users\\sam"), temp: None };
        assert_eq!(name("C:\\Users\\sam\\src\\app", &windows), "-src-app");
        let unusual = BucketRoots { home: Some("/"), temp: Some("") };
        assert_eq!(name("/srv/x", &unusual), "-srv-x");
        assert_eq!(name("/tmp/x", &BucketRoots::default()), "--tmp-x--");
    }

    #[test]
    fn a_long_directory_has_a_short_name_of_its_own() {
        let long = |last: &str| format!("/{}{last}", "日本/".repeat(100));
        let names = ["a", "b"].map(|last| BucketScheme::Absolute.bucket_name(&long(last), &ROOTS));
        assert_eq!(names[0], format!("--{}日本-~a68ffeb9e3eabcd8--", "日本-".repeat(30)));
        assert_ne!(names[0], names[1]);
        assert!(names[0].starts_with("--日本-") && StorageKey::new(&names[0]).is_ok());
        let fits = "x".repeat(MAX_SEGMENT_BYTES - 4);
        let name = BucketScheme::Absolute.bucket_name(&fits, &ROOTS);
        assert_eq!(name, format!("--{fits}--"));
    }
}
