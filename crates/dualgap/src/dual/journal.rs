//! What a lane has changed in v, in lines of neighbouring coordinates.

/// The coordinates of a line: those of a cache line, which a change of one of them has read anyway.
const LINE: usize = 8;

/// Of so few coordinates all are noted beforehand: to copy them takes less time than to ask at every change.
const FEW: usize = 8192;

/// The lines of v that were changed, with their values before the first change; later, with the change itself or the values after it.
#[derive(Debug, Default)]
pub struct Journal {
    /// A bit for every line: whether it is in `lines`. Empty if all coordinates are noted.
    seen: Vec<u64>,
    lines: Vec<usize>,
    values: Vec<[f64; LINE]>,
    /// The values of all coordinates, if they are few.
    all: Vec<f64>,
}

impl Journal {
    /// Returns a journal of changes to `dim` coordinates, without any.
    pub fn new(dim: usize) -> Self {
        let lines = if dim > FEW { dim.div_ceil(LINE) } else { 0 };
        Self { seen: vec![0; lines.div_ceil(u64::BITS as usize)], ..Self::default() }
    }

    /// Forgets all changes; later ones are to this v.
    pub fn begin(&mut self, v: &[f64]) {
        if self.seen.is_empty() {
            self.all.clear();
            self.all.extend_from_slice(v);
            return;
        }
        for line in self.lines.drain(..) {
            self.seen[line / u64::BITS as usize] = 0;
        }
        self.values.clear();
    }

    /// To be called before a coordinate of v is changed.
    #[inline]
    pub fn note(&mut self, index: usize, v: &[f64]) {
        let line = index / LINE;
        if let Some(word) = self.seen.get_mut(line / u64::BITS as usize) {
            let bit = 1 << (line % u64::BITS as usize);
            if *word & bit == 0 {
                *word |= bit;
                self.enter(line, v);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn enter(&mut self, line: usize, v: &[f64]) {
        self.lines.push(line);
        let mut values = [0.0; LINE];
        values.iter_mut().zip(&v[line * LINE..]).for_each(|(value, v)| *value = *v);
        self.values.push(values);
    }

    /// To be called before coordinates from `start` on are changed.
    #[inline]
    pub fn note_run(&mut self, start: usize, count: usize, v: &[f64]) {
        for line in start / LINE..(start + count).div_ceil(LINE) {
            self.note(line * LINE, v);
        }
    }

    /// Gives v its values from before, and keeps the changes; returns `⟨v, change⟩` for the v from before.
    pub fn take_back(&mut self, v: &mut [f64]) -> f64 {
        for (&line, values) in self.lines.iter().zip(&mut self.values) {
            swap_for_change(&mut v[line * LINE..], values);
        }
        swap_for_change(v, &mut self.all);
        self.dot(v)
    }

    /// Keeps the values after the changes.
    pub fn end(&mut self, v: &[f64]) {
        for (&line, values) in self.lines.iter().zip(&mut self.values) {
            values.iter_mut().zip(&v[line * LINE..]).for_each(|(value, v)| *value = *v);
        }
        self.all.iter_mut().zip(v).for_each(|(value, v)| *value = *v);
    }

    /// Gives v the values after the changes. Only after [`end`](Self::end).
    pub fn copy_to(&self, v: &mut [f64]) {
        for (&line, values) in self.lines.iter().zip(&self.values) {
            v[line * LINE..].iter_mut().zip(values).for_each(|(v, value)| *v = *value);
        }
        v.iter_mut().zip(&self.all).for_each(|(v, value)| *v = *value);
    }

    /// Returns `⟨v, change⟩`. Only after [`take_back`](Self::take_back).
    pub fn dot(&self, v: &[f64]) -> f64 {
        let mut sums = [0.0; LINE];
        let mut add = |v: &[f64], changes: &[f64]| {
            let pairs = v.iter().zip(changes);
            sums.iter_mut().zip(pairs).for_each(|(sum, (v, change))| *sum += v * change);
        };
        for (&line, changes) in self.lines.iter().zip(&self.values) {
            add(&v[line * LINE..], changes);
        }
        v.chunks(LINE).zip(self.all.chunks(LINE)).for_each(|(v, changes)| add(v, changes));
        sums.iter().sum()
    }

    /// Makes the changes. Only after [`take_back`](Self::take_back).
    pub fn repeat(&self, v: &mut [f64]) {
        let add = |v: &mut [f64], changes: &[f64]| {
            v.iter_mut().zip(changes).for_each(|(v, change)| *v += change);
        };
        for (&line, changes) in self.lines.iter().zip(&self.values) {
            add(&mut v[line * LINE..], changes);
        }
        add(v, &self.all);
    }
}

/// Gives v these values from before, and puts the changes in their place.
fn swap_for_change(v: &mut [f64], values: &mut [f64]) {
    for (v, value) in v.iter_mut().zip(values) {
        (*v, *value) = (*value, *v - *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_taken_back_and_made_again() {
        for dim in [21, FEW + 21] {
            let before: Vec<f64> = (0..dim).map(|j| (j % 50) as f64).collect();
            let (mut v, mut journal) = (before.clone(), Journal::new(dim));
            for round in 0..3 {
                journal.begin(&v);
                if round < 2 {
                    for (j, by) in [(dim - 1, 0.5), (3, 2.0), (3, 1.0), (9, -1.0)] {
                        journal.note(j, &v);
                        v[j] += by;
                    }
                    journal.note_run(15, 2, &v);
                    (v[15], v[16]) = (7.0, 8.0);
                }
                let after = v.clone();
                let product: f64 = before.iter().zip(&after).map(|(b, a)| b * (a - b)).sum();
                assert_eq!(journal.take_back(&mut v), product);
                assert_eq!((&v, journal.dot(&v)), (&before, product));
                journal.repeat(&mut v);
                assert_eq!(v, after);
                v.clone_from(&before);
                journal.end(&after);
                journal.copy_to(&mut v);
                assert_eq!(v, after);
                v.clone_from(&before);
            }
        }
    }
}
