//! What is plotted, as files: addresses of the pages, which stand in the document beside those of the interface.

use utoipa::{IntoParams, OpenApi};

/// What a study's page shows, as its query says it. What stands there in vain is as if it did not.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Shown {
    /// The latency: `ttft` (so it is where nothing is said), `ttfa`, `tpot`, `itl`, `stall` or `e2e`; `scheduled_ttft`, `scheduled_ttfa` and `scheduled_e2e` count from when requests were due.
    pub y: Option<String>,
    /// Its percentile: `p50`, `p95` (so it is where nothing is said) or `p99`.
    pub p: Option<String>,
    /// What stands below: `tok` (so it is where nothing is said), `offered` or `completed`.
    pub x: Option<String>,
    /// `log` for logarithmic axes.
    pub scale: Option<String>,
    /// Judges by this SLO; behind a link that shows figures alone it is passed over.
    pub slo: Option<String>,
    /// Indices of configurations that are left out, with commas.
    pub hide: Option<String>,
    /// The part of the horizontal axis: `FROM,TO`.
    pub zoom: Option<String>,
}

/// What the compare page shows beside that.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Side {
    /// A configuration, once each. Behind a link all that it shows where none is named.
    pub c: Vec<uuid::Uuid>,
    /// The one that the others are compared with; the first where nothing is said.
    pub baseline: Option<uuid::Uuid>,
    /// `overlay` (so it is where nothing is said), `small` or `knob`.
    pub view: Option<String>,
    /// The knob of `view=knob`, where it is not the first that fits.
    pub knob: Option<String>,
}

/// The files.
#[derive(OpenApi)]
#[openapi(
    paths(
        crate::pages::curve::svg,
        crate::pages::curve::png,
        crate::pages::curve::csv,
        crate::pages::curve::shared_svg,
        crate::preview::png,
        crate::pages::curve::shared_csv,
        crate::pages::compare::svg,
        crate::pages::compare::png,
        crate::pages::compare::csv,
        crate::pages::compare::shared_svg,
        crate::pages::compare::shared_png,
        crate::pages::compare::shared_csv,
    ),
    tags((name = "plotted", description = "What pages show, as pictures and rows; their addresses are those of the pages."))
)]
pub struct Plotted;
