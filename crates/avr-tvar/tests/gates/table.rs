//! The table of the book.
