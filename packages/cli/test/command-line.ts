import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { createFlagsApi, type FlagsApi, toNodeHandler } from '@flags/http';
import { KEEP_IDLE } from '../../../test/idle-connections.js';
import { run } from '../src/run.js';

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Terminal {
  readonly env?: Readonly<Record<string, string>>;
  /** The keys that the user presses. Makes the input a terminal. */
  readonly keys?: string;
  /** The question that the keys answer. */
  readonly question?: string;
  /** The width of the output's terminal. Default: the output is a pipe. */
  readonly columns?: number | undefined;
  /** Whether the output is a terminal. Default: if it has a width. */
  readonly isTerminal?: boolean;
}

/** Runs a command line in this process. */
export async function flagsCommand(
  args: readonly string[],
  { env = {}, keys, question = QUESTION, columns, isTerminal = columns !== undefined }: Terminal = {},
): Promise<Result> {
  const stdin = Object.assign(new PassThrough(), { isTTY: keys !== undefined });
  const [out, err] = [collector(), collector()];
  const stdout = Object.assign(out.stream, isTerminal && { isTTY: true, ...(columns !== undefined && { columns }) });
  if (keys !== undefined) err.onText(question, () => stdin.write(keys));
  const code = await run(args, { env, stdin, stdout, stderr: err.stream });
  return { code, out: out.text(), err: err.text() };
}

const QUESTION = 'Go on?';

function collector() {
  let text = '';
  let awaited: { readonly part: string; readonly act: () => void } | undefined;
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      // After the prompt has been drawn, it reads keys.
      if (awaited && text.includes(awaited.part)) setImmediate(awaited.act);
      done();
    },
  });
  const onText = (part: string, act: () => void) => {
    awaited = {
      part,
      act: () => {
        awaited = undefined;
        act();
      },
    };
  };
  return { stream, text: () => text, onText };
}

/** A folder for the files of a test, removed afterwards. */
export function temporaryFolder(): (name: string) => string {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'flags-cli-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  return (name) => join(folder, name);
}

export interface RunningServer {
  readonly url: string;
  readonly flags: Flags;
  readonly secret: string;
}

/** A server in memory with an admin token, as a host would mount it. */
export function runningServer(): () => RunningServer {
  let parts: RunningServer & { readonly api: FlagsApi; readonly server: Server };
  beforeEach(async () => {
    const flags = await openFlags({ storage: memoryStorage(), due: { run: 'elsewhere' }, usage: { interval: 0 } });
    const { secret } = await flags.tokens.create({ name: 'operator', kind: 'admin' });
    const api = createFlagsApi(flags, { auth: 'token' });
    const server = createServer(KEEP_IDLE, toNodeHandler(api));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    parts = { url, flags, secret, api, server };
  });
  afterEach(async () => {
    parts.api.close();
    parts.server.closeAllConnections();
    await new Promise((resolve) => parts.server.close(resolve));
    await parts.flags.close();
  });
  return () => parts;
}
