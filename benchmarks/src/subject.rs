//! What is measured.

use std::path::PathBuf;

use clap::Args;

/// The program that is measured, with what reports say of it.
#[derive(Clone, Debug, Args)]
pub struct Subject {
    /// The top of the repository
    #[arg(long, value_name = "FOLDER")]
    pub repository: PathBuf,
    /// The release build of avr-tvar
    #[arg(long, value_name = "PROGRAM")]
    pub ours: PathBuf,
    /// Its revision, for the report
    #[arg(long, value_name = "TEXT")]
    pub revision: String,
    /// Today, as YYYY-MM-DD: the name of the results of a comparison
    #[arg(long, value_name = "DATE")]
    pub date: String,
}
