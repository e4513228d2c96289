// Starts `avr-tvar lsp` and connects it with the editor.

import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const SECTION = "avr-tvar";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("avr-tvar.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(SECTION)) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const command = settings.get<string>("path") || "avr-tvar";
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "avr-tvar-properties" },
      { scheme: "file", language: "ron" },
    ],
    initializationOptions: {
      firmware: inWorkspace(settings.get<string>("firmware")),
      device: settings.get<string>("device") || undefined,
    },
  };
  client = new LanguageClient(SECTION, "avr-tvar", server, options);
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`${command} lsp cannot be started: ${reason}. Set avr-tvar.path.`);
  }
}

// A relative path is one of the first folder of the workspace.
function inWorkspace(file: string | undefined): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!file) {
    return undefined;
  }
  return folder === undefined ? file : path.resolve(folder, file);
}
