//! Files that are no bundles, or no longer: each is refused in one sentence, none takes room, none breaks anything.

use server::bundle::{BundleError, Scope, check, unpack};
use server::records::{from_parquet, to_parquet};
use server::store::Store;
use tests::bundles::{Loose, framed, header, packed};
use tests::databases::on_sqlite;
use tests::samples::small_study;

use super::{exported, finished, forget, opened};

/// A good bundle and an empty store.
async fn with_bundle(test: impl AsyncFn(Store, Vec<u8>) -> anyhow::Result<()>) {
    on_sqlite(&async |place: &tests::databases::Place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let bytes = exported(&store, view.id, Scope::Everything).await?;
        forget(&store, view.id).await?;
        test(store, bytes).await
    })
    .await;
}

/// What is said of bytes that cannot be opened; empty where they can.
async fn said(store: &Store, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = opened(store, bytes, folder.path()).await;
    let left = std::fs::read_dir(folder.path()).expect("read").count();
    assert_eq!(left, 0, "nothing stays on the disk");
    match outcome {
        Ok(opened) => {
            forget(store, opened.id).await.expect("forgotten");
            String::new()
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_something_else_is_told_so() {
    with_bundle(async |store, _| {
        let manifest = br#"{"format": "something else", "version": 1}"#;
        let mut link = header("manifest.json", 0, b'2').as_bytes().to_vec();
        link.resize(2048, 0);
        let later = br#"{"format": "goodput study bundle", "version": 3, "new": true}"#;
        for (bytes, word) in [
            (Vec::new(), "no study bundle"),
            (b"PK\x03\x04 a zip".to_vec(), "no study bundle"),
            (b"{}".to_vec(), "no study bundle"),
            (framed(&b"only text. ".repeat(100))?, "no study bundle"),
            (framed(&[0; 4096])?, "no study bundle"),
            (packed(&[("other.txt", b"x")])?, "no study bundle"),
            (framed(&link)?, "no study bundle"),
            (packed(&[("manifest.json", b"{")])?, "no study bundle"),
            (packed(&[("manifest.json", manifest)])?, "no study bundle"),
            (packed(&[("manifest.json", later)])?, "is of format 3"),
        ] {
            let said = said(&store, &bytes).await;
            assert!(said.contains(word), "{said:?} lacks {word:?}");
            assert!(!said.contains('\n') && said.len() < 250, "{said}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_cut_is_never_opened() {
    with_bundle(async |store, bytes| {
        let step = bytes.len() / 97 + 1;
        let near_the_end = (1..=8).map(|it| bytes.len() - it);
        for length in (0..bytes.len()).step_by(step).chain(near_the_end) {
            let said = said(&store, &bytes[..length]).await;
            let is_said = ["damaged or cut short", "no study bundle"]
                .iter()
                .any(|it| said.contains(it));
            assert!(is_said, "{length} bytes: {said:?}");
        }
        assert_eq!(said(&store, &bytes).await, "", "whole, it opens");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flipped_bit_is_never_believed() {
    with_bundle(async |store, bytes| {
        let good = Loose::of(&bytes)?;
        let step = bytes.len() / 211 + 1;
        for at in (0..16).chain((16..bytes.len()).step_by(step)) {
            for bit in [0, 4, 7] {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                // A bit that the format has no use for changes nothing.
                let said = said(&store, &bad).await;
                let same = said.is_empty() && Loose::of(&bad)? == good;
                assert!(
                    !said.is_empty() || same,
                    "bit {bit} of byte {at} is believed"
                );
            }
        }
        Ok(())
    })
    .await;
}

const RECORDS: &str = "points/0000/records.parquet";

/// Changes a bundle's parts, and what is said of it then.
type Change = (&'static str, fn(&mut Loose));

/// What the manifest names is not there, or other than it says.
const UNLIKE: [Change; 6] = [
    ("points/0000/records.parquet is missing", |it| {
        it.parts.retain(|(name, _)| name != RECORDS);
    }),
    ("points/0000/records.parquet is missing", |it| {
        it.parts.retain(|(name, _)| name != RECORDS);
        let parts = it.manifest["parts"].as_object_mut();
        parts.and_then(|parts| parts.remove(RECORDS));
    }),
    ("is not what the manifest says", |it| {
        if let Some(bytes) = records_of(it) {
            bytes[100] ^= 1;
        }
    }),
    ("is not what the manifest says", |it| {
        if let Some(bytes) = records_of(it) {
            bytes.push(0);
        }
    }),
    ("is not what the manifest says", |it| {
        it.manifest["parts"][RECORDS]["sha256"] = "00".into();
    }),
    ("too large", |it| {
        it.manifest["parts"][RECORDS]["bytes"] = (1_u64 << 60).into();
    }),
];

/// Something is there that belongs to no bundle.
const TOO_MUCH: [Change; 4] = [
    ("\"../../evil\"", |it| it.set("../../evil", b"x")),
    ("\"/etc/passwd\"", |it| it.set("/etc/passwd", b"x")),
    ("no part of one", |it| {
        it.parts.push(("points/0000/more".into(), Vec::new()));
    }),
    ("no part of one", |it| {
        let again = it.parts[0].clone();
        it.parts.push(again);
    }),
];

fn records_of(loose: &mut Loose) -> Option<&mut Vec<u8>> {
    let mut parts = loose.parts.iter_mut();
    parts.find(|(name, _)| name == RECORDS).map(|(_, it)| it)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_are_those_that_the_manifest_names() {
    with_bundle(async |store, bytes| {
        let good = Loose::of(&bytes)?;
        for (word, change) in UNLIKE.into_iter().chain(TOO_MUCH) {
            let mut loose = good.clone();
            change(&mut loose);
            anyhow::ensure!(loose != good);
            let said = said(&store, &loose.packed()?).await;
            assert!(said.contains(word), "{said:?} lacks {word:?}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_manifest_says_is_read_as_what_it_must_be() {
    with_bundle(async |store, bytes| {
        let good = Loose::of(&bytes)?;
        let set = |path: &str, value: serde_json::Value| {
            let mut loose = good.clone();
            *loose.manifest.pointer_mut(path).expect("a place") = value;
            loose.packed()
        };
        let figures = |bytes: &[u8]| {
            let mut loose = good.clone();
            loose.set("points/0000/figures.json", bytes);
            loose.packed()
        };
        let scores = {
            let mut loose = good.clone();
            loose.set("points/0000/scores.bin", b"GPSC");
            loose.packed()
        };
        let cases = [
            (set("/study/state", "running".into())?, "its study is"),
            (set("/study/created_ms", (-1).into())?, "no time of a study"),
            (set("/study/name", "".into())?, "give it a name"),
            (set("/study/spec", 7.into())?, "spec"),
            (
                set("/study/dataset_sha256", "x\u{0}y".into())?,
                "no SHA-256",
            ),
            (set("/study/id", "x".into())?, "manifest.json"),
            (
                set("/points/0/configuration", 7.into())?,
                "place of its own",
            ),
            (set("/points/0/ordinal", 7_000.into())?, "no part of one"),
            (
                set("/points/0/level", "quick".into())?,
                "level is \"quick\"",
            ),
            (set("/points/0/started_ms", i64::MAX.into())?, "no time of"),
            (set("/configurations/0/facts", "x".into())?, "facts"),
            (
                set("/configurations", serde_json::json!([]))?,
                "place of its own",
            ),
            (figures(b"{}")?, "figures.json cannot be read"),
            (figures(b"[[[")?, "figures.json cannot be read"),
            (scores?, "scores.bin cannot be read"),
            (
                set("/points/0/repeat", u32::MAX.into())?,
                "none has more than 100",
            ),
            (set("/points/0/level", "5e-324".into())?, "must be 0.001 to"),
        ];
        for (bytes, word) in cases {
            let said = said(&store, &bytes).await;
            assert!(said.contains(word), "{said:?} lacks {word:?}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_read_whole_and_as_many_as_there_are_scores() {
    with_bundle(async |store, bytes| {
        let good = Loose::of(&bytes)?;
        let whole = good.part(RECORDS)?.to_vec();
        let all = from_parquet(whole.clone().into())?;
        // Its footer stands, its pages do not.
        let mut cut = whole;
        cut[4..200].fill(0);
        for (records, word) in [
            (b"PAR1 not one".to_vec(), "records.parquet cannot be read"),
            (to_parquet(&all[1..])?, "requests where"),
            (cut, "records.parquet cannot be read"),
        ] {
            let mut loose = good.clone();
            loose.set(RECORDS, &records);
            let said = said(&store, &loose.packed()?).await;
            assert!(said.contains(word), "{said:?} lacks {word:?}");
        }
        Ok(())
    })
    .await;
}

#[test]
fn what_says_that_it_is_too_much_is_not_even_begun() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    // A manifest that says it has gigabytes, and one under a name that is longer than a header holds.
    let declared = header("manifest.json", 3 << 30, b'0');
    let named = header("././@LongLink", 3 << 30, b'L');
    for (header, word) in [(declared, "too large"), (named, "no study bundle")] {
        let mut archive = header.as_bytes().to_vec();
        archive.resize(1 << 20, b'x');
        let said = unpack(&framed(&archive)?[..], folder.path()).err();
        let said = said.map(|error| error.to_string()).unwrap_or_default();
        anyhow::ensure!(said.contains(word), "{said:?} lacks {word:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_that_do_not_follow_from_the_requests_are_found() {
    with_bundle(async |_, bytes| {
        let folder = tempfile::tempdir()?;
        let good = Loose::of(&bytes)?;
        let checked = |loose: &Loose| -> anyhow::Result<_> {
            let unpacked = unpack(&loose.packed()?[..], folder.path())?;
            Ok::<_, anyhow::Error>(check(&unpacked).map_err(|error: BundleError| error)?)
        };
        let fine = checked(&good)?;
        assert_eq!((fine.points, fine.differences.len()), (2, 0), "{fine:?}");
        let name = "points/0001/figures.json";
        let text = String::from_utf8(good.part(name)?.to_vec())?;
        let mut forged = good.clone();
        let better = text.replacen("\"completed\":10", "\"completed\":11", 1);
        anyhow::ensure!(better != text, "{text}");
        forged.set(name, better.as_bytes());
        let found = checked(&forged)?.differences;
        assert_eq!(
            found,
            ["the summary of point 1 (level 40) does not follow from its requests"]
        );
        let mut swapped = good.clone();
        let other = good.part("points/0000/records.parquet")?.to_vec();
        swapped.set("points/0001/records.parquet", &other);
        assert_eq!(checked(&swapped)?.differences.len(), 3);
        Ok(())
    })
    .await;
}
