import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreatedToken, createFlags, type Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

const codeOf = (path: string) => codeBlocks(read(path), 'js').join('\n');

describe('the code of docs/moving-from-unleash-client.md', () => {
  it('evaluates in the process, and does not show the new page when the flag is off', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-guide-'));
    const showNewCheckout = jest.fn();
    const code = codeOf('docs/moving-from-unleash-client.md').replace(
      "'./flags.db'",
      JSON.stringify(join(directory, 'flags.db')),
    );
    const flags = (await runProgram(code, { result: 'flags', scope: { showNewCheckout } })) as Flags;
    expect(showNewCheckout).not.toHaveBeenCalled();
    await flags.close();
    await rm(directory, { recursive: true });
  });
});

describe('the code of docs/backups.md', () => {
  it('makes a backup that can be opened', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-guide-'));
    const code = codeOf('docs/backups.md').replaceAll("'./", `'${directory}/`);
    const flags = (await runProgram(code, { result: 'flags', scope: {} })) as Flags;
    const restored = await createFlags({ storage: sqliteStorage(join(directory, 'flags-2026-01-01.backup')) });
    expect((await restored.listProjects()).map(({ id }) => id)).toEqual(['default']);
    await restored.close();
    await flags.close();
    await rm(directory, { recursive: true });
  });
});

describe('the code of docs/pointing-sdks.md', () => {
  it('serves each kind of client by its token', async () => {
    const code = codeOf('docs/pointing-sdks.md').replace('listen(4242,', 'listen(0,');
    const result = '{ flags, server, backend, browsers }';
    const program = (await runProgram(code, { result, scope: {} })) as {
      readonly flags: Flags;
      readonly server: Server;
      readonly backend: CreatedToken;
      readonly browsers: CreatedToken;
    };
    await once(program.server, 'listening');
    const { port } = program.server.address() as AddressInfo;
    const statusOf = async (path: string, { secret }: CreatedToken) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: secret } })).status;
    expect(await statusOf('/api/client/features', program.backend)).toBe(200);
    expect(await statusOf('/api/frontend', program.browsers)).toBe(200);
    expect(await statusOf('/api/client/features', program.browsers)).toBe(403);
    program.server.close();
    program.server.closeAllConnections();
    await program.flags.close();
  });
});

describe('the code of docs/faults.md', () => {
  it('replies as described while the storage fails', async () => {
    const result = '{ flags, server, statuses }';
    const program = (await runProgram(codeOf('docs/faults.md'), { result, scope: {} })) as {
      readonly flags: Flags;
      readonly server: Server;
      readonly statuses: readonly number[];
    };
    expect(program.statuses).toEqual([503, 504, 201]);
    expect((await program.flags.listFlags({ project: 'default' })).map(({ name }) => name)).toEqual([
      'checkout',
      'payments',
    ]);
    program.server.close();
    program.server.closeAllConnections();
    await program.flags.close();
  });
});
