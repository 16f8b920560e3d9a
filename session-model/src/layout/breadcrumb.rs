//! Breadcrumbs: which session a terminal worked in last.

/// What a terminal worked in last.
///
/// ```
/// use session_model::layout::Breadcrumb;
///
/// let text = "/work/project\n/home/sam/.xcsh/agent/sessions/--work-project--/a.jsonl\nfresh\n";
/// let crumb = Breadcrumb::parse(text).unwrap();
/// assert_eq!(crumb.cwd, "/work/project");
/// assert!(crumb.fresh);
/// assert_eq!(crumb.to_text().as_deref(), Some(text));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breadcrumb {
    /// The directory the terminal was in.
    pub cwd: String,
    /// The session's file.
    pub session_file: String,
    /// Whether the session is new and its file does not exist yet.
    pub fresh: bool,
    /// What the directory was, to know it again under another name.
    pub cwd_stat: Option<CwdStat>,
}

/// The identity of a directory on its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CwdStat {
    /// The device.
    pub dev: u64,
    /// The inode.
    pub ino: u64,
}

impl Breadcrumb {
    /// Reads a breadcrumb; `None` if it lacks the directory or the file.
    ///
    /// Lines this version does not know are passed over.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let mut needed = || lines.next().filter(|line| !line.is_empty()).map(str::to_owned);
        let mut crumb =
            Self { cwd: needed()?, session_file: needed()?, fresh: false, cwd_stat: None };
        for line in lines {
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("fresh") => crumb.fresh = true,
                Some("cwdstat") => {
                    let mut number = || words.next()?.parse().ok();
                    crumb.cwd_stat = number().zip(number()).map(|(dev, ino)| CwdStat { dev, ino });
                }
                _ => {}
            }
        }
        Some(crumb)
    }

    /// Returns the breadcrumb as text; `None` if a path is empty or holds a line end, which the
    /// form has no room for.
    pub fn to_text(&self) -> Option<String> {
        let fits = |path: &str| !path.is_empty() && !path.contains(['\n', '\r']);
        if !fits(&self.cwd) || !fits(&self.session_file) {
            return None;
        }
        let mut text = format!("{}\n{}\n", self.cwd, self.session_file);
        if self.fresh {
            text.push_str("fresh\n");
        }
        if let Some(CwdStat { dev, ino }) = self.cwd_stat {
            text.push_str(&format!("cwdstat {dev} {ino}\n"));
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for (fresh, cwd_stat) in
            [(false, None), (true, None), (true, Some(CwdStat { dev: 66, ino: u64::MAX }))]
        {
            let crumb = Breadcrumb {
                cwd: "/w x".into(),
                session_file: "/s/a.jsonl".into(),
                fresh,
                cwd_stat,
            };
            assert_eq!(Breadcrumb::parse(&crumb.to_text().unwrap()), Some(crumb));
        }
    }

    #[test]
    fn reads_what_others_write() {
        let plain =
            Breadcrumb { cwd: "/w".into(), session_file: "/s".into(), ..Default::default() };
        let stat = Some(CwdStat { dev: 1, ino: 2 });
        for (text, want) in [
            ("/w\n/s\n", Some(plain.clone())),
            ("/w\r\n/s", Some(plain.clone())),
            ("/w\n/s\nlater 1 2\n", Some(plain.clone())),
            ("/w\n/s\ncwdstat 1\n", Some(plain.clone())),
            ("/w\n/s\ncwdstat -1 2\n", Some(plain.clone())),
            ("/w\n/s\ncwdstat 1 2\n", Some(Breadcrumb { cwd_stat: stat, ..plain.clone() })),
            ("/w\n", None),
            ("\n/s\n", None),
            ("", None),
        ] {
            assert_eq!(Breadcrumb::parse(text), want, "{text:?}");
        }
        assert_eq!(Breadcrumb { cwd: "/a\nb".into(), ..plain.clone() }.to_text(), None);
        assert_eq!(Breadcrumb { session_file: String::new(), ..plain }.to_text(), None);
    }
}
