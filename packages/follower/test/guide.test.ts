import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { until } from '../../../test/until.js';
import { codeBlocks, read } from '../../http/test/docs/documents.js';
import { runProgram } from '../../http/test/docs/run-module.js';
import type { Follower } from '../src/index.js';
import { endAll, serve } from './servers.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

describe('the code of docs/more-services.md', () => {
  const [, section = ''] = read('docs/more-services.md').split('## Follow another server');
  const [follow = '', router = ''] = codeBlocks(section, 'ts');
  let flags: Flags;
  let directory: string;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'flags-guide-'));
    flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '7' } });
    await flags.enable(PRODUCTION);
  });

  afterEach(async () => {
    await endAll();
    await flags.close();
    rmSync(directory, { recursive: true });
  });

  it('follows a server, and serves SDKs until the process is asked to end', async () => {
    const { secret } = await flags.tokens.create({ name: 'shop', kind: 'client', environment: 'production' });
    const { url } = await serve(flags);
    const showNewCheckout = jest.fn();
    let stop: (() => void) | undefined;
    const process = {
      env: { FLAGS_TOKEN: secret },
      once: (_signal: string, handler: () => void) => {
        stop = handler;
      },
    };
    const code = [follow.replace('http://localhost:4242/flags', url), router]
      .join('\n')
      .replace("'./flags-cache.json'", JSON.stringify(join(directory, 'flags-cache.json')))
      .replace('listen(4343,', 'listen(0,');
    const scope = { process, showNewCheckout };
    const program = (await runProgram(code, { result: '{ flags, server }', scope })) as {
      readonly flags: Follower;
      readonly server: Server;
    };
    expect(showNewCheckout).toHaveBeenCalledTimes(1);
    await until(() => program.server.listening);
    const { port } = program.server.address() as AddressInfo;
    const headers = { authorization: secret };
    const response = await fetch(`http://127.0.0.1:${port}/flags/api/client/features`, { headers });
    expect(((await response.json()) as { features: { name: string }[] }).features).toMatchObject([
      { name: 'checkout' },
    ]);
    const ended = once(program.server, 'close');
    stop?.();
    await ended;
    await program.flags.close();
  });
});
