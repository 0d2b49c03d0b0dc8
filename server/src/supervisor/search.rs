//! The next point of an adaptive sweep, after each that is finished. What it is follows from the stored points alone, so a
//! study that is resumed goes on where it was.

use app::studio::PointState;
use measure::adaptive::{Next, Probed, Search};
use measure::study::{PlannedPoint, StudySpec};
use uuid::Uuid;

use super::run::{Halt, Run};
use crate::store::{AddPoint, StoredPoint};
use crate::studio::search::{probe, timed};

impl Run<'_> {
    /// Plans the next point of every configuration that has none left to measure and looks for its ceiling still. Whether
    /// there was one.
    pub(super) async fn search_on(&mut self) -> Result<bool, Halt> {
        let Some(search) = self.model.study.spec.search() else {
            return Ok(false);
        };
        let mut planned = false;
        for configuration in 0..self.model.configurations.len() as u32 {
            if let Some(next) = self.next_probe(&search, configuration) {
                self.add_point(next).await?;
                planned = true;
            }
        }
        Ok(planned)
    }

    fn next_probe(&self, search: &Search, configuration: u32) -> Option<PlannedPoint> {
        let of = || {
            let points = self.model.points.iter();
            points.filter(move |point| point.configuration == configuration)
        };
        // One that is open comes first; one that failed has ended the search until the study is resumed.
        if of().any(|point| point.state != PointState::Finished) {
            return None;
        }
        let probed: Vec<Probed> = of().filter_map(timed).collect();
        match search.next(&probed) {
            Next::Probe(probe) => self.model.study.spec.planned(configuration, probe),
            Next::Stop(_) => None,
        }
    }

    async fn add_point(&mut self, planned: PlannedPoint) -> Result<(), Halt> {
        let point = StoredPoint::planned(Uuid::now_v7(), self.model.points.len() as u32, &planned);
        self.model.points.push(point);
        let event = self.point_event(self.model.points.len() - 1);
        let add = AddPoint {
            study: self.model.study.id,
            point: &self.model.points[self.model.points.len() - 1],
            event: &event,
        };
        match self.parts.store.add_point(&add).await {
            Ok(number) => {
                self.plan.push(planned);
                self.announce(number, event);
                Ok(())
            }
            Err(cause) => {
                self.model.points.pop();
                Err(cause.into())
            }
        }
    }
}

/// A study's plan, of an adaptive sweep as far as it has come.
pub(super) fn plan_so_far(spec: &StudySpec, points: &[StoredPoint]) -> Vec<PlannedPoint> {
    if spec.adaptive.is_none() {
        return spec.plan();
    }
    let planned = points.iter().enumerate().filter_map(|(place, point)| {
        let found = probe(points, place)?;
        spec.planned(point.configuration, found)
    });
    planned.collect()
}
