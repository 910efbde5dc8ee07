//! `dualgap convert`: writes data as a LIBSVM file, with their own features, those of random binning, products of two
//! of them, or their inner products with atoms; as a data file, which is mapped; sequences as CRFsuite's attributes; or column
//! files in another label scheme.

use crate::args::ConvertArgs;
use crate::places::{check_not_read, check_writable};
use crate::words::{aligned, number, percent, thousands, to_json};
use crate::{Outcome, convert_mapped, formats, print};
use dualgap::data::{
    AtomProducts, Conversion, DataFile, DegreeTwo, Examples, FeatureMap, Format, Loaded,
    RandomBinning, Recipe, Scheme, Sink, Source, Written,
};
use dualgap::{Error, Result};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Converts a file. The report goes to standard error if the data go to standard output.
pub fn run(args: &ConvertArgs) -> Result<Outcome> {
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    check(args, output)?;
    // This fails only if there is a global pool already, and there is none.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global();
    if args.attributes {
        return write_attributes(args, output);
    }
    if let Some(scheme) = args.labels {
        return write_labels(args, scheme, output);
    }
    if DataFile::is_named(output) {
        return convert_mapped::run(args, output);
    }
    let (conversion, data) = match &args.map {
        None => first(args)?,
        Some(map) => {
            let conversion = Conversion::load(map)?;
            let folds = args.folds.as_ref().map(|folds| folds.0.clone());
            let data = conversion.read(Source::open(&args.data)?, folds)?;
            (conversion, data)
        }
    };
    let mut sink = Sink::create_named(output)?;
    let written = conversion.write(&data, &mut sink)?;
    if let Some(path) = &args.save_map {
        let mut map = Sink::create(path)?;
        conversion.save(&mut map)?;
        map.finish()?;
    }
    if let Some(path) = &args.save_names {
        let mut names = Sink::create(path)?;
        conversion.write_names(&mut names)?;
        names.finish()?;
    }
    sink.finish()?;
    let told = Told { args, conversion: &conversion, data: &data, written };
    if args.json {
        print(&told.json())?;
    } else if !args.quiet && Source::is_stdin(output) {
        // A failure to write to standard error cannot be reported anywhere.
        let _ = write!(std::io::stderr(), "{}", told.table());
    } else if !args.quiet {
        print(&told.table())?;
    }
    Ok(Outcome::Reached)
}

/// Writes sequences as CRFsuite's attributes.
fn write_attributes(args: &ConvertArgs, output: &Path) -> Result<Outcome> {
    let mut source = Source::open(&args.data)?;
    let format = formats::format(&args.layout, Format::guess_sequences(&source.head()?))?;
    let folds = args.folds.as_ref().map(|folds| folds.0.clone());
    let data = Recipe { folds, ..Recipe::whole(format) }.sequences(source, None)?.data;
    let mut sink = Sink::create_named(output)?;
    data.write_attributes(&mut sink)?;
    sink.finish()?;
    let (sequences, positions) = (data.len(), data.rows().len());
    if args.json {
        let features = data.rows().width();
        print(&to_json(&AttributesJson { sequences, positions, features }))?;
    } else if !args.quiet {
        // A failure to write to standard error cannot be reported anywhere.
        let counts = [sequences, positions].map(|count| thousands(count as u64));
        let [sequences, positions] = counts;
        let _ = writeln!(std::io::stderr(), "{sequences} sequences of {positions} positions");
    }
    Ok(Outcome::Reached)
}

/// Writes a column file with its labels in a scheme, and notes where it breaks its own.
fn write_labels(args: &ConvertArgs, scheme: Scheme, output: &Path) -> Result<Outcome> {
    let mut source = Source::open(&args.data)?;
    let format = formats::format(&args.layout, Format::guess_sequences(&source.head()?))?;
    let Format::Columns(recipe) = format else {
        let message = format!("--labels is for column files, and this is {}", format.name());
        return Err(Error::setting(message));
    };
    let mut sink = Sink::create_named(output)?;
    let column = recipe.pick.last().copied();
    let told = scheme.rewrite(source, recipe.encoding, column, &mut sink)?;
    sink.finish()?;
    if args.json {
        print(&to_json(&LabelsJson {
            sequences: told.sentences,
            positions: told.tokens,
            from: told.found,
            to: scheme,
            mistakes: told.mistakes,
            first_mistake: told.first.as_ref().map(|(line, _)| *line),
        }))?;
    } else if !args.quiet {
        // A failure to write to standard error cannot be reported anywhere.
        let counts = [told.sentences, told.tokens].map(|count| thousands(count as u64));
        let [sentences, tokens] = counts;
        let from = told.found.map_or("no chunks", Scheme::name);
        let _ = writeln!(
            std::io::stderr(),
            "{sentences} sentences of {tokens} tokens: {from} to {}",
            scheme.name()
        );
        if let (Some(found), Some((line, label))) = (told.found, &told.first) {
            let more = match told.mistakes {
                1 => String::new(),
                count => format!(", the first of {} such places", thousands(count as u64)),
            };
            let _ = writeln!(
                std::io::stderr(),
                "note: {}:{line}: {label} is not {} here{more}; chunks are read as in the CoNLL shared tasks",
                args.data.display(),
                found.name()
            );
        }
    }
    Ok(Outcome::Reached)
}

#[derive(Serialize)]
struct LabelsJson {
    sequences: usize,
    positions: usize,
    from: Option<Scheme>,
    to: Scheme,
    mistakes: usize,
    first_mistake: Option<u64>,
}

#[derive(Serialize)]
struct AttributesJson {
    sequences: usize,
    positions: usize,
    features: usize,
}

/// Checks everything that can be checked before the work begins.
fn check(args: &ConvertArgs, output: &Path) -> Result<()> {
    let (map, atoms) = (args.map.as_ref(), args.atoms.as_ref());
    let inputs = [Some(&args.data), map, atoms, args.layout.features.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(AsRef::as_ref).collect();
    if !Source::is_stdin(output) {
        check_not_read(output, &inputs)?;
        check_writable(output, "the data")?;
    } else if args.json {
        return Err(Error::setting(
            "standard output has the data, so --json needs a file for them: name one with -o",
        ));
    }
    for (path, what) in [(&args.save_map, "the map"), (&args.save_names, "the names")] {
        let Some(path) = path else { continue };
        check_not_read(path, &inputs)?;
        check_writable(path, what)?;
        if same(path, output) {
            let remedy = format!("name another file for {what}");
            return Err(Error::file(path, "is where the data go", remedy));
        }
    }
    match (&args.save_map, &args.save_names) {
        (Some(map), Some(names)) if same(map, names) => {
            Err(Error::file(names, "is where the map goes", "name another file for the names"))
        }
        _ => Ok(()),
    }
}

/// Whether two paths are the same file.
fn same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|o| o == one))
}

/// Reads a first file, which decides the features and labels.
fn first(args: &ConvertArgs) -> Result<(Conversion, Loaded<Examples>)> {
    let mut source = Source::open(&args.data)?;
    formats::check_mapped(&args.layout, &source)?;
    let format = formats::format(&args.layout, Format::guess_examples(&source.head()?))?;
    let folds = args.folds.as_ref().map(|folds| folds.0.clone());
    let data = Recipe { folds, ..Recipe::whole(format) }.examples(source, None)?;
    let rows = data.data.rows();
    let fit = |grids: usize| {
        let bandwidth = args.bandwidth.map_or_else(|| RandomBinning::median_distance(rows), Ok)?;
        RandomBinning::fit(rows, grids, bandwidth, args.seed)
    };
    let blame = |error: Error| {
        Error::file(&args.data, error.to_string(), "see --random-binning and --bandwidth")
    };
    let binning = args.random_binning.map(fit).transpose().map_err(blame)?;
    let conversion = Conversion::new(&data, binning);
    if args.degree.is_some() {
        let products = DegreeTwo::fit(rows).map_err(|error| {
            Error::file(&args.data, error.to_string(), "see --degree and --random-binning")
        })?;
        return Ok((conversion.with(FeatureMap::DegreeTwo(products)), data));
    }
    if let Some(path) = &args.atoms {
        let atoms = read_atoms(path, &conversion)?;
        return Ok((conversion.with(FeatureMap::Atoms(atoms)), data));
    }
    Ok((conversion, data))
}

/// Reads atoms, which are rows of the same features; labels that they have do not count.
fn read_atoms(path: &Path, conversion: &Conversion) -> Result<AtomProducts> {
    let atoms = conversion.read(Source::open(path)?, None)?;
    if atoms.unseen.features > 0 {
        return Err(Error::file(
            path,
            format!("has {} values of features that the data do not have", atoms.unseen.features),
            "an atom has the features of the data: leave the others out",
        ));
    }
    AtomProducts::new(atoms.data.rows(), conversion.features())
        .map_err(|error| Error::file(path, error.to_string(), "see --atoms"))
}

/// What there is to tell.
struct Told<'a> {
    args: &'a ConvertArgs,
    conversion: &'a Conversion,
    data: &'a Loaded<Examples>,
    written: Written,
}

#[derive(Serialize)]
struct Json<'a> {
    n: usize,
    features: usize,
    entries: u64,
    labelled: bool,
    /// Labels that are no numbers, and what they are written as.
    labels: Vec<(&'a str, usize)>,
    binning: Option<BinningJson>,
    /// The degree of products, if there are any.
    degree: Option<u32>,
    /// The number of atoms, if there are any.
    atoms: Option<usize>,
    unseen_products: u64,
    unseen_bins: u64,
    unseen_features: u64,
    unseen_labels: &'a [String],
    version: &'static str,
}

#[derive(Serialize)]
struct BinningJson {
    grids: usize,
    dimension: usize,
    bandwidth: f64,
    bandwidth_from: &'static str,
}

impl Told<'_> {
    fn json(&self) -> String {
        let binning = self.conversion.binning().map(|binning| BinningJson {
            grids: binning.grids(),
            dimension: binning.dimension(),
            bandwidth: binning.bandwidth(),
            bandwidth_from: self.bandwidth_from(),
        });
        to_json(&Json {
            n: self.data.data.len(),
            features: self.conversion.features(),
            entries: self.written.entries,
            labelled: self.data.labelled,
            labels: self.conversion.renamed(),
            binning,
            degree: matches!(self.conversion.map(), FeatureMap::DegreeTwo(_)).then_some(2),
            atoms: match self.conversion.map() {
                FeatureMap::Atoms(atoms) => Some(atoms.len()),
                _ => None,
            },
            unseen_products: self.written.unseen_products,
            unseen_bins: self.written.unseen_bins,
            unseen_features: self.data.unseen.features,
            unseen_labels: &self.data.unseen.labels,
            version: env!("CARGO_PKG_VERSION"),
        })
    }

    fn bandwidth_from(&self) -> &'static str {
        match (&self.args.map, self.args.bandwidth) {
            (Some(_), _) => "map",
            (None, Some(_)) => "given",
            (None, None) => "median",
        }
    }

    fn table(&self) -> String {
        let Self { args, conversion, data, written } = self;
        let n = data.data.len();
        let format = data.recipe.format.name();
        let count = thousands(conversion.features() as u64);
        let mut rows = vec![("examples", format!("{} of a {format} file", thousands(n as u64)))];
        if let Some(binning) = conversion.binning() {
            let (grids, dimension) = (binning.grids() as u64, binning.dimension() as u64);
            let of = format!(
                "bins of {} grids in {} dimensions",
                thousands(grids),
                thousands(dimension)
            );
            rows.push(("features", format!("{count}, the {of}")));
            let from = match self.bandwidth_from() {
                "map" => ", of the map",
                "median" => ", the median distance of two rows",
                _ => "",
            };
            rows.push(("bandwidth", format!("{}{from}", number(binning.bandwidth()))));
        } else {
            let from = match conversion.map() {
                FeatureMap::DegreeTwo(map) => {
                    let (own, pairs) = (map.dimension() as u64, map.pairs().len() as u64);
                    format!(": {} of the data, {} products", thousands(own), thousands(pairs))
                }
                FeatureMap::Atoms(_) => ", the inner products with as many atoms".into(),
                _ => String::new(),
            };
            rows.push(("features", format!("{count}{from}")));
        }
        rows.push(("entries", thousands(written.entries)));
        rows.extend(self.label_row());
        let unseen = &data.unseen;
        let share = |part: u64, of: u64| percent(part as f64 / of.max(1) as f64);
        if written.unseen_bins > 0 {
            let share = share(written.unseen_bins, written.entries + written.unseen_bins);
            rows.push(("unseen", format!("{share} of the bins, which are left out")));
        }
        if written.unseen_products > 0 {
            let share = share(written.unseen_products, written.entries + written.unseen_products);
            rows.push(("unseen", format!("{share} of the entries, products that are left out")));
        }
        if unseen.features > 0 {
            let share = share(unseen.features, unseen.met);
            rows.push(("unseen", format!("{share} of the features met, which are left out")));
        }
        if !unseen.labels.is_empty() {
            rows.push(("unseen", format!("the labels {}", unseen.labels.join(", "))));
        }
        for path in [&args.output, &args.save_map, &args.save_names]
            .into_iter()
            .flatten()
            .filter(|path| !Source::is_stdin(path))
        {
            rows.push(("written", path.display().to_string()));
        }
        aligned(&rows)
    }

    /// Returns the row about labels; the first few are enough to show the order.
    fn label_row(&self) -> Option<(&'static str, String)> {
        const SHOWN: usize = 8;
        let renamed = self.conversion.renamed();
        let mut told: Vec<String> =
            renamed.iter().take(SHOWN).map(|(name, k)| format!("{name} = {k}")).collect();
        if renamed.len() > SHOWN {
            told.push("…".into());
        }
        (!told.is_empty() && self.data.labelled).then(|| ("labels", told.join(", ")))
    }
}
