//! What a checkpoint is good for, and what it refuses.

use crate::common::{Desk, Table, Words, number};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("words.data", Words::new(30, 5).text());
    desk.write("other.data", Words::new(30, 6).text());
    desk.write("data.svm", Table::new(60, 6, 3, 2).text());
    desk
}

const RUN: &str = "train chain words.data --lambda 0.02 --tolerance 0 --quiet";

#[test]
fn a_run_with_more_passes_is_the_run_that_had_them_from_the_start() {
    let desk = desk();
    for (k, options) in [
        "--average weighted --batch 4",
        "--solver fw",
        "--average suffix --sampling uniform",
        "--average uniform --average-after 70",
        "--average random --average-after 30",
        "--step predefined --sampling cyclic",
        "--batch 7 --seed 3",
        "--lanes --threads 2",
        "--solver ssg --average suffix:0.5",
        "--solver subgradient --average doubling",
    ]
    .iter()
    .enumerate()
    {
        desk.run(&format!("{RUN} {options} --passes 33 --witness -o whole")).ok();
        let kept = format!("{RUN} {options} --witness --checkpoint {k}.ck -o parts");
        desk.run(&format!("{kept} --passes 13")).ok();
        assert_ne!(desk.read("parts"), desk.read("whole"));
        desk.run(&format!("{kept} --passes 20 --resume {k}.ck")).ok();
        desk.run(&format!("{kept} --passes 33 --resume {k}.ck")).ok();
        assert_eq!(desk.read("parts"), desk.read("whole"), "{options}");
    }
}

#[test]
fn keeping_a_run_does_not_change_it() {
    let desk = desk();
    let run = "train multiclass data.svm --tolerance 0.001 --batch 4 --quiet --witness";
    desk.run(&format!("{run} -o plain")).ok();
    desk.run(&format!("{run} -o kept --checkpoint run.ck --checkpoint-every 0.1")).ok();
    assert_eq!(desk.read("kept"), desk.read("plain"));
    // The run has ended: going on from it gives the same model at once.
    desk.run(&format!("{run} -o again --resume run.ck")).ok();
    assert_eq!(desk.read("again"), desk.read("plain"));
}

// Rounds of acceleration end between two checkpoints, or have many of them.
#[test]
fn keeping_a_run_of_rounds_over_cached_outputs_does_not_change_it() {
    let desk = desk();
    for task in ["chain words.data", "multiclass data.svm"] {
        let ways = ["", "--direction away", "--direction toward --batch 3", "--sampling gap"];
        for (k, way) in ways.into_iter().enumerate() {
            let run = format!("train {task} {way} --cache on --acceleration on --lambda 0.003");
            let run = format!("{run} --tolerance 0 --passes 60 --quiet --witness");
            let file = format!("{}-{k}.ck", &task[..5]);
            desk.run(&format!("{run} -o plain")).ok();
            desk.run(&format!("{run} -o kept --checkpoint {file} --checkpoint-every 0.3")).ok();
            assert_eq!(desk.read("kept"), desk.read("plain"), "{task} {way}");
        }
    }
}

#[test]
fn a_tighter_tolerance_goes_on_where_the_run_had_ended() {
    let desk = desk();
    let run = "train multiclass data.svm --quiet --witness";
    desk.run(&format!("{run} --tolerance 0.0005 -o whole")).ok();
    desk.run(&format!("{run} --tolerance 0.05 -o first --checkpoint run.ck")).ok();
    desk.run(&format!("{run} --tolerance 0.0005 -o second --resume run.ck")).ok();
    assert_eq!(desk.read("second"), desk.read("whole"));
    assert_ne!(desk.read("first"), desk.read("whole"));
}

#[test]
fn the_trace_of_a_resumed_run_is_whole() {
    let desk = desk();
    let passes = |name: &str| -> Vec<(f64, f64)> {
        String::from_utf8(desk.read(name))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|json| (number(&json, "passes"), number(&json, "primal")))
            .collect()
    };
    desk.run(&format!("{RUN} --passes 40 --trace whole")).ok();
    desk.run(&format!("{RUN} --passes 17 --checkpoint run.ck --trace first")).ok();
    desk.run(&format!("{RUN} --passes 40 --resume run.ck --trace second")).ok();
    assert_eq!(passes("second"), passes("whole"));
}

#[test]
fn a_checkpoint_of_another_run_is_refused_by_what_differs() {
    let desk = desk();
    desk.run(&format!("{RUN} --passes 5 --checkpoint run.ck")).ok();
    let kept = desk.read("run.ck");
    for (line, word) in [
        ("train chain words.data --lambda 0.03", "lambda"),
        ("train chain other.data --lambda 0.02", "data"),
        ("train chain words.data --lambda 0.02 --seed 1", "seed"),
        ("train chain words.data --lambda 0.02 --solver fw", "solver"),
        ("train chain words.data --lambda 0.02 --step predefined", "step"),
        ("train chain words.data --lambda 0.02 --sampling cyclic", "sampling"),
        ("train chain words.data --lambda 0.02 --average suffix", "average"),
        ("train chain words.data --lambda 0.02 --batch 2", "batch"),
        ("train chain words.data --lambda 0.02 --lanes", "lanes"),
        ("train chain words.data --lambda 0.02 --hamming plain", "hamming"),
        ("train chain words.data --lambda 0.02 --rescale slack", "rescaling"),
        ("train chain words.data --lambda 0.02 --beam 2", "beam"),
        ("train chain words.data --lambda 0.02 --option iv", "option"),
        ("train multiclass words.data --lambda 0.02", "task"),
    ] {
        let run = desk.run(&format!("{line} --passes 9 --resume run.ck -o model"));
        run.fails(&["run.ck", "another run", &format!("its {word} is")]);
    }
    assert_eq!(desk.read("run.ck"), kept);
    assert!(!desk.path("model").exists());
}

#[test]
fn no_checkpoint_is_overwritten_by_another_run() {
    let desk = desk();
    desk.run(&format!("{RUN} --passes 5 --checkpoint run.ck")).ok();
    let kept = desk.read("run.ck");
    desk.run(&format!("{RUN} --passes 6 --checkpoint run.ck")).fails(&["run.ck", "already"]);
    desk.run(&format!("{RUN} --passes 6 --checkpoint words.data")).fails(&["words.data"]);
    assert_eq!(desk.read("run.ck"), kept);
    desk.run(&format!("{RUN} --passes 6 --checkpoint no/such/folder")).fails(&["no/such/folder"]);
}

#[test]
fn damaged_checkpoints_are_refused() {
    let desk = desk();
    desk.run(&format!("{RUN} --passes 5 --checkpoint run.ck")).ok();
    let kept = desk.read("run.ck");
    let mut bad: Vec<Vec<u8>> = vec![Vec::new(), b"dualgap checkpoint 1\n".to_vec()];
    bad.extend([10, 100, kept.len() / 2, kept.len() - 1].map(|end| kept[..end].to_vec()));
    for place in (0..kept.len()).step_by(kept.len() / 60) {
        let mut flipped = kept.clone();
        flipped[place] ^= 1;
        bad.push(flipped);
    }
    for bytes in bad {
        desk.write("bad.ck", bytes);
        desk.run(&format!("{RUN} --passes 9 --resume bad.ck -o model")).fails(&["bad.ck"]);
        assert!(!desk.path("model").exists());
    }
    desk.run(&format!("{RUN} --passes 9 --resume missing.ck")).fails(&["missing.ck"]);
}
