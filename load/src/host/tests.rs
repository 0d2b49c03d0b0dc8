use std::process::{Command, Stdio};

use super::*;

#[test]
fn the_kernels_line_is_read() {
    let stat = "cpu  100 20 30 4000 50 6 7 80 90 10\ncpu0 1 2 3 4\nintr 1\n";
    assert_eq!(parse_stat(stat), Some((1.63, 0.8)));
    assert_eq!(parse_stat("cpu 1 2"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn others_have_what_is_left() {
    let looks = Looks {
        engine: Engine::Elsewhere,
        seen: Vec::new(),
    };
    let times = |busy, own, engine| Times {
        busy,
        steal: busy / 10.0,
        own,
        engine,
    };
    let (others, own, steal) = looks.between((&times(10.0, 1.0, 2.0), &times(20.0, 4.0, 3.0)));
    assert_eq!((others, own, steal), (6.0, 3.0, 1.0));
    // Ticks are coarse: nobody uses less than nothing.
    assert_eq!(
        looks
            .between((&times(10.0, 1.0, 0.0), &times(10.0, 1.1, 0.0)))
            .0,
        0.0
    );
}

/// Uses a core until it is stopped.
fn spinner() -> std::process::Child {
    Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .stdin(Stdio::null())
        .spawn()
        .expect("a shell")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spinning_neighbour_is_seen_and_the_engine_is_no_neighbour() {
    for is_engine in [false, true] {
        let mut neighbour = spinner();
        let before = used_by(neighbour.id());
        let host = EngineHost {
            addresses: &[],
            group: is_engine.then(|| neighbour.id()),
        };
        let watch = HostWatch::start(host).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let (time, track) = watch.end(Instant::now()).await;
        let spun = used_by(neighbour.id()) - before;
        neighbour.kill().expect("stopped");
        neighbour.wait().expect("stopped");
        let time = time.expect("Linux tells");
        assert!(1.0 < time.seconds && !track.series.is_empty());
        if is_engine {
            let engine = time.engine.expect("known");
            assert!((engine - spun).abs() < 0.3, "{engine} of {spun}");
        } else {
            // Other neighbours may be there as well.
            assert!(spun - 0.3 < time.others, "{} of {spun}", time.others);
        }
    }
}
