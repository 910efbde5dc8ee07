//! Seed, batch size and data decide the model file to the last bit; threads and compression do not.

use crate::common::{Desk, Table, Words, gzip};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 4, 1).text());
    desk.write("words.data", Words::new(40, 1).text());
    desk
}

/// The model file that a command line leaves.
fn model(desk: &Desk, line: &str) -> Vec<u8> {
    desk.train(&format!("{line} --witness -o model"));
    desk.read("model")
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let desk = desk();
    for task in ["multiclass data.svm", "chain words.data"] {
        for options in ["", "--batch 4", "--batch 1000", "--solver fw", "--average weighted"] {
            let line = format!("{task} {options} --passes 20");
            let one = model(&desk, &format!("{line} --threads 1"));
            for threads in [0, 2, 5] {
                let more = model(&desk, &format!("{line} --threads {threads}"));
                assert!(one == more, "{threads} threads: {line}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let desk = desk();
    for task in ["multiclass data.svm", "chain words.data"] {
        for sampling in ["permuted", "uniform"] {
            let line = format!("{task} --sampling {sampling} --passes 5");
            let first = model(&desk, &format!("{line} --seed 3"));
            assert!(first == model(&desk, &format!("{line} --seed 3")), "{line}");
            let weights = |file: &[u8]| crate::common::forge::ModelFile::parse(file).weights();
            let other = model(&desk, &format!("{line} --seed 4"));
            assert_ne!(weights(&first), weights(&other), "{line}");
        }
    }
}

#[test]
fn cyclic_sampling_knows_no_chance() {
    let desk = desk();
    let weights = |seed: u64| {
        let line = format!("multiclass data.svm --sampling cyclic --passes 5 --seed {seed}");
        crate::common::forge::ModelFile::parse(&model(&desk, &line)).weights()
    };
    assert_eq!(weights(1), weights(2));
}

#[test]
fn another_batch_size_is_another_run_to_the_same_optimum() {
    use crate::common::{interval, overlap};
    let desk = desk();
    let run = |batch: usize| desk.train(&format!("chain words.data --batch {batch} --passes 40"));
    let (one, four) = (run(1), run(4));
    assert_ne!(one["primal"], four["primal"]);
    assert!(overlap(interval(&one), interval(&four)));
}

#[test]
fn gzip_and_plain_data_are_the_same_data() {
    let desk = desk();
    for (task, file) in [("multiclass", "data.svm"), ("chain", "words.data")] {
        let packed = format!("{file}.packed");
        desk.write(&packed, gzip(&desk.read(file)));
        let plain = desk.train(&format!("{task} {file} -o plain"));
        let unpacked = desk.train(&format!("{task} {packed} -o unpacked"));
        assert_eq!(plain["fingerprint"], unpacked["fingerprint"]);
        assert!(desk.read("plain") == desk.read("unpacked"), "{file}");
        desk.certify("plain", &packed);
        desk.certify("unpacked", file);
    }
}
