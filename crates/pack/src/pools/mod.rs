//! Packing into several pools, with the constraints that compilers need.
//!
//! ```text
//! sram  ┤┌─ a ─┐░░░░░┌─ a ─┐      a is live twice, and b takes its bytes in between; c and d are on two branches of a conditional,
//!       ┤│     │┌ b ┐│     │      and share bytes although their lifetimes overlap; sharing bytes may have a cost
//! dram  ┤├─── c, d ───┤
//! ```
//! A [`PoolsDesc`] has pools with capacities and reserved ranges; items that are live in several spans, with the pools they may use; items that share
//! an offset, pairs that must not share bytes, pairs that are exclusive, and *reuse penalties*: the cost of a pair if it shares bytes, for example of
//! a barrier. [`solve`] finds the packing of the lowest cost within the capacities, and a lower bound; a pool without a capacity is first made small.
//! [`check`] checks a packing against the description only.
//!
//! # Limits
//! The search is exhaustive for up to ten units; beyond that it is a local search, and the clique bound seldom proves its packings optimal. Items
//! cannot prefer a pool. For one pool without these constraints use [`Problem`](crate::Problem), whose searches are far faster.
//!
//! ```
//! use std::ops::ControlFlow;
//! use tileheap_pack::Steps;
//! use tileheap_pack::pools::{Pool, PoolItem, PoolsDesc, check, solve};
//! use tileheap_pack::units::{Bytes, Span};
//!
//! let pool = Pool { name: "sram".into(), capacity: Some(Bytes(8)), ..Pool::default() };
//! let item = |id: &str, first, end| PoolItem::new(id, vec![Span::new(first, end)], Bytes(4));
//! let desc = PoolsDesc {
//!     pools: vec![pool],
//!     items: vec![item("a", 0, 3), item("b", 3, 6), item("c", 3, 6), item("d", 6, 9)],
//!     penalties: vec![("a".into(), "b".into(), 2), ("a".into(), "c".into(), 1)],
//!     ..PoolsDesc::default()
//! };
//! let problem = desc.build()?;
//! let answer = solve(&problem, Steps::default(), &mut |_| ControlFlow::Continue(()));
//! let packing = answer.packing.expect("it fits");
//! check(&problem, &packing)?;
//! assert_eq!((packing.cost, answer.bound), (1, 1)); // `c` takes the bytes of `a`
//! # Ok::<(), tileheap_pack::Error>(())
//! ```

mod anneal;
mod bound;
mod check;
mod desc;
mod error;
mod few;
mod packing;
mod problem;
mod solve;
mod state;

pub use check::check;
pub use desc::{Pool, PoolItem, PoolsDesc, ReservedRange};
pub use error::PoolsError;
pub use packing::{PoolPlacement, PoolsAnswer, PoolsPacking};
pub use problem::PoolsProblem;
pub use solve::solve;
