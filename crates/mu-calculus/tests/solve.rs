//! Verdicts of small problems.

use mu_calculus::{AtomId, GraphBuilder, Labels, NormalForm, Problem, StateId, parse_formula};
use three_valued::Truth;

#[test]
fn smoke() {
    let mut b = GraphBuilder::new();
    for s in 0..4u32 {
        b.state();
        if s < 3 {
            b.edge([StateId(s + 1)]);
        }
        if s == 1 {
            b.edge([StateId(0), StateId(2)]);
        }
        if s == 3 {
            b.edge([StateId(3)]);
        }
    }
    let g = b.finish(StateId(0)).unwrap();
    let mut l = Labels::new(1, 4);
    for s in 0..4 {
        l.set(AtomId(0), StateId(s), Truth::from(s == 3));
    }
    for (text, want) in [
        ("AG p", Truth::False),
        ("AF p", Truth::Unknown),
        ("EF p", Truth::True),
        ("EF AG p", Truth::True),
        ("AG EF p", Truth::True),
        ("mu X. nu Y. []X || (p && []Y)", Truth::Unknown),
        ("nu X. mu Y. <>((p && X) || Y)", Truth::True),
    ] {
        let f = parse_formula(text).unwrap();
        assert_eq!(parse_formula(&f.to_string()).unwrap(), f);
        let f = f.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).unwrap();
        let n = NormalForm::new(&f).unwrap();
        let p = Problem { graph: &g, labels: &l, formula: &n };
        let s = p.solve(&|| false).unwrap();
        println!("{text}: {:?} {:?}", s.verdict(), s.culprits(&p).next());
        assert_eq!(s.verdict(), want, "{text}");
    }
}
