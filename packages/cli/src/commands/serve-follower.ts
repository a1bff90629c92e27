import { createServer } from 'node:http';
import { isFlagsError } from '@flags/core';
import { type Follower, followFlags } from '@flags/follower';
import { createFlagsApi, toNodeHandler } from '@flags/http';
import { CommandError, type CommandIo, createOutput, oneLine, usageError } from '../output.js';
import { closeServer, isLoopback, listen, type ServeOptions, urlOf, waitForStop } from '../serving.js';

/**
 * Follows another server, and serves its flags to SDKs until the command is stopped.
 *
 * @throws CommandError when that server refuses the token, or cannot be reached and there is no cache file
 */
export async function serveFollower(io: CommandIo, options: ServeOptions, url: string): Promise<void> {
  const { token, cache, auth = 'token' } = options;
  if (token === undefined) {
    throw usageError('serve --follow needs a client token of that server: --token SECRET, or FLAGS_TOKEN.');
  }
  const output = createOutput(io, options.json === true);
  const flags = await open(io, { url, token, ...(cache !== undefined && { cache }) });
  const api = createFlagsApi(flags, { auth });
  const server = createServer(toNodeHandler(api));
  try {
    await listen(server, options);
    const address = urlOf(server, options);
    const { source, upstream } = flags.status();
    const { environment } = flags.settings;
    output.json({ url: address, upstream, environment, auth, source });
    output.line(`Follows ${upstream}, environment ${environment}.`);
    if (source === 'cache') output.line(`It does not answer: the flags are those of ${cache}.`);
    output.line(`SDKs use    ${address}`);
    output.line('They need the tokens that they have there.');
    if (auth === 'none' && !isLoopback(options.host)) {
      output.line('Everybody who reaches this address can read the flags: see --auth token.');
    }
    output.line('Stop with Ctrl-C.');
    await waitForStop();
    output.line('Stopped.');
  } finally {
    api.close();
    await closeServer(server);
    await flags.close();
  }
}

interface Followed {
  readonly url: string;
  readonly token: string;
  readonly cache?: string;
}

async function open(io: CommandIo, followed: Followed): Promise<Follower> {
  const note = (sentence: string) => io.stderr.write(`note: ${oneLine(sentence)}\n`);
  try {
    return await followFlags({
      ...followed,
      onError: (error) => note(error instanceof Error ? error.message : String(error)),
      onProblem: ({ message }) => note(message),
      usage: { application: 'flags-follower' },
    });
  } catch (error) {
    if (isFlagsError(error)) throw new CommandError(error.message);
    throw error;
  }
}
