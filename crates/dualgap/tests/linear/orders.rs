//! Chunks of neighbouring rows: where `auto` takes them and where it does not, that they lose no passes, and that a run in them resumes.

use dualgap::Result;
use dualgap::dual::{self, Begin, Engine, Problem, Sampling, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, InMemory, Quota, Report, Solution, Solver};
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{L2, ScalarLoss};

/// Rows of 20 of 200 columns, and the classes by a random direction; sorted by class, if asked for.
fn many(count: usize, sorted: bool) -> (Rows, Vec<f64>) {
    let mut random = Random::new(5);
    let truth: Vec<f64> = (0..200).map(|_| random.unit() - 0.5).collect();
    let mut drawn: Vec<(f64, Vec<(u32, f64)>)> = (0..count)
        .map(|_| {
            let mut row: Vec<(u32, f64)> =
                (0..20).map(|_| (random.below(200) as u32, 0.25)).collect();
            row.sort_by_key(|&(j, _)| j);
            row.dedup_by_key(|&mut (j, _)| j);
            let score: f64 = row.iter().map(|&(j, _)| truth[j as usize]).sum();
            (if score + random.unit() - 0.5 > 0.0 { 1.0 } else { -1.0 }, row)
        })
        .collect();
    if sorted {
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut rows = Rows::sparse();
    drawn.iter().for_each(|(_, row)| rows.push_sparse(row));
    (rows, drawn.into_iter().map(|(y, _)| y).collect())
}

fn settings(sampling: Sampling, base: Settings) -> Settings {
    Settings { lambda: 1e-3, sampling, threads: 1, ..base }
}

/// The weights after two passes.
fn after_two(blocks: &LinearBlocks<'_, ScalarLoss>, settings: &Settings) -> Result<Vec<f64>> {
    let problem = Problem::new(blocks, L2, settings.lambda, None)?;
    let mut engine = Engine::new(problem, settings)?;
    let calls = 2 * engine.calls_per_pass();
    engine.advance(&Quota {
        oracle_calls: calls,
        steps: u64::MAX,
        pause: calls,
        halted: &|| false,
    })?;
    Ok(engine.weights())
}

#[test]
fn auto_goes_in_chunks_where_rows_are_many_and_the_papers_methods_never() -> Result<()> {
    // 20 entries of 8 bytes: all are more than 1 MB, but 7,000 rows are few.
    for (count, large) in [(9000, true), (7000, false)] {
        let (rows, y) = many(count, false);
        let blocks = LinearBlocks::new(&rows, y.clone(), ScalarLoss::Hinge, Choice::I)?;
        let weights = |sampling, base| after_two(&blocks, &settings(sampling, base));
        let auto = weights(Sampling::Permuted, Settings::default())?;
        assert_eq!(auto == weights(Sampling::Chunked, Settings::default())?, large);
        assert_ne!(
            weights(Sampling::Permuted, Settings::plain())?,
            weights(Sampling::Chunked, Settings::plain())?
        );
        let averaged = Settings { average: dual::Average::Suffix, ..Settings::default() };
        assert_ne!(
            weights(Sampling::Permuted, averaged.clone())?,
            weights(Sampling::Chunked, averaged)?
        );
        let other = LinearBlocks::new(&rows, y, ScalarLoss::Hinge, Choice::II)?;
        let by = |sampling| after_two(&other, &settings(sampling, Settings::default()));
        assert_ne!(by(Sampling::Permuted)?, by(Sampling::Chunked)?);
    }
    Ok(())
}

#[test]
fn chunks_take_hardly_more_passes_than_a_permutation_even_over_rows_sorted_by_class() -> Result<()>
{
    for sorted in [false, true] {
        let (rows, y) = many(3000, sorted);
        for loss in [ScalarLoss::Hinge, ScalarLoss::SquaredHinge, ScalarLoss::Logistic] {
            let blocks = LinearBlocks::new(&rows, y.clone(), loss, Choice::I)?;
            let passes = |sampling| -> Result<f64> {
                let settings = settings(sampling, Settings::plain());
                let budget =
                    Budget { passes: Some(400), certify_share: 1.0, ..Budget::relative(1e-3) };
                let report = dual::train(&blocks, &settings, &budget, &mut ())?;
                Ok(report.history.last().map_or(0.0, |last| last.passes))
            };
            let (chunked, permuted) = (passes(Sampling::Chunked)?, passes(Sampling::Permuted)?);
            assert!(chunked <= 1.5 * permuted + 1.0, "{loss:?} {sorted} {chunked} {permuted}");
        }
    }
    Ok(())
}

/// Rows around a point that goes round slowly, in the order of its way or in any; their classes change four times a round.
fn along_a_way(count: usize, in_order: bool) -> (Rows, Vec<f64>) {
    let mut random = Random::new(7);
    let mut way: Vec<f64> = (0..count).map(|i| 126.0 * i as f64 / count as f64).collect();
    if !in_order {
        random.shuffle(&mut way);
    }
    let (mut rows, mut targets) = (Rows::sparse(), Vec::new());
    for at in way {
        let near = |j: u32| (at * f64::from(j % 4 + 1) / 4.0 + f64::from(j)).cos();
        let row: Vec<(u32, f64)> = (0..8).map(|j| (j, near(j) + random.unit() - 0.5)).collect();
        rows.push_sparse(&row);
        targets.push(if (2.0 * at).sin() + random.unit() > 0.5 { 1.0 } else { -1.0 });
    }
    (rows, targets)
}

#[test]
fn auto_keeps_to_a_permutation_where_neighbours_are_alike() -> Result<()> {
    let passes = |in_order, sampling| -> Result<f64> {
        let (rows, y) = along_a_way(20_000, in_order);
        let blocks = LinearBlocks::new(&rows, y, ScalarLoss::Hinge, Choice::I)?;
        let settings = settings(sampling, Settings::default());
        let weights = |sampling| after_two(&blocks, &Settings { sampling, ..settings.clone() });
        let chunks = weights(Sampling::Permuted)? == weights(Sampling::Chunked)?;
        assert_eq!(chunks, !in_order);
        let budget = Budget { passes: Some(100), certify_share: 1.0, ..Budget::relative(1e-4) };
        let report = dual::train(&blocks, &settings, &budget, &mut ())?;
        Ok(report.history.last().map_or(0.0, |last| last.passes))
    };
    let (auto, chunked) = (passes(true, Sampling::Permuted)?, passes(true, Sampling::Chunked)?);
    let shuffled = passes(false, Sampling::Permuted)?;
    assert!(auto <= 1.5 * shuffled + 1.0, "{auto} {shuffled}");
    assert!(chunked > 1.2 * auto, "chunks would do as well: {chunked} {auto}");
    Ok(())
}

#[test]
fn a_run_in_chunks_goes_on_bit_for_bit_from_any_checkpoint() -> Result<()> {
    let (rows, y) = many(700, true);
    let blocks = LinearBlocks::new(&rows, y, ScalarLoss::Hinge, Choice::I)?;
    let settings = settings(Sampling::Chunked, Settings::default());
    let train = |begin, calls: u64| -> Result<(Report<Solution<f64>>, InMemory)> {
        let budget = Budget { oracle_calls: Some(calls), ..Budget::relative(0.0) };
        let mut memory = InMemory::default();
        let report =
            dual::train_from(&blocks, &settings, begin, &budget, &mut (), Some(&mut memory))?;
        Ok((report, memory))
    };
    let whole = train(Begin::Fresh, 9000)?.0;
    // In the middle of a group, at its end, and far into a run that leaves rows out.
    for calls in [100, 256, 700, 5001] {
        let (_, memory) = train(Begin::Fresh, calls)?;
        let more = train(Begin::At(memory.last.expect("a checkpoint")), 9000)?.0;
        assert_eq!(more.model.weights, whole.model.weights, "{calls}");
    }
    Ok(())
}
