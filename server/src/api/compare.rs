//! Configurations side by side.

use app::studio::{CompareView, Studio, StudioError};
use axum::Json;
use axum::extract::{RawQuery, State};
use measure::slo::Slo;
use measure::study::FieldError;
use uuid::Uuid;

use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;

/// Compare configurations: `?c=ID&c=ID`, the first is the baseline unless `&baseline=ID` names another of them, as the page takes it;
/// `&slo=TEXT` judges by another SLO.
#[utoipa::path(get, path = "/api/v1/compare", operation_id = "compare", tag = "compare",
    params(("c" = Vec<Uuid>, Query, description = "Configurations, once each; the first is the baseline."),
        ("baseline" = Option<Uuid>, Query, description = "Another of them as the baseline; it comes first in the answer."),
        ("slo" = Option<String>, Query, description = "Judges by this SLO instead of the baseline study's.")),
    responses((status = 200, body = schema::CompareView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn compare(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Json<CompareView>> {
    let (configurations, slo) = read(&query.unwrap_or_default())?;
    Ok(Json(
        edge.studio.compare(&actor, configurations, slo).await?,
    ))
}

/// Unlike other queries this one repeats a name.
fn read(query: &str) -> Result<(Vec<Uuid>, Option<Slo>), StudioError> {
    let wrong = |field: &str, message: String| StudioError::Invalid {
        fields: vec![FieldError {
            field: field.into(),
            message,
        }],
    };
    let (mut configurations, mut baseline, mut slo) = (Vec::new(), None, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "c" => configurations.push(
                value
                    .parse()
                    .map_err(|_| wrong("c", format!("{value:?} is no configuration's id")))?,
            ),
            "baseline" => baseline = Some(value.into_owned()),
            "slo" => {
                slo = Some(
                    value
                        .parse::<Slo>()
                        .map_err(|error| wrong("slo", error.to_string()))?,
                )
            }
            _ => {}
        }
    }
    if let Some(text) = baseline {
        let id = text.parse::<Uuid>().ok();
        let place = configurations.iter().position(|it| Some(*it) == id);
        let place = place.ok_or_else(|| {
            wrong(
                "baseline",
                format!("{text:?} is none of the configurations in c"),
            )
        })?;
        configurations[..=place].rotate_right(1);
    }
    Ok((configurations, slo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept_for_the_first_is_the_baseline() {
        let (one, two) = (Uuid::from_u128(2), Uuid::from_u128(1));
        assert_eq!(
            read(&format!("c={one}&c={two}&x=y")).expect("query").0,
            [one, two]
        );
    }

    #[test]
    fn another_baseline_comes_first_and_the_others_keep_their_order() {
        let [one, two, three] = [1, 2, 3].map(Uuid::from_u128);
        let all = format!("c={one}&c={two}&c={three}");
        let order = |rest: &str| read(&format!("{all}{rest}")).expect("query").0;
        assert_eq!(order(&format!("&baseline={three}")), [three, one, two]);
        assert_eq!(order(&format!("&baseline={one}")), [one, two, three]);
        for wrong in ["7".to_owned(), Uuid::from_u128(7).to_string()] {
            let refused = read(&format!("{all}&baseline={wrong}")).expect_err("refused");
            assert!(refused.to_string().starts_with("baseline: "), "{refused}");
        }
    }

    #[test]
    fn what_is_no_id_is_named() {
        assert_eq!(
            read("c=7").expect_err("refused").to_string(),
            "c: \"7\" is no configuration's id"
        );
    }
}
