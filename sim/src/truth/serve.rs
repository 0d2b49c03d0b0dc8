//! The loop: one thread, one epoll, one queue of deadlines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::config::Config;
use super::connection::{Answer, Connection, Then};
use super::log::Log;
use super::{clock, socket};

/// What an event is about, where it is not a connection.
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
/// Deadlines served before sockets are looked at again.
const AT_A_TIME: usize = 64;
/// What is read at once.
const READ: usize = 64 << 10;

/// A moment at which a connection has something to write.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: u64,
    /// Those due at the same moment take turns.
    turn: u64,
    place: usize,
    /// The request it is for: another one may have the place by then.
    seq: u64,
}

pub(super) struct Server {
    pub(super) config: Config,
    listener: TcpListener,
    stop: Arc<OwnedFd>,
    epoll: OwnedFd,
    pub(super) connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    due: BinaryHeap<Reverse<Due>>,
    turns: u64,
    pub(super) requests: u64,
    opened: u64,
    pub(super) log: Log,
    buffer: Vec<u8>,
    control: Vec<u8>,
}

impl Server {
    pub(super) fn new(
        config: Config,
        listener: TcpListener,
        stop: Arc<OwnedFd>,
        log: Log,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(
            &epoll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN,
        )?;
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
        Ok(Self {
            config,
            listener,
            stop,
            epoll,
            connections: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            turns: 0,
            requests: 0,
            opened: 0,
            log,
            buffer: vec![0; READ],
            control: socket::control_room(),
        })
    }

    /// Serves until it is told to stop.
    pub(super) fn run(&mut self) -> io::Result<()> {
        // Without it the kernel may add 50 µs to every wait.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events = Vec::with_capacity(1024);
        loop {
            self.fire();
            let timeout = self.due.peek().map(|Reverse(due)| {
                let left = due.at.saturating_sub(clock::now());
                clock::timespec(left)
            });
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for &Event { flags, data } in &events {
                match data.u64() {
                    STOP => return self.end(),
                    LISTENER => self.accept()?,
                    place => self.ready(place as usize, flags),
                }
            }
        }
    }

    /// Cuts what is under way.
    fn end(&mut self) -> io::Result<()> {
        for place in 0..self.connections.len() {
            self.gone(place);
        }
        let mut told = [0; 8];
        let _ = rustix::io::read(&self.stop, &mut told);
        Ok(())
    }

    /// Writes what is due.
    fn fire(&mut self) {
        for _ in 0..AT_A_TIME {
            let now = clock::now();
            if self.due.peek().is_none_or(|Reverse(due)| now < due.at) {
                return;
            }
            if let Some(Reverse(due)) = self.due.pop() {
                self.write_next(due.place, due.seq);
            }
        }
    }

    fn write_next(&mut self, place: usize, seq: u64) {
        let Some(Some(connection)) = self.connections.get_mut(place) else {
            return;
        };
        let Some(mut answer) = connection.answer.take_if(|answer| answer.record.seq == seq) else {
            return;
        };
        answer.written();
        let written = connection.write(&answer.next);
        let (then, config) = (answer.then, &self.config);
        if then == Then::More {
            answer.go_on(config);
        }
        connection.answer = Some(answer);
        if written.is_err() {
            return self.gone(place);
        }
        self.follow(place, then);
    }

    fn follow(&mut self, place: usize, then: Then) {
        let Some(connection) = &mut self.connections[place] else {
            return;
        };
        if connection.is_stuck() {
            self.watch(place, EventFlags::IN | EventFlags::OUT);
        }
        match then {
            // Where the client does not read, the next event waits for it.
            Then::More => self.queue(place),
            Then::Silence => {}
            Then::Done => self.done(place),
            Then::Close => {
                self.finish(place, false);
                self.close(place);
            }
            Then::Reset => {
                self.finish(place, false);
                if let Some(connection) = self.connections[place].take() {
                    self.free.push(place);
                    let _ = epoll::delete(&self.epoll, &connection.socket);
                    socket::reset(connection.socket);
                }
            }
        }
    }

    /// Queues a connection's next event, unless the client has yet to take the one before.
    pub(super) fn queue(&mut self, place: usize) {
        let Some(connection) = &self.connections[place] else {
            return;
        };
        if let (Some(answer), false) = (&connection.answer, connection.is_stuck()) {
            self.turns += 1;
            self.due.push(Reverse(Due {
                at: answer.due,
                turn: self.turns,
                place,
                seq: answer.record.seq,
            }));
        }
    }

    fn done(&mut self, place: usize) {
        self.finish(place, false);
        match &self.connections[place] {
            Some(connection) if connection.close => self.close(place),
            Some(_) => self.understand(place),
            None => {}
        }
    }

    /// Logs the answer under way as over.
    fn finish(&mut self, place: usize, disconnected: bool) {
        let answer = self.connections[place]
            .as_mut()
            .and_then(|connection| connection.answer.take());
        if let Some(Answer { mut record, .. }) = answer {
            record.end_ns = clock::now();
            record.disconnected = disconnected;
            self.log.keep(record);
        }
    }

    pub(super) fn close(&mut self, place: usize) {
        if let Some(connection) = self.connections[place].take() {
            let _ = epoll::delete(&self.epoll, &connection.socket);
            self.free.push(place);
        }
    }

    /// The client has gone.
    pub(super) fn gone(&mut self, place: usize) {
        self.finish(place, true);
        self.close(place);
    }

    pub(super) fn watch(&self, place: usize, flags: EventFlags) {
        if let Some(connection) = &self.connections[place] {
            let data = EventData::new_u64(place as u64);
            let _ = epoll::modify(&self.epoll, &connection.socket, data, flags);
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(cause) => {
                    // Most likely too many open files: those that wait may find some closed.
                    tracing::warn!(%cause, "the truth server cannot accept a connection");
                    std::thread::sleep(Duration::from_millis(5));
                    return Ok(());
                }
            };
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            self.opened += 1;
            let place = self.free.pop().unwrap_or(self.connections.len());
            let data = EventData::new_u64(place as u64);
            epoll::add(&self.epoll, &socket, data, EventFlags::IN)?;
            let connection = Some(Connection::new(socket, self.opened));
            if place == self.connections.len() {
                self.connections.push(connection);
            } else {
                self.connections[place] = connection;
            }
        }
    }

    /// A connection can be read or written.
    fn ready(&mut self, place: usize, flags: EventFlags) {
        if flags.contains(EventFlags::OUT) {
            self.drained(place);
        }
        let Some(Some(connection)) = self.connections.get_mut(place) else {
            return;
        };
        if !flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return;
        }
        match socket::receive(&connection.socket, &mut self.buffer, &mut self.control) {
            Ok((0, _)) => self.gone(place),
            Ok((length, at)) => {
                connection.input.extend_from_slice(&self.buffer[..length]);
                connection.rx_ns = at;
                if connection.answer.is_none() {
                    self.understand(place);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.gone(place),
        }
    }

    fn drained(&mut self, place: usize) {
        let Some(Some(connection)) = self.connections.get_mut(place) else {
            return;
        };
        if connection.drain().is_err() {
            return self.gone(place);
        }
        if !connection.is_stuck() {
            self.watch(place, EventFlags::IN);
            self.queue(place);
        }
    }
}
