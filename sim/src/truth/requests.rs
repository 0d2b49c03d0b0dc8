//! What is asked of the server, and how each question begins to be answered.

use rustix::event::epoll::EventFlags;

use super::answer::reply;
use super::config::Fault;
use super::connection::{Answer, Request};
use super::http::Asked;
use super::log::Record;
use super::serve::Server;
use super::{MODEL, clock};

impl Server {
    /// Answers the requests that have been read whole, as long as nothing else is under way.
    pub(super) fn understand(&mut self, place: usize) {
        while let Some(Some(connection)) = self.connections.get_mut(place) {
            if connection.answer.is_some() {
                return;
            }
            match connection.request() {
                Ok(Some(request)) => self.begin(place, &request),
                Ok(None) => return,
                Err(why) => {
                    let body = format!(r#"{{"error":{{"message":"{why}","code":400}}}}"#);
                    let _ =
                        connection.write(&reply("400 Bad Request", "connection: close\r\n", &body));
                    return self.close(place);
                }
            }
        }
    }

    fn begin(&mut self, place: usize, request: &Request) {
        let head = &request.head;
        match (head.method.as_str(), head.path.as_str()) {
            ("POST", "/v1/completions" | "/v1/chat/completions") => self.generate(place, request),
            (method, path) => {
                let (status, body) = other(method, path);
                self.say(place, &reply(status, "", &body));
                if head.close {
                    self.close(place);
                }
            }
        }
    }

    fn say(&mut self, place: usize, bytes: &[u8]) {
        let Some(connection) = &mut self.connections[place] else {
            return;
        };
        if connection.write(bytes).is_err() {
            return self.gone(place);
        }
        if connection.is_stuck() {
            self.watch(place, EventFlags::IN | EventFlags::OUT);
        }
    }

    fn generate(&mut self, place: usize, request: &Request) {
        self.requests += 1;
        let Some(connection) = &mut self.connections[place] else {
            return;
        };
        connection.close |= request.head.close;
        let body_ns = clock::now();
        let mut record = Record {
            seq: self.requests,
            client_id: request.head.request_id.clone(),
            conn: connection.number,
            path: request.head.path.clone(),
            head_rx_ns: request.head_rx_ns,
            rx_ns: request.rx_ns,
            body_ns,
            ..Record::default()
        };
        let asked = match serde_json::from_slice::<Asked>(&request.body) {
            Ok(asked) => asked,
            Err(error) => {
                record.status = 400;
                let body =
                    serde_json::json!({ "error": { "message": error.to_string(), "code": 400 } });
                return self.refuse(place, record, "400 Bad Request", "", &body.to_string());
            }
        };
        let (mut answer, at_once) = Answer::new(&self.config, record, &asked);
        let refusal = match answer.record.fault {
            Some(Fault::TooManyRequests) => (429, "429 Too Many Requests", "retry-after: 1\r\n"),
            Some(Fault::Unavailable) => (503, "503 Service Unavailable", ""),
            _ => {
                connection.answer = Some(answer);
                self.say(place, &at_once);
                return self.queue(place);
            }
        };
        answer.record.status = refusal.0;
        let body = r#"{"error":{"message":"refused, on purpose"}}"#;
        self.refuse(place, answer.record, refusal.1, refusal.2, body);
    }

    /// Answers without a stream, and logs that.
    fn refuse(&mut self, place: usize, record: Record, status: &str, headers: &str, body: &str) {
        let end_ns = clock::now();
        self.log.keep(Record { end_ns, ..record });
        self.say(place, &reply(status, headers, body));
    }
}

/// What is asked beside load.
fn other(method: &str, path: &str) -> (&'static str, String) {
    let json = match (method, path) {
        ("GET", "/v1/models") => format!(
            r#"{{"object":"list","data":[{{"id":"{MODEL}","object":"model","created":1,"owned_by":"goodput-sim","root":"{MODEL}","max_model_len":1048576}}]}}"#
        ),
        ("GET", "/version") => format!(r#"{{"version":"{}"}}"#, crate::VERSION),
        ("GET", "/server_info") => r#"{"simulated":true,"knobs":{}}"#.to_owned(),
        ("GET", "/health" | "/ping" | "/") => "{}".to_owned(),
        _ => {
            let body = r#"{"error":{"message":"no such path","code":404}}"#;
            return ("404 Not Found", body.to_owned());
        }
    };
    ("200 OK", json)
}
