//! Data that are not bundled, and where they lie.

use clap::Args;
use dualgap::data::{Examples, Source, TargetKind};
use dualgap::{Error, Result};
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct Folder {
    /// The folder of the data sets [default: $DUALGAP_DATA].
    #[arg(long)]
    data: Option<PathBuf>,
}

impl Folder {
    fn path(&self) -> Result<PathBuf> {
        let named = self.data.clone();
        named.or_else(|| std::env::var_os("DUALGAP_DATA").map(PathBuf::from)).ok_or_else(|| {
            Error::setting(
                "the data are not bundled: name their folder with --data or DUALGAP_DATA",
            )
        })
    }

    /// A file of this name below the folder.
    pub fn open(&self, name: &str) -> Result<Source<'static>> {
        Source::open(&self.path()?.join(name))
    }

    /// The LIBSVM file `libsvm/NAME`, compressed or not.
    pub fn libsvm(&self, name: &str) -> Result<Examples> {
        let plain = self.path()?.join("libsvm").join(name);
        let compressed = plain.with_file_name(format!("{name}.gz"));
        Examples::read_libsvm(
            Source::open(if plain.exists() { &plain } else { &compressed })?,
            TargetKind::Class,
        )
    }
}
