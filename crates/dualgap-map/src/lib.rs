//! Files in memory maps, as arrays that own their map; and what will soon be read of any memory, asked for ahead.
//!
//! [`Map`] maps a file for reading; [`Map::array`] returns a part of it as an [`Array`] of numbers, which keeps the map alive. The
//! operating system reads pages when they are touched and drops them when memory is short, so that a file may be larger than the
//! memory of the machine. [`release`] drops them at once, for processes that are watched by how much memory they have.
//! [`fetch`] brings a cache line near before it is needed.
//!
//! # Soundness
//!
//! - *Lifetime.* An array has a pointer into the map and a reference count of it. The map is unmapped with the last of them, a map
//!   never moves, and the slice leaves an array only under a borrow of the array.
//! - *Types.* Bytes become numbers by `bytemuck`, which checks length and alignment; every bit pattern of such a number is valid.
//! - *Changes.* The file is opened and mapped for reading only, so that nothing here writes to it. Another program that writes to the
//!   file in place would change numbers behind a shared reference; one that truncates it would have the system end this process
//!   (`SIGBUS`) at the next touch of a page that is gone. No program can prevent that of a mapped file. What can be done is done: the
//!   file is held under a shared advisory lock as long as it is mapped, and whatever writes such files here writes a new file and
//!   renames it, so that a map keeps the old contents. To remove or replace a mapped file by a rename is harmless.
//! - *Dropped pages.* A map is shared with its file and never written to, so that a page that was dropped is read from the file again
//!   at the next touch, with the same contents. Threads that read at the same time wait for it.
//! - *Fetching ahead* is an instruction of every processor of its architecture that changes nothing but caches.

mod fetch;

pub use bytemuck::Pod;
pub use fetch::{fetch, fetch_all};
use memmap2::Mmap;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A file that is mapped for reading.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("numbers");
/// std::fs::write(&path, [1_u32, 2, 3].map(u32::to_le_bytes).concat())?;
/// let map = dualgap_map::Map::open(&path)?;
/// let last = map.array::<u32>(4, 2).expect("it is aligned, and within the file");
/// drop(map); // the array keeps it
/// assert_eq!([last[0], last[1]].map(u32::from_le), [2, 3]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Map(Arc<Held>);

#[derive(Debug)]
struct Held {
    bytes: Mmap,
    /// Open as long as the map, because it has the lock.
    _file: File,
}

/// All maps of the process.
static MAPS: Mutex<Vec<Weak<Held>>> = Mutex::new(Vec::new());

/// Returns the list of all maps; it stays whole whatever a thread that holds it does.
fn maps() -> MutexGuard<'static, Vec<Weak<Held>>> {
    MAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how many bytes of files this process has mapped, in memory or not.
pub fn mapped() -> usize {
    maps().iter().filter_map(Weak::upgrade).map(|held| held.bytes.len()).sum()
}

/// Drops the pages of all maps from the memory of this process, and returns how many bytes are mapped. The operating system
/// keeps them as long as it has room, and reads them when they are touched again: it costs time, and changes nothing. Where there is no
/// such call nothing happens.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("numbers");
/// std::fs::write(&path, [7; 8])?;
/// let map = dualgap_map::Map::open(&path)?;
/// assert!(dualgap_map::release() >= 8);
/// assert_eq!(map.bytes(), [7; 8]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn release() -> usize {
    // Without the lock, so that files can be opened meanwhile.
    let all: Vec<Arc<Held>> = maps().iter().filter_map(Weak::upgrade).collect();
    all.iter().map(|held| held.release()).sum()
}

impl Held {
    fn release(&self) -> usize {
        #[cfg(unix)]
        if !self.bytes.is_empty() {
            // SAFETY: a map for reading that is shared with its file has the same contents when its pages are read again; see
            // the head of this file.
            let advised =
                unsafe { self.bytes.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
            // It is advice: pages that stay do no harm.
            drop(advised);
        }
        self.bytes.len()
    }
}

impl Map {
    /// Maps a file. One that another program has locked for itself is an error of the kind `ResourceBusy`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(Error::new(ErrorKind::InvalidInput, "only a plain file can be mapped"));
        }
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(ErrorKind::ResourceBusy, "another program has locked it"));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        // SAFETY: the file is mapped for reading only; what other programs can do to it is in the head of this file.
        let bytes = unsafe { Mmap::map(&file) }?;
        let held = Arc::new(Held { bytes, _file: file });
        let mut all = maps();
        all.retain(|held| held.strong_count() > 0);
        all.push(Arc::downgrade(&held));
        Ok(Self(held))
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns `len` numbers from byte `at` on, in the byte order of the machine, or `None` if they are not within the file or
    /// not aligned.
    pub fn array<T: Pod>(&self, at: usize, len: usize) -> Option<Array<T>> {
        let end = at.checked_add(len.checked_mul(size_of::<T>())?)?;
        let numbers: &[T] = bytemuck::try_cast_slice(self.0.bytes.get(at..end)?).ok()?;
        // SAFETY: the slice lies in the map, which neither moves nor ends before `held` is dropped, and `Array` lends it only
        // under a borrow of itself.
        let numbers: &'static [T] = unsafe { &*std::ptr::from_ref(numbers) };
        Some(Array { numbers, held: Arc::clone(&self.0) })
    }
}

/// Numbers in a mapped file.
#[derive(Clone, Debug)]
pub struct Array<T: 'static> {
    /// Private, and lent only under a borrow of the array: it is valid as long as `held`.
    numbers: &'static [T],
    held: Arc<Held>,
}

impl<T> Array<T> {
    /// The numbers.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.numbers
    }

    /// Whether two arrays are of the same map.
    pub fn is_beside<U>(&self, other: &Array<U>) -> bool {
        Arc::ptr_eq(&self.held, &other.held)
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For tests that see when a map ends: `release` holds all of them for a moment.
    static ALONE: Mutex<()> = Mutex::new(());

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn arrays_are_the_bytes_of_the_file_and_outlive_map_and_name() {
        let numbers = [1.5_f64, -2.0, 1e300];
        let (folder, path) = file(bytemuck::cast_slice(&numbers));
        let map = Map::open(&path).unwrap();
        let (all, last) = (map.array::<f64>(0, 3).unwrap(), map.array::<u64>(16, 1).unwrap());
        assert!(all.is_beside(&last));
        let copy = all.clone();
        drop((map, all, folder));
        assert!(!path.exists());
        let read = std::thread::spawn(move || copy.to_vec()).join().unwrap();
        assert_eq!((read.as_slice(), last[0]), (&numbers[..], 1e300_f64.to_bits()));
    }

    #[test]
    fn what_is_outside_or_not_aligned_is_no_array() {
        let (_folder, path) = file(&[0; 16]);
        let map = Map::open(&path).unwrap();
        assert_eq!(map.bytes().len(), 16);
        for (at, len) in
            [(0, 3), (8, 2), (16, 1), (17, 0), (4, 1), (usize::MAX, 1), (8, usize::MAX)]
        {
            assert!(map.array::<u64>(at, len).is_none(), "{at} {len}");
        }
        assert!(map.array::<u64>(16, 0).is_some_and(|none| none.is_empty()));
    }

    #[test]
    fn what_is_no_file_is_not_mapped() {
        let (folder, path) = file(b"");
        assert!(Map::open(folder.path()).is_err());
        assert!(Map::open(&folder.path().join("none")).is_err());
        assert!(Map::open(&path).is_ok_and(|map| map.bytes().is_empty()));
    }

    #[test]
    fn a_file_that_is_replaced_by_a_rename_stays_as_it_was_mapped() {
        let (folder, path) = file(&[7; 8]);
        let map = Map::open(&path).unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, [9; 8]).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(map.bytes(), [7; 8]);
        assert_eq!(Map::open(&path).unwrap().bytes(), [9; 8]);
    }

    /// How many bytes of mapped files are in the memory of this process, by the table of the system.
    #[cfg(target_os = "linux")]
    fn resident(name: &str) -> usize {
        let table = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = table.lines().skip_while(|line| !line.ends_with(name));
        let found = lines.find_map(|line| line.strip_prefix("Rss:"));
        let kilobytes: usize = found.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
        1024 * kilobytes
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn released_pages_leave_the_memory_and_come_back_the_same() {
        let _alone = ALONE.lock();
        let bytes: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("released-pages");
        std::fs::write(&path, &bytes).unwrap();
        let map = Map::open(&path).unwrap();
        assert_eq!(map.bytes(), bytes);
        assert!(mapped() >= bytes.len());
        assert!(resident("released-pages") >= bytes.len() / 2);
        // Others read while the pages are dropped.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..20).for_each(|_| assert_eq!(map.bytes(), bytes)));
            }
            (0..100).for_each(|_| assert!(release() >= bytes.len()));
        });
        release();
        assert_eq!(resident("released-pages"), 0);
        assert_eq!(map.bytes(), bytes);
        drop(map);
        let again = Map::open(&path).unwrap();
        assert!(maps().iter().all(|held| held.strong_count() > 0));
        drop(again);
    }

    #[test]
    fn a_file_is_locked_against_those_who_ask() {
        let _alone = ALONE.lock();
        let (_folder, path) = file(&[7; 8]);
        let other = File::options().write(true).open(&path).unwrap();
        other.lock().unwrap();
        assert_eq!(Map::open(&path).unwrap_err().kind(), ErrorKind::ResourceBusy);
        other.unlock().unwrap();
        let (one, two) = (Map::open(&path).unwrap(), Map::open(&path).unwrap());
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop((one, two));
        assert!(other.try_lock().is_ok());
    }
}
