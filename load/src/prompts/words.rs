//! Text with one word per token.
//!
//! The words are short, common and English, so that most tokenizers need one token for each with its blank; what the
//! engine really counted stands in the records beside what was meant.

use measure::sampling::Draws;

const WORDS: &str = "able about above act add after again age ago air all also always among and animal answer any appear area \
arm art ask at away baby back bad ball bank bar base be bear beat bed before begin best better big bird bit black block blood \
blow blue board boat body book both box boy break bring brown build burn busy but buy by call came can car card care carry case \
cat catch cell cent chair change check child city class clean clear climb close coast cold color come cook cool copy corn cost \
could count cover cow create cross cry cup cut dad dance dark day deal dear deep did die do dog done door down draw dream dress \
drink drive drop dry duck dust each ear early earth east easy eat edge egg eight end enough enter even ever every eye face fact \
fair fall family far farm fast fat fear feed feel feet felt few field fight fill find fine finger fire firm first fish five flat \
floor flow fly food foot for force form found four free fresh friend from front fruit full fun game garden gas gave get girl give \
glass go gold gone good got grass great green ground group grow guess gun hair half hall hand happy hard has hat have he head \
hear heart heat heavy held help her here high hill him his hit hold hole home hope horse hot hour house how huge human hurt ice \
idea if in iron it job join jump just keep key kid kill kind king knew know lady lake land large last late laugh law lay lead \
learn leave left leg less let letter level lie life lift light like line lip list listen little live log long look lose lot love \
low main make man many map mark market may me mean meat meet men middle might mile milk mind mine minute miss moment money month \
moon more morning most mother mountain mouth move much music must my name near neck need never new next nice night nine no noise \
north nose not note nothing now number ocean of off office often oil old on once one only open or order other our out over own \
page pain paint pair paper park part party pass past path pay people person phone pick piece place plain plan plane plant play \
please point pool poor post pound power press pull pure push put queen question quick quiet race rain ran reach read ready real \
red rest rich ride right ring rise river road rock roll roof room root rope rose round row rule run safe said salt same sand save \
saw say school sea seat second see seed seem sell send sense serve set seven shape share she ship shop short should show side \
sign silver simple sing sister sit six size skin sky sleep slow small smell smile snow so soft soil some son song soon sound \
south space speak speed spend spot spring square stand star start state stay steel step stick still stone stop store storm story \
street strong such sugar suit summer sun sure table tail take talk tall taste teach team tell ten test than that the them then \
there these they thing think third this those three time to today together told too took tool top total touch town track trade \
train tree trip true try turn two type uncle under until up us use valley very view visit voice wait walk wall want war warm was \
wash watch water wave way we wear week well went were west what wheel when where which white who whole why wide wife wild will \
win wind window winter wish with woman wonder wood word work world would write yard year yellow yes yet you young your zero zoo";

/// A dictionary to draw from.
#[derive(Debug)]
pub(crate) struct Words(Vec<&'static str>);

impl Words {
    pub(crate) fn new() -> Self {
        Self(WORDS.split_ascii_whitespace().collect())
    }

    /// Writes so many words, drawn one by one and joined by blanks.
    pub(crate) fn write(&self, draws: &mut Draws, words: u32, text: &mut String) {
        text.reserve(words as usize * 6);
        for index in 0..words {
            if index > 0 {
                text.push(' ');
            }
            text.push_str(self.0[draws.below(self.0.len())]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_short_lowercase_and_there_once() {
        let mut words = Words::new().0;
        let count = words.len();
        assert!(
            words
                .iter()
                .all(|word| word.len() <= 8 && word.bytes().all(|byte| byte.is_ascii_lowercase()))
        );
        words.sort_unstable();
        words.dedup();
        assert_eq!((words.len(), count > 600), (count, true));
    }

    #[test]
    fn the_text_has_as_many_words_as_asked() {
        let (words, mut draws) = (Words::new(), Draws::new(1));
        for count in [0, 1, 2, 500] {
            let mut text = String::new();
            words.write(&mut draws, count, &mut text);
            assert_eq!(text.split_whitespace().count(), count as usize);
        }
    }
}
