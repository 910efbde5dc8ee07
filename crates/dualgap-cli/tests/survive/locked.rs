//! Two runs never write one checkpoint.

use crate::common::{Desk, Words, program};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Ends only when it is told to.
const ENDLESS: &str =
    "train chain words.data --lambda 0.01 --solver fw --step predefined --tolerance 0 --quiet";

const SHORT: &str = "train chain words.data --lambda 0.01 --solver fw --step predefined --tolerance 0 --passes 3 --quiet";

/// A run that is ended when its test is, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Starts a run and waits until it was kept.
fn start(desk: &Desk, checkpoint: &str) -> Running {
    let child = Command::new(program())
        .current_dir(desk.folder())
        .args(ENDLESS.split_whitespace())
        .args(["--checkpoint", checkpoint, "--checkpoint-every", "1"])
        .stdout(Stdio::null())
        .spawn();
    let mut running = Running(child.unwrap());
    while !std::fs::metadata(desk.path(checkpoint)).is_ok_and(|file| file.len() > 0) {
        assert!(running.0.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    running
}

#[test]
fn a_checkpoint_that_another_run_writes_is_refused_until_that_run_is_gone() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(20, 3).text());
    let running = start(&desk, "run.ck");
    let process = format!("process {}", running.0.id());
    std::os::unix::fs::symlink("run.ck", desk.path("link.ck")).unwrap();
    for options in [
        "--checkpoint run.ck",
        "--checkpoint ./run.ck",
        "--checkpoint link.ck",
        "--checkpoint run.ck --resume run.ck",
    ] {
        desk.run(&format!("{SHORT} {options} -o model")).fails(&["run", "another run", &process]);
        assert!(!desk.path("model").exists());
    }
    // To read it is not to write it, and another file is nobody's business.
    desk.run(&format!("{SHORT} --resume run.ck --checkpoint other.ck -o model")).ok();
    drop(running); // killed, with no time to clear up
    assert!(desk.path("run.ck.lock").exists());
    desk.run(&format!("{SHORT} --checkpoint run.ck --resume run.ck -o model")).ok();
    assert!(!desk.path("run.ck.lock").exists() && !desk.path("run.ck.part").exists());
}

#[test]
fn a_link_to_a_checkpoint_stays_one() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(20, 3).text());
    desk.run(&format!("{SHORT} --checkpoint run.ck")).ok();
    std::os::unix::fs::symlink("run.ck", desk.path("link.ck")).unwrap();
    let before = desk.read("run.ck");
    let more = SHORT.replace("--passes 3", "--passes 6");
    desk.run(&format!("{more} --checkpoint link.ck --resume link.ck")).ok();
    assert!(desk.path("link.ck").is_symlink());
    assert_ne!(desk.read("run.ck"), before);
}
