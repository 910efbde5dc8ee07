//! The digest of a data set: a tree of three levels, so that shards compute theirs at the same time.
//!
//! ```text
//! root       BLAKE3 of the digests of all groups in order, with 32 zeros after every section
//! section    what comes before the items, or items of one kind: rows, targets, …
//! group      BLAKE3 of the bytes of 64 neighbouring items; the last one of a section may have fewer
//! ```
//!
//! Groups begin at every 64th item of the whole data set. A shard knows how many items are before its own: of the groups that it has
//! as a whole it hands over the digests, and of the two that it may share with its neighbours the bytes. Whoever joins the parts of
//! all shards has then the digest of the data in one piece.

use serde::{Deserialize, Serialize};

/// The items of a group. BLAKE3 hashes many kilobytes at once faster than a few; but a shard hands over the bytes of the groups that it
/// shares with its neighbours, up to two in every section.
const GROUP: u64 = 64;

/// The bytes of a group are collected, and hashed when there are so many or the group ends.
const FULL: usize = 1 << 16;

/// What comes after a section: the digests of two sections could otherwise be those of one. No bytes are known whose digest is zero.
const END: [u8; 32] = [0; 32];

/// A running digest of a data set or of a shard.
#[derive(Clone)]
pub(super) struct Groups {
    sink: Sink,
    /// The hash of the group that has begun, without the bytes that are still open.
    group: blake3::Hasher,
    open: Vec<u8>,
    /// Whether the group has bytes.
    begun: bool,
    /// How many items of the group have ended.
    items: u64,
    /// Whether the group began in a shard before this one.
    shared: bool,
}

#[derive(Clone)]
enum Sink {
    Root(Box<blake3::Hasher>),
    Shard(Vec<Vec<Piece>>),
}

/// What a shard knows of a group.
#[derive(Clone, Serialize, Deserialize)]
enum Piece {
    /// The digest of one that it has as a whole.
    Whole([u8; 32]),
    /// Its bytes of one that others have a part of, and whether it has the last of them.
    Bytes(Vec<u8>, bool),
}

impl Groups {
    /// Begins the digest of a data set in one piece.
    pub fn of_all() -> Self {
        Self::to(Sink::Root(Box::default()))
    }

    /// Begins the part of a shard.
    pub fn of_shard() -> Self {
        Self::to(Sink::Shard(vec![Vec::new()]))
    }

    fn to(sink: Sink) -> Self {
        let (group, open) = (blake3::Hasher::new(), Vec::new());
        Self { sink, group, open, begun: false, items: 0, shared: false }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.begun |= !bytes.is_empty();
        self.open.extend_from_slice(bytes);
        // A shard may have to hand over the bytes.
        if self.open.len() >= FULL && matches!(self.sink, Sink::Root(_)) {
            self.group.update(&self.open);
            self.open.clear();
        }
    }

    pub fn end_item(&mut self) {
        self.items += 1;
        if self.items == GROUP {
            self.end_group(true);
        }
    }

    /// Ends a section, and begins the next one after so many items of it in other shards.
    pub fn section(&mut self, before: u64) {
        if self.begun {
            self.end_group(false);
        }
        match &mut self.sink {
            Sink::Root(root) => _ = root.update(&END),
            Sink::Shard(sections) => sections.push(Vec::new()),
        }
        self.items = before % GROUP;
        self.shared = self.items > 0;
    }

    /// Ends a group, which may go on in another shard unless all its items were there.
    fn end_group(&mut self, all: bool) {
        match &mut self.sink {
            Sink::Root(root) => {
                self.group.update(&self.open);
                root.update(self.group.finalize().as_bytes());
                self.group.reset();
            }
            Sink::Shard(sections) => {
                let piece = if all && !self.shared {
                    Piece::Whole(blake3::hash(&self.open).into())
                } else {
                    Piece::Bytes(self.open.clone(), all)
                };
                if let Some(section) = sections.last_mut() {
                    section.push(piece);
                }
            }
        }
        self.open.clear();
        (self.begun, self.items, self.shared) = (false, 0, false);
    }

    /// Returns the digest.
    pub fn end(mut self) -> [u8; 32] {
        self.section(0);
        match self.sink {
            Sink::Root(root) => root.finalize().into(),
            Sink::Shard(_) => END,
        }
    }

    /// Returns the part of a shard, in bytes.
    pub fn part(mut self) -> Vec<u8> {
        self.section(0);
        match self.sink {
            // Bytes and numbers in memory are always written.
            Sink::Shard(sections) => postcard::to_stdvec(&sections).unwrap_or_default(),
            Sink::Root(_) => Vec::new(),
        }
    }

    /// Returns the digest of all shards, up to its end, if these are their parts.
    pub fn joined(parts: &[impl AsRef<[u8]>]) -> Option<Self> {
        let part = |part: &_| postcard::from_bytes::<Vec<Vec<Piece>>>(AsRef::as_ref(part)).ok();
        let parts: Vec<_> = parts.iter().map(part).collect::<Option<_>>()?;
        // What is after the last section is always empty.
        let sections = parts.first()?.len().checked_sub(1)?;
        if parts.iter().any(|part| part.len() != sections + 1) {
            return None;
        }
        let mut all = Self::of_all();
        for k in 0..sections {
            if k > 0 {
                all.section(0);
            }
            for piece in parts.iter().flat_map(|part| &part[k]) {
                match piece {
                    Piece::Bytes(bytes, ends) => {
                        all.bytes(bytes);
                        if *ends {
                            all.end_group(true);
                        }
                    }
                    Piece::Whole(_) if all.begun => return None,
                    Piece::Whole(digest) => {
                        if let Sink::Root(root) = &mut all.sink {
                            root.update(digest);
                        }
                    }
                }
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A header, and two sections of items, of which some have no bytes and some have many.
    fn put(groups: &mut Groups, items: &[Vec<u8>], before: u64) {
        if before == 0 {
            groups.bytes(b"header");
        }
        for section in 0..2_u8 {
            groups.section(before);
            for item in items {
                groups.bytes(item);
                groups.bytes(&[section]);
                groups.end_item();
            }
        }
    }

    fn in_one_piece(items: &[Vec<u8>]) -> [u8; 32] {
        let mut groups = Groups::of_all();
        put(&mut groups, items, 0);
        groups.end()
    }

    /// The same, as the head of the file says it.
    fn by_the_book(items: &[Vec<u8>]) -> [u8; 32] {
        let mut root = blake3::hash(b"header").as_bytes().to_vec();
        root.extend(END);
        for section in 0..2_u8 {
            for group in items.chunks(GROUP as usize) {
                let bytes: Vec<u8> =
                    group.iter().flat_map(|item| item.iter().copied().chain([section])).collect();
                root.extend(blake3::hash(&bytes).as_bytes());
            }
            root.extend(END);
        }
        blake3::hash(&root).into()
    }

    fn any_items() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let item = prop_oneof![9 => prop::collection::vec(any::<u8>(), 0..4), 1 => Just(vec![7; FULL / 3])];
        prop::collection::vec(item, 0..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn shards_cut_anywhere_have_the_digest_of_the_whole(items in any_items(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(items.len() + 1)).collect();
            cuts.sort_unstable();
            let (mut parts, mut from) = (Vec::new(), 0);
            for to in cuts.into_iter().chain([items.len()]) {
                if to > from || (items.is_empty() && parts.is_empty()) {
                    let mut groups = Groups::of_shard();
                    put(&mut groups, &items[from..to], from as u64);
                    parts.push(groups.part());
                    from = to;
                }
            }
            let whole = in_one_piece(&items);
            prop_assert_eq!(Groups::joined(&parts).map(Groups::end), Some(whole));
            prop_assert_eq!(whole, by_the_book(&items));
        }

        #[test]
        fn any_change_is_seen(mut items in any_items(), place in any::<prop::sample::Index>()) {
            prop_assume!(!items.is_empty());
            let before = in_one_piece(&items);
            let item = place.index(items.len());
            items[item].push(0);
            prop_assert_ne!(in_one_piece(&items), before);
        }

        #[test]
        fn bytes_that_are_no_parts_do_no_harm(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..3)) {
            let _ = Groups::joined(&parts).map(Groups::end);
        }
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        let part = |from: u64, count: usize| {
            let mut groups = Groups::of_shard();
            put(&mut groups, &vec![vec![1]; count], from);
            groups.part()
        };
        assert!(Groups::joined(&[[0_u8; 0]; 0]).is_none());
        assert!(Groups::joined(&[part(0, 10), part(64, 64)]).is_none(), "a group lacks items");
        assert!(Groups::joined(&[part(0, 3), Groups::of_shard().part()]).is_none());
    }
}
