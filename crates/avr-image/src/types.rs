//! Types of variables, as far as debug information tells.

use std::sync::Arc;

/// The type of a variable of one to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its size in bytes.
    pub bytes: u8,
    /// The signedness; `None` where debug information does not say (an enumeration of older compilers).
    pub signed: Option<bool>,
}

/// The type of a variable or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number: an integer, an enumeration, a truth value, or a pointer.
    Scalar(Scalar),
    /// Elements of one type, one behind the other.
    Array {
        /// The type of the elements.
        element: Arc<Type>,
        /// The size of an element in bytes.
        stride: u32,
        /// The number of elements; none where it is not stated.
        count: Option<u32>,
    },
    /// A structure or a union.
    Struct(Arc<[Member]>),
    /// Anything else, such as a floating-point number.
    Other,
}

/// A member of a structure or a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name; empty for an anonymous structure, whose members count as those of the outer one.
    pub name: String,
    /// Bytes from the beginning of the structure.
    pub offset: u32,
    /// Its type; [`Type::Other`] for a field of bits.
    pub of: Type,
}

impl Type {
    /// The member of a name, with its offset in bytes: also in anonymous structures.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<(u32, &Type)> {
        let Self::Struct(members) = self else { return None };
        members.iter().find_map(|member| match member.name.as_str() {
            "" => member.of.member(name).map(|(offset, of)| (member.offset + offset, of)),
            own => (own == name).then_some((member.offset, &member.of)),
        })
    }

    /// The bytes that a variable of this type has at least.
    pub(crate) fn least_bytes(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.bytes.into(),
            Self::Array { stride, count, .. } => u64::from(*stride) * u64::from(count.unwrap_or(0)),
            Self::Struct(members) => {
                let end = |member: &Member| u64::from(member.offset) + member.of.least_bytes();
                members.iter().map(end).max().unwrap_or(0)
            }
            Self::Other => 0,
        }
    }

    /// The names of all members, those of anonymous structures included.
    #[must_use]
    pub fn member_names<'a>(&'a self) -> Vec<&'a str> {
        let Self::Struct(members) = self else { return Vec::new() };
        let names = |member: &'a Member| match member.name.as_str() {
            "" => member.of.member_names(),
            own => vec![own],
        };
        members.iter().flat_map(names).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Member, Scalar, Type};
    use std::sync::Arc;

    #[test]
    fn a_type_has_the_bytes_of_its_last_member_at_least() {
        let word = Type::Scalar(Scalar { bytes: 2, signed: None });
        let words = Type::Array { element: Arc::new(word.clone()), stride: 2, count: Some(3) };
        let members = [("one", 1, word), ("more", 4, words), ("bits", 3, Type::Other)];
        let members = members.map(|(name, offset, of)| Member { name: name.to_owned(), offset, of });
        assert_eq!(Type::Struct(Arc::new(members)).least_bytes(), 10);
        assert_eq!(Type::Struct(Arc::new([])).least_bytes(), 0);
    }
}
