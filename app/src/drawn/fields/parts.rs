//! A field as the form's own components draw it, and what is folded away.

use crate::pages::{ALSO, PLACE};
use crate::ui::html::{Html, html};

/// The twin of [`crate::ui::field::Field`], with its control.
pub struct Field<'a> {
    /// The control's id and name.
    pub id: String,
    /// Its place in the draft.
    pub place: String,
    /// What it asks.
    pub label: &'a str,
    /// A sentence of help.
    pub hint: Html,
    /// What is typed into or chosen from.
    pub control: Control,
    /// Unit shown inside a line, at its end.
    pub unit: &'a str,
    /// Another field of a study whose errors it shows.
    pub also: &'a str,
}

/// What is typed into or chosen from.
pub enum Control {
    /// A line, with the keyboard of a phone and an example.
    Line(String, String),
    /// One of several values, each with its text.
    Choice(Vec<(String, String)>),
    /// Several lines, with an example.
    Area(String),
}

impl Control {
    /// A line.
    pub fn line(keyboard: &str, example: &str) -> Self {
        Self::Line(keyboard.to_owned(), example.to_owned())
    }

    /// One of several values.
    pub fn choices(choices: &[(&str, &str)]) -> Self {
        let choices = choices.iter();
        Self::Choice(
            choices
                .map(|(value, text)| ((*value).to_owned(), (*text).to_owned()))
                .collect(),
        )
    }
}

impl Field<'_> {
    /// One whose place in the draft is called as the field is.
    pub fn named(name: &str) -> Self {
        Self {
            id: name.to_owned(),
            place: name.to_owned(),
            label: "",
            hint: Html::default(),
            control: Control::line("text", ""),
            unit: "",
            also: "",
        }
    }

    /// The field.
    pub fn draw(&self) -> Html {
        html!(
            r#"<div class="field"><label for="{}">{}</label>{}<p class="error" id="{}-error" hidden></p><p class="hint" id="{}-hint"{}>{}</p></div>"#,
            self.id,
            self.label,
            self.control(),
            self.id,
            self.id,
            (self.hint == Html::default()).then(|| Html::literal(" hidden")),
            &self.hint
        )
    }

    fn control(&self) -> Html {
        let also =
            (!self.also.is_empty()).then(|| html!(r#" {}="{}""#, Html::literal(ALSO), self.also));
        let attributes = html!(
            r#"{}="{}" id="{}" name="{}" aria-describedby="{}-error {}-hint"{}"#,
            Html::literal(PLACE),
            self.place,
            self.id,
            self.id,
            self.id,
            self.id,
            also
        );
        match &self.control {
            Control::Line(keyboard, example) => {
                let input = html!(
                    r#"<input type="text" inputmode="{}" placeholder="{}" autocomplete="off" spellcheck="false" {}>"#,
                    keyboard,
                    example,
                    attributes
                );
                match self.unit {
                    "" => input,
                    unit => html!(
                        r#"<span class="with-unit">{}<span class="unit">{}</span></span>"#,
                        input,
                        unit
                    ),
                }
            }
            Control::Choice(choices) => {
                let choices = choices.iter();
                let choices: Html = choices
                    .map(|(value, text)| html!(r#"<option value="{}">{}</option>"#, value, text))
                    .collect();
                html!("<select {}>{}</select>", attributes, choices)
            }
            Control::Area(example) => html!(
                r#"<textarea rows="2" placeholder="{}" spellcheck="false" {}></textarea>"#,
                example,
                attributes
            ),
        }
    }
}

/// What few need.
pub fn folded(summary: &str, body: Html) -> Html {
    html!(
        r#"<details class="more"><summary>{}</summary>{}</details>"#,
        summary,
        body
    )
}
