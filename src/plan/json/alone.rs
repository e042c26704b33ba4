//! What can be told of a plan's text without its frame.

use std::collections::BTreeSet;

use super::error::PlanJsonError;
use super::form::{Document, FORMAT, Pass, Placement, Resource, VERSION};
use super::read::{check_numbers, fault};
use tileheap_json::clip;

pub(super) fn check(text: &str) -> crate::Result<()> {
    let document: Document = tileheap_json::read(text, FORMAT, VERSION).map_err(|error| PlanJsonError {
        what: error.to_string(),
    })?;
    let value = serde_json::from_str(text).map_err(|error| fault(clip(&error.to_string())))?;
    check_numbers(&value)?;
    let names = Names::of(&document)?;
    for resource in &document.resources {
        names.check_resource(resource)?;
    }
    for pass in &document.passes {
        names.check_pass(pass)?;
    }
    Ok(())
}

/// What the parts of a document may name.
struct Names<'a> {
    resources: BTreeSet<&'a str>,
    passes: BTreeSet<&'a str>,
    objects: usize,
}

impl<'a> Names<'a> {
    fn of(document: &'a Document) -> Result<Names<'a>, PlanJsonError> {
        let resources = document.resources.iter().map(|resource| resource.name.as_str());
        let passes = document.passes.iter().map(|pass| pass.name.as_str());
        Ok(Names {
            resources: unique("resource", resources)?,
            passes: unique("pass", passes)?,
            objects: document.objects.len(),
        })
    }

    fn check_resource(&self, resource: &Resource) -> Result<(), PlanJsonError> {
        let by = || format!("resource `{}`", clip(&resource.name));
        for access in &resource.accesses {
            self.pass(&access.pass, by)?;
        }
        for placement in &resource.placements {
            self.check_placement(placement, by)?;
        }
        Ok(())
    }

    fn check_placement(&self, placement: &Placement, by: impl Fn() -> String) -> Result<(), PlanJsonError> {
        self.object(placement.object, &by)?;
        for pass in placement.first_pass.iter().chain(&placement.last_pass) {
            self.pass(pass, &by)?;
        }
        if placement.first > placement.end || placement.end.0 as usize > self.passes.len() {
            return Err(fault(format!(
                "{} has a placement from step {} to {}, and there are {} passes",
                by(),
                placement.first.0,
                placement.end.0,
                self.passes.len()
            )));
        }
        Ok(())
    }

    fn check_pass(&self, pass: &Pass) -> Result<(), PlanJsonError> {
        let by = || format!("pass `{}`", clip(&pass.name));
        self.object(pass.bound_object, by)?;
        let accessed = pass.accesses.iter().map(|access| &access.resource);
        let barriers = pass.barriers_before.iter().chain(&pass.barriers_after);
        for resource in accessed.chain(barriers.map(|barrier| &barrier.resource)) {
            known(&self.resources, "resource", resource, by)?;
        }
        Ok(())
    }

    fn pass(&self, name: &str, by: impl Fn() -> String) -> Result<(), PlanJsonError> {
        known(&self.passes, "pass", name, by)
    }

    fn object(&self, index: Option<u32>, by: impl Fn() -> String) -> Result<(), PlanJsonError> {
        match index {
            Some(index) if index as usize >= self.objects => Err(fault(format!(
                "{} is in object {index}, and there are {}",
                by(),
                self.objects
            ))),
            _ => Ok(()),
        }
    }
}

fn known(
    names: &BTreeSet<&str>,
    what: &str,
    name: &str,
    by: impl Fn() -> String,
) -> Result<(), PlanJsonError> {
    if names.contains(name) {
        return Ok(());
    }
    Err(fault(format!(
        "{} names {what} `{}`, which the plan does not have",
        by(),
        clip(name)
    )))
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<BTreeSet<&'a str>, PlanJsonError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(fault(format!("two {what}s are called `{}`", clip(name))));
        }
    }
    Ok(seen)
}
