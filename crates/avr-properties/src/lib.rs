//! Property files and the binding of their names to a machine and an image.
#![forbid(unsafe_code)]
