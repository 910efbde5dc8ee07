//! The sealed file: named tensors, a header in JSON, and digests that tell what was altered.
//!
//! Model files, checkpoints and the maps of converted data are three uses of it, and data files, which are mapped, a fourth. A use names its `Kind`, a header that
//! serde can write, and tensors; the container adds the version and the digests, and seals the header.
//!
//! ```text
//! Form::Tensors   a safetensors file. metadata  KEY: {"seal": SHA-256 of the header's text, "header": {…}}
//!                                     header    {"format_version": …, the fields of the use, "digests": {name: SHA-256}}
//! Form::Lines     dualgap KIND VERSION          a line that says what the file is
//!                 {"seal": …, "header": {…}}    a line: the fields of the use, and "digest", the SHA-256 of what follows
//!                 …                             the bytes of the one tensor `body`
//! ```
//!
//! A reader refuses bytes that are cut off, are of another kind or version, lie about sizes, or have a tensor that is
//! missing, comes twice, has another shape or another digest than the header says. It allocates memory only in
//! proportion to the file.
//!
//! A structure of one's own keeps numbers in a model file as [`Tensor`]s and takes them from its [`Reader`]. For programs there are
//! [`write_atomically`], which leaves a whole file or none, and [`Temporary`] files, which are removed when the program ends.
//!
//! - `writer`, `reader`: from tensors to bytes and back; `kind`: what a file is.
//! - `digest`: SHA-256; `fault`: what is wrong with a file.
//! - `mapped`: files of arrays that are mapped and not read, with digests of their portions.
//! - `atomic`: files that are written whole or not at all; `temporary`: files to remove when the program ends.

pub(crate) mod atomic;
mod digest;
mod fault;
mod groups;
mod kind;
mod mapped;
mod reader;
pub(crate) mod temporary;
mod twins;
mod writer;

pub use atomic::{check_link, write_atomically};
pub use digest::Digest;
pub use fault::Fault;
pub(crate) use kind::{Form, Kind};
pub(crate) use mapped::{MappedFile, MappedWriter};
pub use reader::Reader;
pub(crate) use reader::read_file;
pub use temporary::{Temporary, discard_all};
pub use writer::Tensor;
pub(crate) use writer::Writer;

#[cfg(test)]
mod tests;
