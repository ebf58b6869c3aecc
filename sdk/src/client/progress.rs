//! What a call reports while it runs.

/// One report of progress. The values of one call increase.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// How far it is.
    pub progress: f64,
    /// The value at the end, if it is known.
    pub total: Option<f64>,
    /// For a person.
    pub message: Option<Box<str>>,
}

impl Progress {
    /// How far it is in percent, if the end is known.
    pub fn percent(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total * 100.0).clamp(0.0, 100.0))
    }
}
