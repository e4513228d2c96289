//! The language server over its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const FIRMWARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/branch/branch.Og.elf");
const FILE: &str = "file:///p.ron";

/// A running server.
struct Server {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
}

impl Server {
    /// A server that was told of a firmware, and what it said that it can do.
    fn new(options: &Value, capabilities: &Value) -> (Self, Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
        let command = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("the program starts");
        let to = process.stdin.take().expect("it is piped");
        let from = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut server = Self { process, to, from, number: 0 };
        let answer =
            server.ask("initialize", json!({ "capabilities": capabilities, "initializationOptions": options }));
        server.tell("initialized", json!({}));
        (server, answer)
    }

    fn with_firmware() -> Self {
        Self::new(&json!({ "firmware": FIRMWARE }), &json!({})).0
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.to.flush().expect("it listens");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("it is text") > 0, "the server ended");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("it is a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut content = vec![0; length];
        self.from.read_exact(&mut content).expect("all of it comes");
        serde_json::from_slice(&content).expect("it is JSON")
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters }));
        let answer = self.receive();
        assert_eq!(answer["id"], self.number, "{answer}");
        answer["result"].clone()
    }

    /// The errors of a text: the line, the columns and the message of each.
    fn errors(&mut self, text: &str) -> Vec<(u64, u64, u64, String)> {
        let document = json!({ "uri": FILE, "languageId": "ron", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        let published = self.receive();
        assert_eq!(published["method"], "textDocument/publishDiagnostics");
        let number = |value: &Value| value.as_u64().expect("it is a number");
        let error = |error: &Value| {
            let (start, end) = (&error["range"]["start"], &error["range"]["end"]);
            let message = error["message"].as_str().expect("it is a text").to_owned();
            (number(&start["line"]), number(&start["character"]), number(&end["character"]), message)
        };
        published["params"]["diagnostics"].as_array().expect("it is a list").iter().map(error).collect()
    }

    /// What is asked at the place of `|` in a text.
    fn at_cursor(&mut self, method: &str, text: &str) -> Value {
        let (before, after) = text.split_once('|').expect("there is a cursor");
        self.errors(&format!("{before}{after}"));
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        let position = json!({ "line": line, "character": column });
        self.ask(method, json!({ "textDocument": { "uri": FILE }, "position": position }))
    }

    fn completions(&mut self, text: &str) -> Vec<String> {
        let items = self.at_cursor("textDocument/completion", text);
        let label = |item: &Value| item["label"].as_str().expect("it is a text").to_owned();
        items.as_array().expect("it is a list").iter().map(label).collect()
    }

    fn hover(&mut self, text: &str) -> String {
        let hover = self.at_cursor("textDocument/hover", text);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.process.wait().expect("it ends").code(), Some(0));
    }
}

#[test]
fn errors_come_as_the_file_is_typed() {
    let mut server = Server::with_firmware();
    let text =
        "(device: \"atmega328p\", properties: [\n    Always(check: \"ä == 1\"),\n    Never(check: \"PROTB == 0\"),\n])";
    let errors = server.errors(text);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert_eq!((errors[1].0, errors[1].1, errors[1].2), (2, 18, 23));
    assert!(errors[1].3.contains("nothing is named 'PROTB'; did you mean PORTB"), "{errors:?}");
    let change =
        json!({ "textDocument": { "uri": FILE, "version": 2 }, "contentChanges": [{ "text": "(properties: [5])" }] });
    server.tell("textDocument/didChange", change);
    let published = server.receive();
    assert_eq!(published["params"]["diagnostics"][0]["range"]["start"], json!({ "line": 0, "character": 14 }));
    assert_eq!(server.errors("(properties: [Always(check: \"PORTB == 0 && pc in main || true\")])"), Vec::new());
    let place = server.errors("(allow: { \"sleep-for-ever at nowhere\": \"why\" })");
    assert!(place.len() == 1 && place[0].3.contains("nothing is named 'nowhere'"), "{place:?}");
    // A manifest is no property file.
    assert_eq!(server.errors("(runs: [])"), Vec::new());
    server.end();
}

#[test]
fn columns_are_counted_as_the_editor_does() {
    let text = "(properties: [Always(name: \"😀\", check: \"PROTB == 0\")])";
    let bytes = text.find("PROTB").expect("it is there") as u64;
    let mut server = Server::with_firmware();
    assert_eq!(server.errors(text)[0].1, bytes - 2);
    server.end();
    let general = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
    let (mut server, answer) = Server::new(&json!({ "firmware": FIRMWARE }), &general);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(server.errors(text)[0].1, bytes);
    server.end();
}

#[test]
fn names_are_completed() {
    let mut server = Server::with_firmware();
    let file =
        |entry: &str| format!("(device: \"atmega328p\", define: {{ \"off\": \"PORTB == 0\" }}, properties: [{entry}])");
    let names = server.completions(&file("Always(check: \"PO|\")"));
    for name in ["PORTB", "TCNT1", "r31", "main", "AG", "off", "INT0", "in_interrupt"] {
        assert!(names.iter().any(|known| known == name), "{name} is missing");
    }
    let bits = server.completions(&file("Always(check: \"TCCR0B.| == 1\")"));
    assert!(bits.contains(&"CS00".to_owned()) && bits.contains(&"7".to_owned()) && !bits.contains(&"PORTB".to_owned()));
    assert!(server.completions(&file("|")).contains(&"Recovery".to_owned()));
    let fields = server.completions(&file("Until(|)"));
    assert_eq!(fields, ["name", "under", "holds", "until"]);
    assert!(server.completions("(|)").contains(&"environment".to_owned()));
    assert_eq!(
        server.completions("(device: \"|\")"),
        [
            "atmega328p",
            "atmega328p-gpio",
            "atmega168p",
            "atmega88p",
            "atmega1284p",
            "atmega2560",
            "atmega32u4",
            "attiny85",
            "attiny13",
            "attiny84"
        ]
    );
    assert!(server.completions("(allow: { \"|\": \"why\" })").contains(&"reserved-bit-write".to_owned()));
    assert_eq!(server.completions("(environment: [|])"), ["reset", "brown_out"]);
    assert_eq!(server.completions(&file("Stack(max_bytes: |)")), Vec::<String>::new());
    assert_eq!(server.completions("|"), Vec::<String>::new());
    server.end();
}

#[test]
fn members_of_structures_are_completed() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples");
    let firmware = format!("{samples}/sketch-serial-echo/sketch-serial-echo.Og.elf");
    let (mut server, _) = Server::new(&json!({ "firmware": firmware }), &json!({}));
    let members = server.completions("(properties: [Always(check: \"received.|\")])");
    assert_eq!(members, ["head", "tail", "bytes"]);
    assert!(server.hover("(properties: [Always(check: \"received.ta|il == 0\")])").contains("member, byte 1"));
    server.end();
}

#[test]
fn hovers_tell_addresses() {
    let mut server = Server::with_firmware();
    let file =
        |entry: &str| format!("(device: \"atmega328p\", define: {{ \"off\": \"PORTB == 0\" }}, properties: [{entry}])");
    let check = |server: &mut Server, entry: &str, expected: &str| {
        let told = server.hover(&file(entry));
        assert!(told.contains(expected), "{entry}: {told}");
    };
    check(&mut server, "Always(check: \"PO|RTB == 0\")", "PORTB: register at data 0x0025, I/O 0x05");
    check(&mut server, "Always(check: \"PORTB.PORTB|3 == 0\")", "bit 3 of PORTB");
    check(&mut server, "Always(check: \"pc in ma|in\")", "main: flash 0x");
    check(&mut server, "Always(check: \"of|f\")", "off: definition: PORTB == 0");
    check(&mut server, "Reco|very(to: \"off\")", "Recovery: Wherever the program gets");
    assert_eq!(server.hover(&file("Always(check: \"nothing| == 0\")")), "");
    server.end();
}

#[test]
fn without_a_firmware_the_form_is_checked() {
    let (mut server, _) = Server::new(&json!({}), &json!({}));
    assert_eq!(server.errors("(properties: [Always(check: \"counter == 0\")])"), Vec::new());
    assert_eq!(server.errors("(properties: [Always(check: \"counter = 0\")])").len(), 1);
    assert!(server.completions("(properties: [Always(check: \"|\")])").contains(&"PORTB".to_owned()));
    server.end();
}

#[test]
fn a_firmware_that_cannot_be_read_is_told_of() {
    let (mut server, _) = Server::new(&json!({ "firmware": "nowhere.elf" }), &json!({}));
    let errors = server.errors("(properties: [Inherent()])");
    assert!(errors.len() == 1 && errors[0].3.contains("nowhere.elf: cannot be read"), "{errors:?}");
    server.end();
}

#[test]
fn unfinished_texts_do_no_harm() {
    let mut server = Server::with_firmware();
    let text = "(device: \"atmega328p\", define: { \"a\": \"PORTB.0 == 1\" }, properties: [Always(name: \"\\u{e4}\", check: r#\"a && AG(\"#)])";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        server.completions(&format!("{}|", &text[..end]));
        server.hover(&format!("{}|{}", &text[..end], &text[end..]));
    }
    server.end();
}
