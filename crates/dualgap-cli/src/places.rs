//! Checks of output paths before the work begins, so that no result is lost at the end.

use crate::args::{DataArgs, KeptArgs};
use dualgap::container::check_link;
use dualgap::data::{FileLock, Source};
use dualgap::task::Checkpoints;
use dualgap::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Returns an error if an output would replace an input file or another output.
pub fn check_not_inputs<'p>(
    outputs: impl Iterator<Item = &'p PathBuf>,
    data: &DataArgs,
) -> Result<()> {
    let inputs = [
        Some(&data.data),
        data.test.as_ref(),
        data.sample_weights.as_ref(),
        data.layout.features.as_ref(),
    ];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    let mut places: Vec<PathBuf> = Vec::new();
    for output in outputs {
        check_not_read(output, &inputs)?;
        let place = std::path::absolute(output).unwrap_or_else(|_| output.clone());
        let is_file = output.is_file() || !output.exists(); // and not /dev/null
        if is_file && places.contains(&place) {
            return Err(Error::file(
                output,
                "is named for two results, of which one would be lost",
                "give each a file of its own",
            ));
        }
        places.push(place);
    }
    Ok(())
}

/// Checks that a checkpoint would replace only the one that the run resumes from. The returned lock keeps other runs
/// from the file until the run begins.
pub fn check_checkpoint(kept: &KeptArgs) -> Result<Option<FileLock>> {
    let (Some(path), Some(checkpoints)) = (&kept.checkpoint, kept.checkpoints()) else {
        return Ok(None);
    };
    let lock = checkpoints.lock()?;
    check_writable(path, "the checkpoint")?;
    let goes_on = kept.resume.as_ref().is_some_and(|resume| same(resume, path));
    if !path.exists() || goes_on {
        return Ok(Some(lock));
    }
    Err(if Checkpoints::is_one(path) {
        Error::file(
            path,
            "holds a checkpoint already, which would be lost",
            "go on from it with --resume, or name another file",
        )
    } else {
        Error::file(path, "is there and is no checkpoint", "name another file")
    })
}

fn same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Checks that the model can be written, so that the user does not learn otherwise after an hour of training.
pub fn check_writable(path: &Path, what: &str) -> Result<()> {
    let unwritable = |error: std::io::Error| {
        Error::file(
            path,
            format!("cannot be written: {error}"),
            "does the folder exist, and may you write there?",
        )
    };
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Error::file(path, "is a folder", format!("name a file for {what}")));
    }
    if Source::is_stdin(path) {
        return Err(Error::file(path, "is no file", format!("name a file for {what}")));
    }
    check_link(path)?;
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let remedy = format!("name a file for {what}");
            return Err(Error::file(path, "is not a plain file", remedy));
        }
        // An existing file stays as it is until the new model replaces it.
        Ok(_) => drop(File::options().append(true).open(path).map_err(unwritable)?),
        // Only creating the file shows whether its name can be used.
        Err(_) => {
            File::create_new(path).map_err(unwritable)?;
            std::fs::remove_file(path).map_err(unwritable)?;
        }
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map_err(unwritable)?;
    Ok(())
}

/// Returns an error if the output would replace an input.
pub fn check_not_read(output: &Path, inputs: &[&Path]) -> Result<()> {
    // A file that does not exist yet has no canonical path, and cannot be an input either.
    let Ok(place) = output.canonicalize() else { return Ok(()) };
    let is_place = |input: PathBuf| input.canonicalize().is_ok_and(|input| input == place);
    if inputs.iter().flat_map(|input| files_of(input)).any(is_place) {
        return Err(Error::file(
            output,
            "is read here and would be overwritten",
            "name another file to write to",
        ));
    }
    Ok(())
}

/// Returns what is read where a path is named: the file, or the files of a prefix.
fn files_of(input: &Path) -> Vec<PathBuf> {
    if input.exists() {
        return vec![input.to_path_buf()];
    }
    ["e", "f", "a"].into_iter().filter_map(|ending| Source::with_ending(input, ending)).collect()
}
