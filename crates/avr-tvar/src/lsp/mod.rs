//! The command `lsp`: a language server for property files, over the standard input and output.
//!
//! It completes and explains the names of the device and of the firmware, and shows errors as the file is typed. Nothing is
//! verified. Without a firmware the names of symbols are not known, and only the form of formulas is checked.

mod completion;
mod context;
mod hover;
mod names;
mod problems;
mod project;
mod text;

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{Completion, HoverRequest, Request as _};
use lsp_types::{
    CompletionOptions, CompletionParams, CompletionResponse, HoverParams, HoverProviderCapability, InitializeParams,
    PositionEncodingKind, PublishDiagnosticsParams, SaveOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
use serde::Deserialize;

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use project::{Project, Settings};
use text::Encoding;

pub(crate) const HELP: &str = "\
An editor starts it; `integrations/vscode` is an extension that does. It speaks the language server protocol.
The firmware can also be named in the initialization options: { \"firmware\": \"build/firmware.elf\", \"device\": \"attiny85\" }.

Exit codes: 0 the editor ended it, 2 wrong usage or no editor at the other end, 4 internal error.";

/// The arguments of `lsp`.
#[derive(Clone, Debug, Args)]
pub struct Lsp {
    /// Firmware as ELF or Intel HEX, to which the names are bound
    pub firmware: Option<PathBuf>,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = crate::options::device_help())]
    pub device: Option<String>,
    /// Speak over the standard input and output, which is so anyway: editors say it
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// The initialization options of an editor.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Options {
    firmware: Option<PathBuf>,
    device: Option<String>,
}

/// Serves an editor until it says that this is the end.
///
/// # Errors
/// If what comes is not the protocol.
pub(crate) fn run(arguments: &Lsp) -> Result<Exit, InputError> {
    let (connection, threads) = Connection::stdio();
    let (number, parameters) = connection.initialize_start().map_err(failed)?;
    let parameters: InitializeParams = serde_json::from_value(parameters).map_err(failed)?;
    let encoding = Encoding::chosen(&parameters);
    let result = serde_json::json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "avr-tvar", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(number, result).map_err(failed)?;
    let options = parameters.initialization_options.and_then(|options| serde_json::from_value(options).ok());
    let Options { firmware, device } = options.unwrap_or_default();
    let settings =
        Settings { firmware: arguments.firmware.clone().or(firmware), device: arguments.device.clone().or(device) };
    let mut server = Server { project: Project::new(settings), documents: HashMap::new(), encoding };
    server.serve(&connection)?;
    drop(connection);
    threads.join().map_err(failed)?;
    Ok(Exit::Holds)
}

fn failed(error: impl std::fmt::Display) -> InputError {
    InputErrorKind::Protocol { reason: error.to_string() }.into()
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let synchronisation = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(synchronisation)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned(), "\"".to_owned(), "(".to_owned()]),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// The state of the server.
struct Server {
    project: Project,
    /// The texts of the files that are open.
    documents: HashMap<Uri, String>,
    encoding: Encoding,
}

impl Server {
    fn serve(&mut self, connection: &Connection) -> Result<(), InputError> {
        for message in &connection.receiver {
            let answer = match message {
                Message::Request(request) if connection.handle_shutdown(&request).map_err(failed)? => return Ok(()),
                Message::Request(request) => Some(Message::Response(self.answer(request))),
                Message::Notification(notification) => self.notice(notification).map(Message::Notification),
                Message::Response(_) => None,
            };
            if let Some(answer) = answer {
                connection.sender.send(answer).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let number = request.id.clone();
        let result = match request.method.as_str() {
            Completion::METHOD => request
                .extract(Completion::METHOD)
                .map(|(number, parameters)| Response::new_ok(number, self.completion(&parameters))),
            HoverRequest::METHOD => request
                .extract(HoverRequest::METHOD)
                .map(|(number, parameters)| Response::new_ok(number, self.hover(&parameters))),
            _ => Err(ExtractError::MethodMismatch(request)),
        };
        result.unwrap_or_else(|error| {
            let code = match error {
                ExtractError::MethodMismatch(_) => ErrorCode::MethodNotFound,
                ExtractError::JsonError { .. } => ErrorCode::InvalidParams,
            };
            Response::new_err(number, code as i32, "the request is not understood".to_owned())
        })
    }

    fn completion(&mut self, parameters: &CompletionParams) -> Option<CompletionResponse> {
        let position = &parameters.text_document_position;
        let text = self.documents.get(&position.text_document.uri)?;
        let offset = text::offset(text, position.position, self.encoding);
        Some(CompletionResponse::Array(completion::items(text, offset, &mut self.project)))
    }

    fn hover(&mut self, parameters: &HoverParams) -> Option<lsp_types::Hover> {
        let position = &parameters.text_document_position_params;
        let text = self.documents.get(&position.text_document.uri)?;
        let offset = text::offset(text, position.position, self.encoding);
        hover::hover(text, offset, &mut self.project, self.encoding)
    }

    /// The changes of a notification; the answer is the list of the errors of the file.
    fn notice(&mut self, notification: Notification) -> Option<Notification> {
        let Notification { method, params } = notification;
        let uri = match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let opened: lsp_types::DidOpenTextDocumentParams = serde_json::from_value(params).ok()?;
                let document = opened.text_document;
                self.documents.insert(document.uri.clone(), document.text);
                document.uri
            }
            DidChangeTextDocument::METHOD => {
                let changed: lsp_types::DidChangeTextDocumentParams = serde_json::from_value(params).ok()?;
                let text = changed.content_changes.into_iter().next_back()?.text;
                self.documents.insert(changed.text_document.uri.clone(), text);
                changed.text_document.uri
            }
            DidSaveTextDocument::METHOD => {
                let saved: lsp_types::DidSaveTextDocumentParams = serde_json::from_value(params).ok()?;
                saved.text_document.uri
            }
            DidCloseTextDocument::METHOD => {
                let closed: lsp_types::DidCloseTextDocumentParams = serde_json::from_value(params).ok()?;
                self.documents.remove(&closed.text_document.uri);
                closed.text_document.uri
            }
            _ => return None,
        };
        let problems = self.documents.get(&uri).map(|text| problems::of(text, &mut self.project, self.encoding));
        let parameters = PublishDiagnosticsParams { uri, diagnostics: problems.unwrap_or_default(), version: None };
        Some(Notification::new(PublishDiagnostics::METHOD.to_owned(), parameters))
    }
}
