//! The rules of contents, each of which can be disabled.

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// Rules of contents. Disabling one gives a wrong oracle, which some program must distinguish from the correct one.
        #[derive(Clone, Copy, Debug)]
        pub(in crate::contents) struct Rules {
            $($(#[$doc])* pub(in crate::contents) $name: bool,)+
        }

        impl Rules {
            /// All rules.
            pub(in crate::contents) const ALL: Rules = Rules { $($name: true),+ };

            /// Every rule's name, with all rules but that one.
            pub(in crate::contents) fn mutations() -> Vec<(&'static str, Rules)> {
                vec![$((stringify!($name), Rules { $name: false, ..Rules::ALL })),+]
            }
        }
    };
}

rules! {
    /// The first loss since the last write is reported.
    first_loss_remains,
    /// Commands that discard replace `NeverWritten`.
    discards_replace_never_written,
    /// Discards of memory do not replace it.
    memory_discards_keep_never_written,
    /// Discards of memory affect linear resources by byte.
    discards_are_exact_in_buffers,
    /// Any cell of an image may be at any of its bytes.
    images_are_anywhere,
    /// Discards of parts of an image accumulate.
    discards_add_up,
    /// A write makes discarded contents defined.
    writes_define,
    /// A store operation does not make lost contents defined.
    stores_keep_losses,
    /// Partial loss by a discard of memory is reported.
    partial_discards_are_reported,
    /// Partial loss is certain only if everything is read.
    smaller_reads_are_possible,
    /// Reads of an image with some lost subresources or texels are possible findings: programs bind more than they use.
    lost_parts_of_images_are_possible,
    /// It is certain only if the same bytes are undefined in all subresources.
    partial_loss_needs_common_bytes,
    /// Losses include the last write before them.
    last_write,
    /// Only some discards report their contents.
    discards_report_on_request,
    /// Writes by shaders that may access any elements are possible contents.
    partial_writes_are_possible,
    /// Some bytes of an image possibly have contents if some of its subresources do.
    some_of_an_image_is_possible,
    /// Discarded bytes do not have contents.
    discarded_bytes_hold_nothing,
    /// Writes through buffers in the same bytes also count as contents.
    aliases_hold,
    /// Contents that an image with the same interpretation has replaced are possible losses.
    equal_images_are_aliases,
    /// A resource that was never written has no contents that a write through another one replaces.
    only_own_contents_are_replaced,
    /// Contents are undefined after a release to another queue family.
    releases_lose,
    /// They are defined again after the acquire.
    acquires_restore,
    /// Transfers make all aliases undefined.
    transfers_lose_aliases,
    /// Contents are undefined once another queue family accesses them without a transfer.
    other_families_lose,
    /// Released contents are not owned.
    releases_end_ownership,
    /// An acquire makes its queue family the owner.
    acquires_pass_ownership,
    /// An acquire without a release loses contents.
    acquires_need_a_release,
    /// Contents of concurrent resources have no owner.
    concurrent_contents_have_no_owner,
    /// Some queue families implicitly acquire contents of others without a loss, in some resources.
    implicit_transfers_keep,
    /// Other families need a transfer.
    other_implicit_transfers_lose,
    /// All texels of a subresource have the same owner.
    subresources_have_one_owner,
    /// Contents that the host has written have no owner.
    host_writes_have_no_owner,
    /// Contents that were written through another resource have no owner.
    aliases_have_no_owner,
    /// Resources that share contents because they interpret bytes consistently have no owner.
    equal_images_have_no_owner,
    /// A write of unknown elements does not take ownership of elements that have another owner.
    partial_writes_keep_owners,
    /// A write of unknown elements of undefined contents does.
    partial_writes_of_nothing_own,
    /// A read of unknown elements leaves ownership.
    partial_reads_take_nothing,
    /// Transitions take ownership.
    transitions_take,
}
