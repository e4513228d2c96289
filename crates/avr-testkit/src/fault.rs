//! Deliberate faults of one thread, to see that its tests find them.

/// Declares `faulty` and `with_fault` for a type of faults, in the module that has the faults or the checks that may be left out.
///
/// `faulty(fault)` says that this thread has that fault; `with_fault(fault, work)` does something with it.
#[macro_export]
macro_rules! thread_faults {
    ($fault:ty) => {
        ::std::thread_local! {
            /// The fault of this thread.
            static FAULT: ::std::cell::Cell<Option<$fault>> = const { ::std::cell::Cell::new(None) };
        }

        /// Says that this thread has a fault.
        pub(crate) fn faulty(fault: $fault) -> bool {
            FAULT.get() == Some(fault)
        }

        /// Does something with a fault, which is taken out again whatever comes of it.
        pub(crate) fn with_fault<T>(fault: $fault, work: impl FnOnce() -> T) -> T {
            struct TakenOut;
            impl Drop for TakenOut {
                fn drop(&mut self) {
                    FAULT.set(None);
                }
            }
            FAULT.set(Some(fault));
            let _taken_out = TakenOut;
            work()
        }
    };
}

#[cfg(test)]
mod tests {
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) enum Fault {
        One,
        Other,
    }

    thread_faults!(Fault);

    #[test]
    fn faults_are_there_for_as_long_as_asked() {
        assert!(!faulty(Fault::One));
        assert!(with_fault(Fault::One, || faulty(Fault::One) && !faulty(Fault::Other)));
        assert!(!faulty(Fault::One));
    }

    #[test]
    fn faults_of_other_threads_do_not_count() {
        let elsewhere = || std::thread::spawn(|| faulty(Fault::One)).join().expect("it does not panic");
        assert!(!with_fault(Fault::One, elsewhere));
    }

    #[test]
    fn faults_do_not_outlast_a_panic() {
        let ended = std::panic::catch_unwind(|| with_fault(Fault::Other, || panic!("on purpose")));
        assert!(ended.is_err() && !faulty(Fault::Other));
    }
}
