//! Twenty runs are killed in the midst of training, and each ends with the bits of one that was not.

use crate::common::{Desk, Dice, Table, Words, program};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const KILLS: usize = 20;
const SIGKILL: i32 = 9;

const RUN: &str = "train chain words.data --lambda 0.01 --average weighted --passes 1000 --tolerance 0 \
                   --batch 3 --seed 7 --witness --quiet";

fn start(desk: &Desk, run: &str, every: &str, checkpoint: &str) -> Child {
    Command::new(program())
        .current_dir(desk.folder())
        .args(run.split_whitespace())
        .args(["--checkpoint", checkpoint, "--checkpoint-every", every, "-o", "lost"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Whether something was put away there. The file is made once before, empty, to see whether it can be.
fn is_kept(desk: &Desk, checkpoint: &str) -> bool {
    std::fs::metadata(desk.path(checkpoint)).is_ok_and(|file| file.len() > 0)
}

/// Kills a run some time after its first checkpoint; whether it was still under way.
fn kill_midway(desk: &Desk, checkpoint: &str, dice: &mut Dice) -> bool {
    kill(desk, start(desk, RUN, "17.3", checkpoint), checkpoint, dice.below(75_000))
}

/// Kills a run so many microseconds after its first checkpoint; whether it was still under way.
fn kill(desk: &Desk, mut child: Child, checkpoint: &str, later: usize) -> bool {
    while !is_kept(desk, checkpoint) && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(later as u64));
    child.kill().unwrap();
    child.wait().unwrap().signal() == Some(SIGKILL)
}

#[test]
fn twenty_killed_runs_are_resumed_bit_for_bit() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(40, 3).text());
    desk.run(&format!("{RUN} -o whole")).ok();
    let whole = desk.read("whole");
    let mut dice = Dice(1);
    let mut killed = 0;
    for attempt in 0.. {
        assert!(attempt < 10 * KILLS, "only {killed} runs were killed before they had ended");
        let checkpoint = format!("run{attempt}.ck");
        if !kill_midway(&desk, &checkpoint, &mut dice) {
            continue;
        }
        assert!(!desk.path("lost").exists(), "a model of a run that never ended");
        desk.run(&format!("{RUN} --resume {checkpoint} -o resumed")).ok();
        assert_eq!(desk.read("resumed"), whole, "kill {killed}");
        killed += 1;
        if killed == KILLS {
            break;
        }
    }
}

#[test]
fn a_run_may_be_killed_again_and_again() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(40, 3).text());
    desk.run(&format!("{RUN} -o whole")).ok();
    let mut dice = Dice(2);
    kill_midway(&desk, "run.ck", &mut dice);
    for _ in 0..5 {
        let mut child = Command::new(program())
            .current_dir(desk.folder())
            .args(RUN.split_whitespace())
            .args("--checkpoint run.ck --resume run.ck --checkpoint-every 3 -o lost".split(' '))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(dice.below(120_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.run(&format!("{RUN} --checkpoint run.ck --resume run.ck -o resumed")).ok();
    assert_eq!(desk.read("resumed"), desk.read("whole"));
}

#[test]
fn a_run_whose_folder_is_taken_away_goes_on_and_says_so() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(40, 3).text());
    desk.run(&format!("{RUN} -o whole")).ok();
    std::fs::create_dir(desk.path("kept")).unwrap();
    let child = Command::new(program())
        .current_dir(desk.folder())
        .args(RUN.split_whitespace())
        .args("--checkpoint kept/run.ck --checkpoint-every 11 -o model".split(' '))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !is_kept(&desk, "kept/run.ck") {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::rename(desk.path("kept"), desk.path("elsewhere")).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // The model is there, but the run was not kept as asked.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    assert_eq!(said.matches("incomplete: ").count(), 1, "{said}");
    assert_eq!(desk.read("model"), desk.read("whole"));
}

/// Ratings that two tastes explain in part.
fn ratings(users: usize, items: usize, count: usize) -> String {
    let mut dice = Dice(4);
    let line = |_| {
        let (i, j) = (dice.below(users), dice.below(items));
        let taste = if (i % 2 == 0) == (j % 3 == 0) { 1.5 } else { -0.5 };
        format!("u{i} m{j} {}\n", 3.0 + taste + dice.signed())
    };
    (0..count).map(line).collect()
}

#[test]
fn killed_runs_in_the_trace_ball_are_resumed_bit_for_bit() {
    let desk = Desk::new();
    desk.write("ratings.txt", ratings(60, 50, 900));
    desk.write("few.svm", Table::new(60, 6, 4, 2).text());
    desk.write("many.svm", Table::new(3000, 12, 3, 2).text());
    for (k, run) in [
        "train completion ratings.txt --radius 90 --mu 0 --passes 150",
        "train completion ratings.txt --radius 20 --mu 1e-4 --solver pdbfw --passes 60",
        "train multiclass few.svm --ball trace --radius 3 --mu 1e-3 --solver pdbfw --passes 4000",
        "train multiclass many.svm --ball trace --radius 9 --mu 0 --loss softmax --passes 40",
    ]
    .iter()
    .enumerate()
    {
        let run = format!("{run} --tolerance 0 --witness --quiet");
        desk.run(&format!("{run} -o whole")).ok();
        let (whole, mut dice) = (desk.read("whole"), Dice(k as u64));
        let mut killed = 0;
        for attempt in 0..60 {
            let checkpoint = format!("{k}-{attempt}.ck");
            let child = start(&desk, &run, "0.7", &checkpoint);
            if !kill(&desk, child, &checkpoint, dice.below(40_000)) {
                std::fs::remove_file(desk.path("lost")).unwrap();
                continue;
            }
            assert!(!desk.path("lost").exists(), "a model of a run that never ended");
            desk.run(&format!("{run} --resume {checkpoint} -o resumed")).ok();
            assert_eq!(desk.read("resumed"), whole, "{run}");
            killed += 1;
            if killed == 3 {
                break;
            }
        }
        assert_eq!(killed, 3, "{run}: too few were killed before they had ended");
    }
}
