//! Orders visit every block, in rounds, chunks or draws, and shrinking forgets none.

use super::*;

fn pass(order: &mut Order, blocks: usize) -> Vec<usize> {
    (0..blocks).map(|_| order.next_block()).collect()
}

#[test]
fn a_permuted_pass_visits_every_block_once_and_each_pass_differs() {
    let mut order = Order::new(Sampling::Permuted, 50, 3, false);
    let (first, second) = (pass(&mut order, 50), pass(&mut order, 50));
    assert_ne!(first, second);
    for mut visited in [first, second] {
        visited.sort_unstable();
        assert!(visited.into_iter().eq(0..50));
    }
}

#[test]
fn a_cyclic_pass_goes_in_order_and_a_uniform_one_repeats_blocks() {
    let mut order = Order::new(Sampling::Cyclic, 4, 0, false);
    assert_eq!(pass(&mut order, 8), [0, 1, 2, 3, 0, 1, 2, 3]);
    let mut visited = pass(&mut Order::new(Sampling::Uniform, 50, 0, false), 50);
    visited.sort_unstable();
    visited.dedup();
    assert!(visited.len() < 50 && visited.iter().all(|&i| i < 50));
}

#[test]
fn half_of_the_draws_go_by_importance() {
    let mut order = Order::new(Sampling::Importance, 4, 1, false);
    order.weigh(|i| [0.0, 1.0, 3.0, 0.0][i]);
    let mut counts = [0_i32; 4];
    pass(&mut order, 16_000).into_iter().for_each(|i| counts[i] += 1);
    // 1/8 each for the even half, and 1/8 and 3/8 on top: six standard deviations of a binomial.
    for (count, expected) in counts.iter().zip([2000, 4000, 8000, 2000]) {
        assert!((count - expected).abs() < 380, "{counts:?}");
    }
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed| pass(&mut Order::new(Sampling::Permuted, 20, seed, false), 20);
    assert_eq!(order(5), order(5));
    assert_ne!(order(5), order(6));
}

#[test]
fn a_chunked_pass_visits_every_block_once_in_groups_of_few_runs() {
    let blocks = 3 * GROUP + 77;
    let mut order = Order::new(Sampling::Chunked, blocks, 3, false);
    let passes = [pass(&mut order, blocks), pass(&mut order, blocks)];
    assert_ne!(passes[0], passes[1]);
    for visited in passes {
        for group in visited.chunks(GROUP) {
            assert!(!group.is_sorted());
            let mut runs: Vec<usize> = group.iter().map(|i| i / RUN).collect();
            runs.sort_unstable();
            runs.dedup();
            assert!(runs.len() <= GROUP / RUN + 1, "{runs:?}");
        }
        let mut visited = visited;
        visited.sort_unstable();
        assert!(visited.into_iter().eq(0..blocks));
    }
}

#[test]
fn a_stretched_pass_visits_every_block_once_in_windows_of_few_stretches() {
    let (stretch, window) = (STRETCH * RUN, WINDOW * STRETCH * RUN);
    let blocks = 9 * stretch;
    let mut order = Order::new(Sampling::Chunked, blocks, 3, false);
    order.stretch(true);
    let passes = [pass(&mut order, blocks), pass(&mut order, blocks)];
    assert_ne!(passes[0], passes[1]);
    for visited in passes {
        for window in visited.chunks(window) {
            let mut stretches: Vec<usize> = window.iter().map(|i| i / stretch).collect();
            // Blocks of all stretches come soon after each other.
            let changes = stretches.windows(2).filter(|pair| pair[0] != pair[1]).count();
            stretches.sort_unstable();
            stretches.dedup();
            assert!(stretches.len() == WINDOW || window.len() == stretch, "{stretches:?}");
            assert!(changes > WINDOW * STRETCH / 2 || window.len() == stretch, "{changes}");
        }
        let mut visited = visited;
        visited.sort_unstable();
        assert!(visited.into_iter().eq(0..blocks));
    }
}

#[test]
fn what_a_chunked_pass_reads_ahead_is_the_next_group_in_the_order_of_memory() {
    let blocks = 5 * GROUP;
    let mut order = Order::new(Sampling::Chunked, blocks, 8, true);
    order.next_block();
    let mut read = Vec::new();
    for _ in 1..GROUP {
        read.extend(order.upcoming());
        order.next_block();
    }
    let breaks = read.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert!(read.len() == GROUP - 1 && breaks < GROUP / RUN, "{read:?}");
    let next: Vec<usize> = (0..GROUP).map(|_| order.next_block()).collect();
    assert!(!next.is_sorted());
    assert!(read.iter().all(|i| next.contains(i)), "{read:?} {next:?}");
    assert!(order.is_sound(Sampling::Permuted, blocks, true));
    assert!(!order.is_sound(Sampling::Permuted, blocks, false));
}

#[test]
fn shrinking_leaves_gaps_in_chunks_and_forgets_no_block() {
    let blocks = 2 * GROUP;
    let mut order = Order::new(Sampling::Chunked, blocks, 1, true);
    let rounds = visits(&mut order, 600, 100);
    for round in &rounds {
        assert!((0..100).all(|i| round.contains(&i)));
    }
    let last = &rounds[20..];
    assert!((100..blocks).all(|i| last.iter().any(|round| round.contains(&i))));
    assert!(last.iter().any(|round| round.len() == 100));
    assert!(order.is_sound(Sampling::Chunked, blocks, true));
}

/// Visits blocks for `rounds` rounds, of which only the first `movers` ever move; returns the blocks of each round.
fn visits(order: &mut Order, rounds: usize, movers: usize) -> Vec<Vec<usize>> {
    (0..rounds)
        .map(|_| {
            let count = order.known_ahead();
            let round: Vec<usize> = (0..count).map(|_| order.next_block()).collect();
            round.iter().for_each(|&i| order.visited(i, i < movers, 0.0));
            round
        })
        .collect()
}

#[test]
fn who_never_moves_is_visited_ever_less_often_and_never_forgotten() {
    let mut order = Order::new(Sampling::Permuted, 30, 7, true);
    let rounds = visits(&mut order, 4000, 3);
    for block in 0..30 {
        let at: Vec<usize> = (0..4000).filter(|&r| rounds[r].contains(&block)).collect();
        if block < 3 {
            assert_eq!(at.len(), 4000);
            continue;
        }
        // At first in every round, then left out of 1, 2, 4, … of them, and in the end of 512 at a time.
        let pauses: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(pauses[..6], [0, 0, 1, 2, 4, 8], "{block}");
        assert_eq!(pauses.iter().max(), Some(&512));
        assert!(pauses.is_sorted());
    }
    assert!(order.is_sound(Sampling::Permuted, 30, true));
}

#[test]
fn at_an_eager_pace_pauses_begin_when_idle_blocks_are_seen_to_stay_so_and_grow_fast() {
    let mut order = Order::new(Sampling::Permuted, 30, 7, true);
    order.set_pace(Pace::Eager);
    let rounds = visits(&mut order, 4000, 3);
    for block in 3..30 {
        let at: Vec<usize> = (0..4000).filter(|&r| rounds[r].contains(&block)).collect();
        let pauses: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(pauses[..6], [0, 0, 8, 64, 256, 512], "{block}");
    }
    assert!(order.is_sound(Sampling::Permuted, 30, true));
}

#[test]
fn at_an_eager_pace_blocks_that_would_have_moved_are_not_left_out() {
    let mut order = Order::new(Sampling::Permuted, 30, 7, true);
    order.set_pace(Pace::Eager);
    // Nobody moves, so that all are left out; then everybody moves at every second visit.
    visits(&mut order, 6, 0);
    let mut moves = [false; 30];
    let mut lengths = Vec::new();
    for _ in 0..60 {
        let round: Vec<usize> = (0..order.known_ahead()).map(|_| order.next_block()).collect();
        for &i in &round {
            order.visited(i, moves[i], 0.0);
            moves[i] = !moves[i];
        }
        lengths.push(round.len());
        assert!(order.is_sound(Sampling::Permuted, 30, true));
    }
    assert!(lengths[40..].iter().all(|&length| length == 30), "{lengths:?}");
}

// An earlier version stored states in which blocks had been idle once or twice and were still in every round.
#[test]
fn a_change_of_pace_forgets_no_block() {
    let mut order = Order::new(Sampling::Permuted, 30, 7, true);
    for _ in 0..30 + 20 {
        let i = order.next_block();
        order.visited(i, false, 0.0);
    }
    order.set_pace(Pace::Eager);
    let mut seen = [false; 30];
    for round in visits(&mut order, 8, 0) {
        round.into_iter().for_each(|i| seen[i] = true);
    }
    assert_eq!(seen, [true; 30]);
}

#[test]
fn who_gains_nothing_without_the_oracle_waits_until_it_is_asked() {
    let mut order = Order::new(Sampling::Permuted, 9, 1, true);
    visits(&mut order, 20, 3);
    let mut met = [false; 9];
    for round in 0..40 {
        let count = order.known_ahead();
        let visited: Vec<usize> = (0..count).map(|_| order.next_block()).collect();
        visited.iter().for_each(|&i| order.passed(i, i == 0));
        visited.iter().for_each(|&i| met[i] = true);
        assert!(order.is_sound(Sampling::Permuted, 9, true));
        assert!(round < 2 || visited.iter().all(|&i| i == 0 || i > 2), "{visited:?}");
    }
    order.ask_again();
    assert!(order.is_sound(Sampling::Permuted, 9, true));
    let mut back = visits(&mut order, 1, 9).remove(0);
    back.sort_unstable();
    assert!((0..9).all(|i| back.contains(&i) == (met[i] || i == 0)), "{back:?} {met:?}");
}

#[test]
fn where_all_wait_some_are_visited_all_the_same() {
    let mut order = Order::new(Sampling::Permuted, 4, 1, true);
    for _ in 0..5 {
        let count = order.known_ahead();
        assert!(count > 0);
        (0..count).for_each(|_| {
            let i = order.next_block();
            order.passed(i, false);
        });
    }
    assert!(order.is_sound(Sampling::Permuted, 4, true));
}

// Here two cached passes follow every oracle pass, and two passes of draws follow every permuted pass. If cached
// visits took part in the rounds, the permuted passes would all be cached, and all blocks but one would keep a gap
// of zero.
#[test]
fn the_pass_that_looks_at_every_gap_waits_for_the_oracle() {
    let mut order = Order::new(Sampling::Gap, 5, 1, false);
    let mut asked = Vec::new();
    (0..5).for_each(|_| _ = order.next_known());
    for _ in 0..9 {
        for i in pass(&mut order, 5) {
            order.visited(i, true, f64::from(u8::from(i == 0)));
            asked.push(i);
        }
        (0..10).for_each(|_| _ = order.next_known());
    }
    for rounds in asked.chunks(3 * 5) {
        assert!((0..5).all(|i| rounds.contains(&i)), "{asked:?}");
    }
}

#[test]
fn who_moves_again_is_back_in_every_round() {
    let mut order = Order::new(Sampling::Cyclic, 4, 0, true);
    visits(&mut order, 40, 1);
    // Shrinking has left blocks out, and from now on all of them move.
    let rounds = visits(&mut order, 2000, 4);
    assert!(rounds[600..].iter().all(|round| round.len() == 4));
}

#[test]
fn all_can_be_woken_at_once_and_where_all_sleep_some_wake() {
    let mut order = Order::new(Sampling::Permuted, 10, 1, true);
    visits(&mut order, 50, 1);
    order.wake_all();
    let mut round = visits(&mut order, 1, 0).remove(0);
    round.sort_unstable();
    assert!(round.into_iter().eq(0..10));
    assert!(visits(&mut order, 500, 0).iter().all(|round| !round.is_empty()));
}

/// Visits in runs are those that `next_block` and `visited` give one by one, whatever moves and wherever runs end.
#[test]
fn runs_are_visits_one_by_one() {
    for (sampling, shrinking) in [
        (Sampling::Permuted, true),
        (Sampling::Permuted, false),
        (Sampling::Cyclic, true),
        (Sampling::Chunked, true),
        (Sampling::Chunked, false),
    ] {
        let blocks = 3 * GROUP + 77;
        let order = Order::new(sampling, blocks, 3, shrinking);
        let (mut single, mut in_runs, mut chance) = (order.clone(), order, Random::new(9));
        assert!(single.goes_in_runs());
        let moves = |i: usize, visit: usize| (i * 7 + visit / blocks).is_multiple_of(3);
        let mut visits = 0;
        while visits < 6 * blocks {
            let most = 1 + chance.below(2 * GROUP);
            let done = in_runs.visit_run(most, true, |i, upcoming| {
                assert_eq!(i, single.next_block());
                assert_eq!(upcoming, single.upcoming());
                let moved = moves(i, visits);
                single.visited(i, moved, 0.0);
                visits += 1;
                Ok::<_, ()>(moved)
            });
            assert!(done.is_ok_and(|done| 0 < done && done <= most));
        }
    }
}
