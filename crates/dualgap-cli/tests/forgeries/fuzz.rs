//! A few hundred files with random damage: never a panic, and never another answer.

use crate::common::{Dice, Run};
use crate::forgeries::Case;
use serde_json::Value;

/// Damages a file in one of the ways that disks, networks and people do.
fn damage(file: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(file.len());
    match dice.below(7) {
        0 => file[at] ^= 1 << dice.below(8),
        1 => file[at] = dice.next() as u8,
        2 => {
            file.remove(at);
        }
        3 => file.insert(at, dice.next() as u8),
        4 => {
            let end = (at + 1 + dice.below(40)).min(file.len());
            file.drain(at..end);
        }
        5 => {
            let end = (at + 1 + dice.below(40)).min(file.len());
            let piece = file[at..end].to_vec();
            let to = dice.below(file.len());
            file.splice(to..to, piece);
        }
        _ => {
            let other = dice.below(file.len());
            file.swap(at, other);
        }
    }
}

#[track_caller]
fn is_sound(run: Run, honest: &Value) {
    if run.code == Some(0) {
        assert_eq!(&run.json(), honest, "accepted, with another answer");
    } else {
        run.refuses(&["forged"]);
    }
}

#[test]
fn random_damage_is_refused_or_does_no_harm() {
    for (case, seed) in Case::both().into_iter().zip([1, 2]) {
        let mut dice = Dice(seed);
        let whole = case.desk.read("model");
        let honest = case.certify(&whole).ok().json();
        for _ in 0..200 {
            let mut file = whole.clone();
            for _ in 0..=dice.below(3) {
                damage(&mut file, &mut dice);
            }
            is_sound(case.certify(&file), &honest);
        }
    }
}

#[test]
fn random_damage_to_the_first_bytes_is_refused_or_does_no_harm() {
    let case = Case::multiclass();
    let whole = case.desk.read("model");
    let honest = case.certify(&whole).ok().json();
    for place in 0..24 {
        for bit in 0..8 {
            let mut file = whole.clone();
            file[place] ^= 1 << bit;
            is_sound(case.certify(&file), &honest);
        }
    }
}

/// A header that was damaged and then sealed again gets past the seal, to the parser behind it.
#[test]
fn random_damage_under_a_fitting_seal_never_panics_and_never_lies() {
    for (case, seed) in Case::both().into_iter().zip([3, 4]) {
        let mut dice = Dice(seed);
        let honest = case.certify(&case.honest.sealed()).ok().json();
        for _ in 0..200 {
            let mut header = case.honest.header.clone().into_bytes();
            for _ in 0..=dice.below(2) {
                damage(&mut header, &mut dice);
            }
            let Ok(text) = String::from_utf8(header) else { continue };
            let run = case.certify(&case.honest.with_header_text(&text).bytes());
            if matches!(run.code, Some(0 | 1)) {
                let json = run.json();
                let checked = ["primal", "n", "lambda"];
                // A witness whose name was hit is none any more, and then the program says so.
                let proved = json["dual_proved"] == true;
                assert_eq!(run.code, Some(i32::from(!proved)), "{text}");
                for field in checked.into_iter().chain(proved.then_some("dual")) {
                    assert_eq!(json[field], honest[field], "{field}: {text}");
                }
            } else {
                run.refuses(&[]);
            }
        }
    }
}
