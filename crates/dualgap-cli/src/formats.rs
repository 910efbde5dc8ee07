//! How to read a file: the format and the features that the user asked for, or a guess.

use crate::args::{LayoutArgs, parse_column};
use crate::choices;
use dualgap::data::{ColumnRecipe, CsvRecipe, Format, Hashing, Source};
use dualgap::{Error, Result};
use std::path::Path;

/// Returns the format that the user asked for, or the one that the file looks like, with its options.
pub fn format(args: &LayoutArgs, guess: Format) -> Result<Format> {
    let mut format = match args.format {
        None => guess,
        Some(choices::Format::Libsvm) => Format::Libsvm,
        Some(choices::Format::Letters) => Format::Letters,
        Some(choices::Format::Csv) => Format::Csv(CsvRecipe::default()),
        Some(choices::Format::Columns) => Format::Columns(ColumnRecipe::default()),
        Some(choices::Format::Edges) => Format::Edges,
        Some(choices::Format::Crfsuite) => Format::Attributes,
    };
    let name = format.name();
    let refuse = |given: bool, option: &str, other: &str| {
        if !given {
            return Ok(());
        }
        Err(Error::setting(format!(
            "{option} is for {other} files, and this is read as a {name} file; say --format if \
             that is wrong"
        )))
    };
    if let Format::Csv(recipe) = &mut format {
        recipe.label.clone_from(&args.label);
        recipe.categorical.clone_from(&args.categorical);
    } else {
        let columns = matches!(format, Format::Columns(_));
        refuse(args.label.is_some() && !columns, "--label", "csv and CoNLL-U")?;
        refuse(!args.categorical.is_empty(), "--categorical", "csv")?;
    }
    if let Format::Columns(recipe) = &mut format {
        *recipe = column_recipe(args)?;
    } else {
        refuse(args.features.is_some(), "--features", "column")?;
        refuse(args.min_count.is_some(), "--min-count", "column")?;
        refuse(args.lowercase, "--lowercase", "column")?;
        refuse(args.hash.is_some(), "--hash", "column")?;
        refuse(!args.columns.is_empty(), "--columns", "column")?;
        refuse(args.encoding != choices::Encoding::Utf8, "--encoding", "column")?;
    }
    Ok(format)
}

/// Refuses options about how a file is read for a data file, which says that itself.
pub fn check_mapped(args: &LayoutArgs, source: &Source<'_>) -> Result<()> {
    let given = args.format.is_some()
        || args.label.is_some()
        || args.features.is_some()
        || args.min_count.is_some()
        || args.lowercase
        || args.hash.is_some()
        || !args.categorical.is_empty()
        || !args.columns.is_empty()
        || args.encoding != choices::Encoding::Utf8;
    match source.mapped()? {
        Some(path) if given => Err(Error::file(
            &path,
            "is a data file, which says itself how its data were read",
            "leave out the options about the format; they belong to `dualgap convert`",
        )),
        _ => Ok(()),
    }
}

/// Returns a preset by its name, or the templates of a file.
fn column_recipe(args: &LayoutArgs) -> Result<ColumnRecipe> {
    let mut recipe = match &args.features {
        None => ColumnRecipe::default(),
        Some(name) if name.as_os_str() == "standard" => ColumnRecipe::default(),
        Some(path) => match path.to_str().and_then(ColumnRecipe::preset) {
            Some(preset) => preset,
            None if !path.exists() => {
                return Err(Error::file(
                    path,
                    "is no set of features, and no file",
                    "name a file of templates, `standard` or `paper-conll2000`",
                ));
            }
            None => {
                let mut source = Source::open(path)?;
                let mut templates = String::new();
                while let Some(line) = source.next_line()? {
                    templates.push_str(line);
                    templates.push('\n');
                }
                ColumnRecipe::from_templates(&path.display().to_string(), templates)?
            }
        },
    };
    // Of the standard features those that occur once are hardly worth their memory, and the file decides.
    let default = if recipe.templates.is_empty() { 0 } else { recipe.min_count };
    recipe.min_count = args.min_count.unwrap_or(default);
    recipe.lowercase |= args.lowercase;
    recipe.hash = args.hash.map(Hashing::new).transpose()?;
    recipe.pick.clone_from(&args.columns);
    if let Some(label) = &args.label {
        recipe.pick = conllu_columns(label, &args.columns)?;
    }
    recipe.encoding = args.encoding.into();
    Ok(recipe)
}

/// Returns the columns of a CoNLL-U file whose label has this name: the words, unless others are given.
fn conllu_columns(label: &str, given: &[usize]) -> Result<Vec<usize>> {
    let label = parse_column(label).map_err(|why| Error::setting(format!("--label {why}")))?;
    let mut columns = if given.is_empty() { vec![1] } else { given.to_vec() };
    columns.retain(|&column| column != label);
    if columns.is_empty() {
        return Err(Error::setting("--label and --columns leave no column to learn from"));
    }
    columns.push(label);
    Ok(columns)
}

/// Returns the error for a model whose data were no file.
pub fn from_memory(path: &Path) -> Error {
    Error::file(
        path,
        "does not say how its data file is read: it was trained from memory",
        "use it from the library, where its data are",
    )
}
