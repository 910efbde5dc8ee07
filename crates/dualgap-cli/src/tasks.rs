//! The tasks of the program, and how a command finds its task.

use crate::Outcome;
use crate::args::{AppraiseArgs, Cli, CvArgs, PathArgs, TrainArgs};
use crate::choices::{BallName, BinaryLoss, Format, RegressionLoss, SdcaOption, Solver};
use crate::options::{TaskOptions, Verb, Work, check};
use crate::path::claim::Claim;
use crate::problem::{
    AffineArgs, BinaryArgs, ChainArgs, ClassesArgs, CompletionArgs, LabelsArgs, MatchingArgs,
    OutputsArgs, PhaseArgs, RegressionArgs,
};
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, CommandFactory, ValueEnum};
use dualgap::data::Source;
use dualgap::structure::Structure;
use dualgap::task::{Description, Registry};
use dualgap::{Error, Result};
use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;

/// The tasks that a program knows.
pub struct Tasks {
    known: Vec<Box<dyn AnyTask>>,
    registry: Registry,
}

impl Tasks {
    /// Returns the tasks of this program, in the order in which its help has them.
    pub fn builtin() -> Self {
        Self { known: Vec::new(), registry: Registry::builtin() }
            .with::<BinaryArgs>()
            .with::<RegressionArgs>()
            .with::<ClassesArgs>()
            .with::<LabelsArgs>()
            .with::<OutputsArgs>()
            .with::<ChainArgs>()
            .with::<MatchingArgs>()
            .with::<CompletionArgs>()
            .with::<PhaseArgs>()
            .with::<AffineArgs>()
    }

    /// Adds a task, and its structure to those that models may have.
    #[must_use]
    pub fn with<T: TaskOptions + Args + 'static>(mut self) -> Self {
        self.known.push(Box::new(Of::<T>(PhantomData)));
        self.registry = self.registry.with::<T::Structure>();
        self
    }

    /// Returns the structures that models may have.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the declaration of all commands and options.
    pub(crate) fn command(&self) -> Command {
        self.declared(|_| true)
    }

    /// Returns the declaration of all commands, and of the options of those that these words name: the options of all tasks took
    /// four milliseconds of every process.
    pub(crate) fn command_for(&self, words: &[OsString]) -> Command {
        self.declared(|name| words.iter().any(|word| word == name))
    }

    fn declared(&self, named: impl Fn(&str) -> bool) -> Command {
        let verbs = Verb::ALL.map(|verb| {
            let named = |task: &dyn AnyTask| named(verb.name()) && task.names().any(&named);
            Command::new(verb.name())
                .about(verb.about())
                .subcommand_required(true)
                .arg_required_else_help(true)
                .disable_help_subcommand(true)
                .display_order(0)
                .subcommands(self.known.iter().filter(|task| task.takes(verb)).map(|task| {
                    if named(&**task) { task.command(verb) } else { task.outline(verb) }
                }))
        });
        Cli::command().subcommands(verbs)
    }

    /// Runs a command that trains, or returns `None` for any other.
    pub(crate) fn run(&self, matches: &ArgMatches) -> Option<Result<Outcome>> {
        let (verb, matches) = matches.subcommand()?;
        let verb = Verb::ALL.into_iter().find(|known| known.name() == verb)?;
        let (name, matches) = matches.subcommand()?;
        let task = self.known.iter().find(|task| task.name() == name)?;
        Some(task.run(verb, matches))
    }

    /// Verifies the path that a folder claims to have.
    pub(crate) fn check_path(
        &self,
        structure: &str,
        claim: &Claim<'_>,
        source: Source<'_>,
    ) -> Result<(usize, Description)> {
        match self.known.iter().find(|task| task.structure() == structure) {
            Some(task) => task.check_path(claim, source),
            None => Err(Error::UnknownStructure {
                file: claim.folder.display().to_string(),
                structure: structure.into(),
            }),
        }
    }
}

/// A task whose type is not known.
trait AnyTask {
    fn name(&self) -> &'static str;
    fn structure(&self) -> &'static str;
    /// The name, and others that a command may have in its place.
    fn names(&self) -> Box<dyn Iterator<Item = &'static str>>;
    fn takes(&self, verb: Verb) -> bool;
    /// The declaration without options.
    fn outline(&self, verb: Verb) -> Command;
    fn command(&self, verb: Verb) -> Command;
    fn run(&self, verb: Verb, matches: &ArgMatches) -> Result<Outcome>;
    fn check_path(&self, claim: &Claim<'_>, source: Source<'_>) -> Result<(usize, Description)>;
}

struct Of<T>(PhantomData<T>);

impl<T: TaskOptions + Args> AnyTask for Of<T> {
    fn name(&self) -> &'static str {
        T::COMMAND
    }

    fn structure(&self) -> &'static str {
        T::Structure::NAME
    }

    fn takes(&self, verb: Verb) -> bool {
        T::APPRAISED || verb != Verb::Appraise
    }

    fn names(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(std::iter::once(T::COMMAND).chain(T::ALIASES.iter().copied()))
    }

    fn outline(&self, verb: Verb) -> Command {
        Command::new(T::COMMAND)
            .visible_aliases(T::ALIASES)
            .about(T::ABOUT.trim_end_matches('.'))
            .hide(T::NO_LAMBDA.is_some() && verb != Verb::Train)
    }

    fn command(&self, verb: Verb) -> Command {
        let about = T::ABOUT.trim_end_matches('.').to_string();
        let command = self.outline(verb).after_help(T::examples(verb));
        if T::NO_LAMBDA.is_some() && verb != Verb::Train {
            // Known, and not shown, so that the error can say what to do.
            let any = Arg::new("options")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .hide(true);
            return command.arg(any).disable_help_flag(true);
        }
        let command = match verb {
            Verb::Train => TrainArgs::augment_args(command),
            Verb::Cv => CvArgs::augment_args(command),
            Verb::Path => PathArgs::augment_args(command),
            Verb::Appraise => AppraiseArgs::augment_args(command),
        };
        // The comments on the structs of options are for readers of the code.
        let command = T::augment_args(command).about(about.clone()).long_about(about);
        let unseen = T::REFUSES.iter().map(|(name, _)| *name).chain(T::HIDES.iter().copied());
        let command = unseen.fold(command, |command, name| match id_of(&command, name) {
            Some(id) => command.mut_arg(id, |argument| argument.hide(true)),
            // An option of other tasks: known, and not shown, so that the error can say what to do.
            None if verb == Verb::Train => command.arg(
                Arg::new(name).long(name).num_args(0..=1).allow_hyphen_values(true).hide(true),
            ),
            None => command,
        });
        T::REFUSED_VALUES.iter().fold(command, |command, (name, _)| {
            let refused = refused_values::<T>(name);
            match id_of(&command, name) {
                Some(id) => command.mut_arg(id, |argument| without(argument, refused)),
                None => command,
            }
        })
    }

    fn run(&self, verb: Verb, matches: &ArgMatches) -> Result<Outcome> {
        if let Some(why) = T::NO_LAMBDA
            && verb != Verb::Train
        {
            return Err(Error::setting(format!("`{}` is about λ, and {why}", verb.name())));
        }
        let command = self.command(verb);
        for (name, remedy) in T::REFUSES {
            let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
            if id_of(&command, name).is_some_and(|id| given(&id)) {
                let task = T::COMMAND;
                return Err(Error::setting(format!("--{name} does not go with {task}: {remedy}")));
            }
        }
        match verb {
            Verb::Train => go::<TrainArgs, T>(&command, matches),
            Verb::Cv => go::<CvArgs, T>(&command, matches),
            Verb::Path => go::<PathArgs, T>(&command, matches),
            Verb::Appraise => go::<AppraiseArgs, T>(&command, matches),
        }
    }

    fn check_path(&self, claim: &Claim<'_>, source: Source<'_>) -> Result<(usize, Description)> {
        claim.check::<T::Structure>(source)
    }
}

fn go<W: Work, T: TaskOptions + Args>(command: &Command, matches: &ArgMatches) -> Result<Outcome> {
    // The same declaration has parsed them.
    let broken = |error: clap::Error| Error::setting(error.to_string());
    let (work, task) = (
        W::from_arg_matches(matches).map_err(broken)?,
        T::from_arg_matches(matches).map_err(broken)?,
    );
    // The library knows all solvers and not those of a task; of other values it knows why they are refused.
    let of_solvers = |name: &str| name == "solver";
    check_values::<T>(command, matches, of_solvers)?;
    check(&task, &work.common())?;
    check_values::<T>(command, matches, |name| !of_solvers(name))?;
    task.run(&work)
}

/// Returns all values of an option that a task refuses.
fn refused_values<T: TaskOptions>(name: &str) -> Vec<&'static str> {
    let of_this = T::REFUSED_VALUES.iter().filter(|(option, _)| *option == name);
    of_this.flat_map(|(_, values)| *values).copied().collect()
}

/// Returns an error if a value was given that the task refuses, of the options that are chosen by their long names.
fn check_values<T: TaskOptions>(
    command: &Command,
    matches: &ArgMatches,
    chosen: impl Fn(&str) -> bool,
) -> Result<()> {
    for (name, _) in T::REFUSED_VALUES.iter().filter(|(name, _)| chosen(name)) {
        let of_this = |argument: &&Arg| argument.get_long() == Some(name);
        let Some(argument) = command.get_arguments().find(of_this) else { continue };
        let Ok(Some(mut given)) = matches.try_get_raw(argument.get_id().as_str()) else { continue };
        let Some(given) = given.next().and_then(|given| given.to_str()) else { continue };
        let (refused, others): (Vec<PossibleValue>, Vec<PossibleValue>) =
            argument.get_possible_values().into_iter().partition(PossibleValue::is_hide_set);
        if refused.iter().any(|value| value.matches(given, false)) {
            let others: Vec<&str> = others.iter().map(PossibleValue::get_name).collect();
            let task = T::COMMAND;
            return Err(Error::setting(format!(
                "--{name} {given} does not go with {task}: it takes {}",
                others.join(", ")
            )));
        }
    }
    Ok(())
}

/// Leaves values out of what is shown of an option. They are parsed all the same, so that the error can say what to do.
fn without(argument: Arg, refused: Vec<&'static str>) -> Arg {
    let holds = argument.get_value_parser().type_id();
    if holds == TypeId::of::<Solver>() {
        argument.value_parser(Shown::<Solver>::but(refused))
    } else if holds == TypeId::of::<Format>() {
        argument.value_parser(Shown::<Format>::but(refused))
    } else if holds == TypeId::of::<SdcaOption>() {
        argument.value_parser(Shown::<SdcaOption>::but(refused))
    } else if holds == TypeId::of::<BallName>() {
        argument.value_parser(Shown::<BallName>::but(refused))
    } else if holds == TypeId::of::<BinaryLoss>() {
        argument.value_parser(Shown::<BinaryLoss>::but(refused))
    } else if holds == TypeId::of::<RegressionLoss>() {
        argument.value_parser(Shown::<RegressionLoss>::but(refused))
    } else {
        argument
    }
}

/// Parses a choice as ever, and shows some of its values only.
#[derive(Clone)]
struct Shown<T> {
    hidden: Vec<&'static str>,
    of: PhantomData<T>,
}

impl<T> Shown<T> {
    fn but(hidden: Vec<&'static str>) -> Self {
        Self { hidden, of: PhantomData }
    }
}

impl<T: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Shown<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<T, clap::Error> {
        EnumValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(all.map(|value| {
            let hidden = self.hidden.contains(&value.get_name());
            if hidden { value.hide(true) } else { value }
        })))
    }
}

/// Returns clap's name of an option.
fn id_of(command: &Command, long: &str) -> Option<String> {
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(long))?;
    Some(argument.get_id().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_of_the_options_is_consistent() {
        Tasks::builtin().command().debug_assert();
    }

    /// What a command declares for its own words is what all of it would declare.
    #[test]
    fn words_find_the_options_that_they_name() {
        let tasks = Tasks::builtin();
        let all = tasks.command();
        let ids = |command: &Command| -> Vec<String> {
            command.get_arguments().map(|argument| argument.get_id().to_string()).collect()
        };
        for verb in all.get_subcommands().filter(|verb| verb.has_subcommands()) {
            for task in verb.get_subcommands() {
                for name in [task.get_name()].into_iter().chain(task.get_all_aliases()) {
                    let words = ["dualgap", verb.get_name(), name, "x"].map(OsString::from);
                    let mut some = tasks.command_for(&words);
                    let same = some.find_subcommand(verb.get_name()).unwrap();
                    let same = same.find_subcommand(name).unwrap();
                    assert_eq!(ids(same), ids(task), "{words:?}");
                    assert_eq!(
                        some.render_help().to_string(),
                        all.clone().render_help().to_string()
                    );
                }
            }
            let mut some = tasks.command_for(&["dualgap", verb.get_name()].map(OsString::from));
            let short = some.find_subcommand_mut(verb.get_name()).unwrap();
            assert_eq!(short.render_help().to_string(), verb.clone().render_help().to_string());
        }
    }

    #[test]
    fn the_book_has_every_option() {
        let book = include_str!("../../../docs/command-line.md");
        let mut commands = vec![Tasks::builtin().command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let named = book.contains(&format!("--{option}"));
                assert!(named || option == "help" || option == "version", "--{option}");
            }
        }
    }

    /// An option that a task refuses and that no command has would be refused by nobody.
    #[test]
    fn every_option_that_a_task_refuses_is_one() {
        let command = Tasks::builtin().command();
        for task in command.find_subcommand("train").unwrap().get_subcommands() {
            let hidden = task.get_arguments().filter(|argument| argument.is_hide_set()).count();
            let expected = refused_by(task.get_name());
            assert_eq!(hidden, expected, "{}", task.get_name());
        }
    }

    /// A value that a task refuses and that its option does not have would hide nothing.
    #[test]
    fn every_value_that_a_task_refuses_is_one() {
        fn check<T: TaskOptions + Args>() {
            let command = Of::<T>(PhantomData).command(Verb::Train);
            for (name, values) in T::REFUSED_VALUES {
                let of_this = |argument: &&Arg| argument.get_long() == Some(name);
                let known = command.get_arguments().find(of_this).unwrap().get_possible_values();
                for value in *values {
                    let hides =
                        |known: &PossibleValue| known.get_name() == *value && known.is_hide_set();
                    assert!(known.iter().any(hides), "{} --{name} {value}", T::COMMAND);
                }
            }
        }
        check::<BinaryArgs>();
        check::<RegressionArgs>();
        check::<ClassesArgs>();
        check::<LabelsArgs>();
        check::<OutputsArgs>();
        check::<ChainArgs>();
        check::<MatchingArgs>();
        check::<CompletionArgs>();
        check::<PhaseArgs>();
        check::<AffineArgs>();
    }

    fn refused_by(name: &str) -> usize {
        fn refused<T: TaskOptions>() -> (&'static str, usize) {
            (T::COMMAND, T::REFUSES.len() + T::HIDES.len())
        }
        let all = [
            refused::<BinaryArgs>(),
            refused::<RegressionArgs>(),
            refused::<ClassesArgs>(),
            refused::<LabelsArgs>(),
            refused::<OutputsArgs>(),
            refused::<ChainArgs>(),
            refused::<MatchingArgs>(),
            refused::<CompletionArgs>(),
            refused::<PhaseArgs>(),
            refused::<AffineArgs>(),
        ];
        all.into_iter().find(|(task, _)| *task == name).expect(name).1
    }
}
