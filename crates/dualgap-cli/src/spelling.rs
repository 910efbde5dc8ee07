//! Messages of the library in the words of the program, where settings are options.

use dualgap::{Error, Setting};
use std::error::Error as _;

/// Remedies of the library that are commands of the program.
const COMMANDS: [(&str, &str); 2] = [
    ("a prediction needs none", "`dualgap predict` labels it"),
    (
        "a multiclass model takes any number of classes",
        "`dualgap train multiclass` takes any number of classes",
    ),
];

/// Returns the option that stands for a setting.
fn option(setting: Setting) -> String {
    format!("--{}", setting.name().replace('_', "-"))
}

/// Puts options in the place of the settings that a message names.
pub fn in_options(message: &str) -> String {
    Setting::ALL.into_iter().fold(message.to_string(), |message, setting| {
        message.replace(&setting.to_string(), &option(setting))
    })
}

/// Returns the message of an error, the errors behind it as far as the message does not contain their words, and the
/// remedy.
pub fn of_error(error: &Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(cause) = behind {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}\n  cause: {words}");
        }
        behind = cause.source();
    }
    if let Some(remedy) = error.remedy() {
        let command = COMMANDS.into_iter().find(|(words, _)| *words == remedy);
        let remedy = command.map_or(remedy, |(_, command)| command);
        text = format!("{text}\n  help: {remedy}");
    }
    in_options(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tasks;

    fn options(command: &clap::Command, found: &mut Vec<String>) {
        found.extend(command.get_arguments().filter_map(|arg| arg.get_long()).map(String::from));
        command.get_subcommands().for_each(|command| options(command, found));
    }

    #[test]
    fn every_setting_is_an_option_of_the_program() {
        let mut found = Vec::new();
        options(&Tasks::builtin().command(), &mut found);
        for setting in Setting::ALL {
            assert!(found.contains(&option(setting)[2..].to_string()), "{setting}");
        }
    }

    #[test]
    fn settings_are_spelt_as_options() {
        let error = Error::file(
            "a.csv".as_ref(),
            format!("{} says that `n` has names", Setting::Categorical),
            format!("lower {}", Setting::MinCount),
        );
        let text = "a.csv: --categorical says that `n` has names\n  help: lower --min-count";
        assert_eq!(of_error(&error), text);
    }

    #[test]
    fn an_error_behind_another_is_told_once() {
        let cause = || std::io::Error::other("the disk is on fire");
        let file = |message: &str| Error::file("a".as_ref(), message, "run").caused_by(cause());
        let within = of_error(&file("cannot be read: the disk is on fire"));
        assert_eq!(within, "a: cannot be read: the disk is on fire\n  help: run");
        let apart = of_error(&file("cannot be read"));
        assert_eq!(apart, "a: cannot be read\n  cause: the disk is on fire\n  help: run");
    }
}
