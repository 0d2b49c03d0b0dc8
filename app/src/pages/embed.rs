//! A shared study's curve for a page elsewhere, in a frame: sentence, curve, and a link to all of it. No script, no cookie, no file beside
//! it; light or dark as the reader's system says.

use crate::chart::Chart;
use crate::figure_svg::whole;
use crate::pages::main_chart;
use crate::studio::StudyView;
use crate::ui::badge::{INSECURE, SIMULATED, TOY_MODEL, Word, study_word};
use crate::ui::html::{Html, html};
use crate::url_state::ViewState;
use crate::words;

/// The colours of `public/css/tokens.css`, and no more than a curve needs.
const STYLE: &str = r#":root{color-scheme:light dark;--bg:light-dark(#fff,#0d0d10);--text:light-dark(#17171c,#ededf2);--muted:light-dark(#5d5d69,#a2a2af);--line:light-dark(#e5e5ea,#2a2a31);--line-strong:light-dark(#85858f,#6f6f7b);--accent:light-dark(#4a3fd1,#a9a4ff);--warn:light-dark(#8a5600,#efb756);--series-1:light-dark(#0072b2,#3d9bd6);--series-2:light-dark(#d55e00,#e8741a);--series-3:light-dark(#009e73,#1fb88b);--series-4:light-dark(#bf6697,#d78fb6);--series-5:light-dark(#b97f00,#e69f00);--series-6:light-dark(#2e93cc,#7cc7f0);--series-7:light-dark(#9a8d00,#f0e442);--series-8:light-dark(#17171c,#ededf2)}
*{box-sizing:border-box}html,body{height:100%;margin:0}body{background:var(--bg);color:var(--text);font:14px/20px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
main{display:flex;flex-direction:column;gap:8px;min-height:100%;padding:12px 16px}h1,p{margin:0}h1{font-size:16px;line-height:24px}.small{font-size:12px;line-height:16px;color:var(--muted)}.badge{color:var(--warn);font-weight:600}a{color:var(--accent)}
.plot{position:relative;flex:1 1 220px;min-height:220px}.picture{position:absolute;inset:28px 16px 52px 56px}.picture>svg{display:block}.limit{position:absolute;right:16px;font-size:12px;color:var(--accent);background:var(--bg);transform:translateY(-50%);padding:0 4px}"#;

/// A chart in a frame, with what is said of it.
pub struct Framed<'a> {
    /// What it is of.
    pub name: &'a str,
    /// What stands above the chart.
    pub said: Html,
    /// What stands in the address in vain, a sentence each.
    pub told: &'a [String],
    /// The chart.
    pub chart: &'a Chart,
    /// What judges it.
    pub slo: &'a str,
    /// Where all of it is.
    pub whole: String,
}

impl Framed<'_> {
    /// The whole document.
    pub fn document(self) -> String {
        let told = self.told.iter();
        let told = told.map(|it| html!(r#"<p class="small">{}</p>"#, it));
        html!(
            r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>{}</title><style>{}</style></head><body><main><h1>{}</h1>{}{}<div class="plot"><div class="picture">{}</div></div><p class="small">{}</p><p class="small">SLO: {}. <a href="{}" target="_blank" rel="noopener">All of it in Goodput Studio</a></p></main></body></html>"#,
            self.name,
            Html::script(STYLE.to_owned()),
            self.name,
            self.said,
            told.collect::<Html>(),
            Html::script(whole(self.chart)),
            self.chart.notes.join(" "),
            self.slo,
            self.whole
        )
        .into_string()
    }
}

/// A study's curve in a frame. `token` is the link's.
pub fn embed(study: &StudyView, state: &ViewState, told: &[String], token: &str) -> String {
    let words: Vec<Word> = [
        Some(study_word(study.state)),
        study.is_simulated().then_some(SIMULATED),
        study.is_insecure().then_some(INSECURE),
        study.is_toy_model().then_some(TOY_MODEL),
    ]
    .into_iter()
    .flatten()
    .collect();
    let badges = words.iter();
    let badges = badges.map(|it| {
        html!(
            r#"<span class="badge" title="{}">{}</span> "#,
            it.about,
            it.word
        )
    });
    Framed {
        name: &study.spec.name,
        said: html!(
            "<p>{}{}</p>",
            badges.collect::<Html>(),
            words::answer(study).join(" ")
        ),
        told,
        chart: &main_chart(study, &study.spec.slo, state),
        slo: &study.spec.slo.to_string(),
        whole: format!("/s/{token}{}", state.query()),
    }
    .document()
}

/// What a frame shows where a link does not work.
pub fn embed_gone() -> String {
    html!(
        r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><title>No such link</title><style>{}</style></head><body><main><h1>This curve is no longer shared</h1><p>Its link was revoked, has expired, or never was.</p></main></body></html>"#,
        Html::script(STYLE.to_owned())
    )
    .into_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_frame_is_complete_and_runs_nothing() {
        let mut study = fixture::study();
        study.spec.name = "<b>x</b>".into();
        let told = ["p=p42 is no percentile: shown is p95.".to_owned()];
        let page = embed(&study, &ViewState::default(), &told, "abc");
        assert!(
            !page.contains("<script") && !page.contains("<b>x"),
            "{page}"
        );
        assert!(
            !page.contains("<link") && !page.contains("src="),
            "no file beside it"
        );
        for needed in [
            "<svg",
            "simulated",
            "p=p42",
            r#"href="/s/abc""#,
            "SLO: ttft",
            "11.4",
        ] {
            assert!(page.contains(needed), "{needed}: {page}");
        }
    }
}
