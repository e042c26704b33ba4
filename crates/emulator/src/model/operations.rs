//! The memory that the arguments of action commands refer to: resources of transfers, and buffers that draws and dispatches fetch
//! from.

use ash::vk;

use super::transfers::Transfer;

/// Consecutive vertices, instances or indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The vertices or indices of a draw, or the workgroups of a dispatch or draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// Workgroups of a dispatch or of mesh shaders, and no vertices; the number of workgroups, unless it is in memory.
    Groups(Option<[u32; 3]>),
    /// Vertices and instances.
    Vertices(Elements, Elements),
    /// Indices and instances: the index buffer selects the vertices.
    Indices(Elements, Elements),
    /// Unknown: the parameters are in memory, or the layer does not read them.
    Unknown { is_indexed: bool },
}

/// The parameters of an indirect command: up to `count` sets in a buffer, `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndirectParameters {
    pub(super) buffer: vk::Buffer,
    pub(super) offset: u64,
    /// Bytes of one set of parameters.
    pub(super) bytes: u64,
    pub(super) stride: u64,
    pub(super) count: u32,
    /// The buffer that contains the number of draws or dispatches, at most `count`, and the offset of that number.
    pub(super) count_buffer: Option<(vk::Buffer, u64)>,
}

/// The memory that the arguments of an action command refer to.
#[derive(Clone, Copy)]
pub(crate) enum Operation<'a> {
    /// The arguments refer to no memory.
    None,
    Transfer(Transfer<'a>),
    Fetch(Fetch),
}

impl<'a> From<Transfer<'a>> for Operation<'a> {
    #[inline]
    fn from(transfer: Transfer<'a>) -> Operation<'a> {
        Operation::Transfer(transfer)
    }
}

impl From<Fetch> for Operation<'_> {
    #[inline]
    fn from(fetch: Fetch) -> Self {
        Operation::Fetch(fetch)
    }
}

impl Operation<'_> {
    /// The number of workgroups of a dispatch, if it is known.
    pub(crate) const fn groups(&self) -> Option<[u32; 3]> {
        match self {
            Operation::Fetch(Fetch {
                drawn: Drawn::Groups(groups),
                ..
            }) => *groups,
            _ => None,
        }
    }

    /// Returns `true` for a draw or a dispatch that does something and has its parameters in its arguments.
    #[inline(always)]
    pub(crate) const fn is_direct(&self) -> bool {
        match self {
            Operation::Fetch(fetch) => fetch.parameters.is_none() && !fetch.is_empty,
            _ => false,
        }
    }

    /// Returns `true` if the command certainly draws or dispatches nothing.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        match self {
            Operation::Fetch(fetch) => fetch.is_empty,
            _ => false,
        }
    }
}

/// Data that a draw or a dispatch fetches from buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    pub(super) drawn: Drawn,
    pub(super) parameters: Option<IndirectParameters>,
    /// True if the command draws or dispatches nothing, because one of its counts is 0.
    pub(super) is_empty: bool,
}

impl Fetch {
    /// A draw or dispatch whose parameters are in memory, or are not read by the layer.
    pub(crate) const UNKNOWN: Fetch = Fetch::of(Drawn::Unknown { is_indexed: false }, false);

    /// Like `UNKNOWN`, for a draw that also reads the index buffer.
    pub(crate) const UNKNOWN_INDEXED: Fetch = Fetch::of(Drawn::Unknown { is_indexed: true }, false);

    const fn of(drawn: Drawn, is_empty: bool) -> Fetch {
        Fetch {
            drawn,
            parameters: None,
            is_empty,
        }
    }

    /// A draw, given the arguments of `vkCmdDraw` in their order.
    #[inline]
    pub(crate) const fn vertices(count: u32, instance_count: u32, first: u32, first_instance: u32) -> Fetch {
        let instances = Elements {
            first: first_instance,
            count: instance_count,
        };
        let is_empty = count == 0 || instance_count == 0;
        Fetch::of(Drawn::Vertices(Elements { first, count }, instances), is_empty)
    }

    /// A draw with indices, given the arguments of `vkCmdDrawIndexed` in their order.
    #[inline]
    pub(crate) const fn indices(count: u32, instance_count: u32, first: u32, first_instance: u32) -> Fetch {
        let instances = Elements {
            first: first_instance,
            count: instance_count,
        };
        let is_empty = count == 0 || instance_count == 0;
        Fetch::of(Drawn::Indices(Elements { first, count }, instances), is_empty)
    }

    /// A dispatch of workgroups.
    #[inline]
    pub(crate) const fn groups(x: u32, y: u32, z: u32) -> Fetch {
        Fetch::of(Drawn::Groups(Some([x, y, z])), x == 0 || y == 0 || z == 0)
    }

    /// A dispatch whose number of workgroups is in a buffer.
    pub(crate) const fn indirect_groups<T>(
        buffer: vk::Buffer,
        offset: u64,
        count: u32,
        stride: u32,
    ) -> Fetch {
        Fetch::indirect::<T>(Drawn::Groups(None), (buffer, offset), count, stride, None)
    }

    /// Draws whose parameters, one `T` per draw, are in a buffer.
    pub(crate) const fn indirect_draws<T>(
        is_indexed: bool,
        parameters: (vk::Buffer, u64),
        count: u32,
        stride: u32,
    ) -> Fetch {
        Fetch::indirect::<T>(Drawn::Unknown { is_indexed }, parameters, count, stride, None)
    }

    /// At most `count` draws; the number of draws is in a buffer too.
    pub(crate) const fn counted_draws<T>(
        is_indexed: bool,
        parameters: (vk::Buffer, u64),
        count_buffer: (vk::Buffer, u64),
        count: u32,
        stride: u32,
    ) -> Fetch {
        Fetch::indirect::<T>(
            Drawn::Unknown { is_indexed },
            parameters,
            count,
            stride,
            Some(count_buffer),
        )
    }

    /// Like `counted_draws`, for workgroups of mesh shaders.
    pub(crate) const fn counted_groups<T>(
        parameters: (vk::Buffer, u64),
        count_buffer: (vk::Buffer, u64),
        count: u32,
        stride: u32,
    ) -> Fetch {
        Fetch::indirect::<T>(Drawn::Groups(None), parameters, count, stride, Some(count_buffer))
    }

    const fn indirect<T>(
        drawn: Drawn,
        (buffer, offset): (vk::Buffer, u64),
        count: u32,
        stride: u32,
        count_buffer: Option<(vk::Buffer, u64)>,
    ) -> Fetch {
        Fetch {
            drawn,
            parameters: Some(IndirectParameters {
                buffer,
                offset,
                bytes: size_of::<T>() as u64,
                stride: stride as u64,
                count,
                count_buffer,
            }),
            is_empty: count == 0,
        }
    }
}
