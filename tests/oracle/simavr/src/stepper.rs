//! The other end of the pipe: libsimavr in the program `stepper.c`.

use crate::wire::{Block, DATA_CELLS, Effect, End, FLASH_WORDS, Flash, OPERANDS, Outcome, Start};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `stepper`.
#[derive(Debug)]
pub struct Stepper {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Stepper {
    /// Starts the program at `path`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(path: &Path) -> io::Result<Self> {
        let mut child = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("the stepper has no pipes");
        let requests = child.stdin.take().ok_or_else(missing)?;
        let replies = BufReader::with_capacity(1 << 16, child.stdout.take().ok_or_else(missing)?);
        Ok(Self { child, requests, replies })
    }

    fn request(&mut self, command: u8, content: &[u8]) -> io::Result<()> {
        self.requests.write_all(&[command])?;
        self.requests.write_all(content)
    }

    fn reply(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut reply = vec![0; bytes];
        self.replies.read_exact(&mut reply)?;
        Ok(reply)
    }

    /// Sets the flash.
    ///
    /// # Errors
    /// If the stepper has ended; so do all that follow.
    pub fn load(&mut self, flash: &Flash) -> io::Result<()> {
        let bytes: Vec<u8> = flash.iter().flat_map(|word| word.to_le_bytes()).collect();
        debug_assert_eq!(bytes.len(), 2 * FLASH_WORDS);
        self.request(b'F', &bytes)
    }

    /// Sets the data memory that steps start from.
    pub fn set_memory(&mut self, memory: &[u8; DATA_CELLS]) -> io::Result<()> {
        self.request(b'M', memory)
    }

    /// Connects the ports to their registers, or takes them away.
    pub fn connect_ports(&mut self, connected: bool) -> io::Result<()> {
        self.request(b'P', &[connected.into()])
    }

    /// Single steps.
    pub fn steps(&mut self, starts: &[Start]) -> io::Result<Vec<Outcome>> {
        let mut content = Vec::with_capacity(4 + starts.len() * Start::BYTES);
        content.extend((starts.len() as u32).to_le_bytes());
        starts.iter().for_each(|start| start.encode(&mut content));
        self.request(b'S', &content)?;
        let reply = self.reply(starts.len() * Outcome::BYTES)?;
        Ok(reply.chunks_exact(Outcome::BYTES).map(Outcome::decode).collect())
    }

    /// Asks for a block; [`Self::effects`] gives the replies in the order in which they were asked for.
    pub fn ask_block(&mut self, block: &Block) -> io::Result<()> {
        self.request(b'A', &block.encode())
    }

    /// The effects of a block that was asked for.
    pub fn effects(&mut self) -> io::Result<Vec<Effect>> {
        let reply = self.reply(OPERANDS * 8)?;
        let effect = |bytes: &[u8]| Effect(std::array::from_fn(|index| bytes[index]));
        Ok(reply.chunks_exact(8).map(effect).collect())
    }

    /// Runs until PC is `stop` or `most_steps` have been made.
    pub fn run(&mut self, start: &Start, stop: u16, most_steps: u32) -> io::Result<End> {
        let mut content = Vec::with_capacity(Start::BYTES + 8);
        start.encode(&mut content);
        content.extend(most_steps.to_le_bytes());
        content.extend(stop.to_le_bytes());
        content.extend([0, 0]);
        self.request(b'R', &content)?;
        self.reply(End::BYTES).map(|reply| End::decode(&reply))
    }

    /// Ends the program.
    ///
    /// # Errors
    /// If it did not end well.
    pub fn finish(mut self) -> io::Result<()> {
        drop(self.requests);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("the stepper ended with {status}"))) }
    }
}
