//! Packing into several pools, with the constraints of compilers.
//!
//! ```text
//! sram  ┤┌─ a ─┐░░░░░┌─ a ─┐      a is live twice, and b takes its bytes in between; c and d are on two branches of a conditional,
//!       ┤│     │┌ b ┐│     │      and share bytes though their lifetimes overlap; what shares bytes may have a price
//! dram  ┤├─── c, d ───┤
//! ```
//! A [`PoolsDesc`] has pools with capacities and reserved ranges; items that are live in several spans, with the pools they may use;
//! items that share an offset, pairs that must not share bytes, pairs that are exclusive, and *reuse penalties*: what a pair costs if it
//! shares bytes, a barrier for example. [`solve`] finds the packing of the lowest cost within the capacities, and a bound of it; a pool
//! without a capacity is made small first. [`check`] judges a packing from the description alone.
//!
//! # Limits
//! The search is exhaustive up to ten units; beyond that it is local, and the bound by cliques seldom proves its packings. Items
//! prefer no pool. One pool and none of these constraints is a [`Problem`](crate::Problem), whose searches are far faster.
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
pub use desc::{Pool, PoolItem, PoolsDesc, Reserved};
pub use error::PoolsError;
pub use packing::{Place, PoolsAnswer, PoolsPacking};
pub use problem::PoolsProblem;
pub use solve::solve;
