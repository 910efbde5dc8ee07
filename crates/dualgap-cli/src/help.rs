//! `dualgap help`, completions and manual pages, all from the single declaration of the options.

use crate::{Outcome, Tasks, print};
use clap::Command;
use dualgap::container::write_atomically;
use dualgap::{Error, Result};
use std::path::Path;

/// Names and texts. The tests run every `$ dualgap` line in them.
const TOPICS: [(&str, &str); 5] = [
    ("formats", include_str!("../help/formats.txt")),
    ("templates", include_str!("../help/templates.txt")),
    ("certificates", include_str!("../help/certificates.txt")),
    ("checkpoints", include_str!("../help/checkpoints.txt")),
    ("exit-codes", include_str!("../help/exit-codes.txt")),
];

/// Explains a topic or a command, or lists both.
pub fn run(about: &[String], tasks: &Tasks) -> Result<Outcome> {
    let Some(name) = about.first() else {
        let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
        let overview = tasks.command().render_help();
        print(&format!("{overview}\nTopics: {}\n", topics.join(", ")))?;
        return Ok(Outcome::Reached);
    };
    if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name) {
        print(text)?;
        return Ok(Outcome::Reached);
    }
    let mut command = tasks.command();
    command.build();
    let found = about.iter().try_fold(&mut command, |c, name| c.find_subcommand_mut(name));
    let Some(found) = found else {
        return Err(Error::setting(format!(
            "there is no command and no topic `{}`; `dualgap help` lists them",
            about.join(" ")
        )));
    };
    print(&found.render_long_help().to_string())?;
    Ok(Outcome::Reached)
}

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell, tasks: &Tasks) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut tasks.command(), "dualgap", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Reached)
}

/// Prints the manual page of the program, or writes those of all its commands to a folder.
pub fn manual(folder: Option<&Path>, tasks: &Tasks) -> Result<Outcome> {
    let mut command = tasks.command();
    command.build();
    let Some(folder) = folder else {
        print(&String::from_utf8_lossy(&page(command)?))?;
        return Ok(Outcome::Reached);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::file(folder, format!("cannot be made: {error}"), "name another folder")
    })?;
    let mut names = Vec::new();
    write_pages(&command, folder, &mut names)?;
    print(&names.concat())?;
    Ok(Outcome::Reached)
}

fn write_pages(command: &Command, folder: &Path, names: &mut Vec<String>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let file = folder.join(format!("{name}.1"));
    write_atomically(&file, &page(command.clone().name(name))?)?;
    names.push(format!("{}\n", file.display()));
    command.get_subcommands().try_for_each(|inner| write_pages(inner, folder, names))
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Error::setting(format!("the manual page cannot be made: {error}")))?;
    Ok(page)
}
