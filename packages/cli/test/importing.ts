import { join } from 'node:path';
import type { DefinedFlag, Definitions } from '@flags/core';
import { flagsCommand, runningServer } from './command-line.js';

export const fixture = (name: string) => join(__dirname, 'fixtures', name);

/** Imports into a running server. */
export function importing() {
  const server = runningServer();

  function onServer(...args: string[]) {
    const { url, secret } = server();
    return flagsCommand([...args, '--store', url, '--token', secret]);
  }

  /** Imports a file twice, and returns the flags by name with the notes. */
  async function imported(file: string, ...options: string[]) {
    const { code, err } = await onServer('import', file, '--yes', ...options);
    expect(`${code} ${err}`).toMatch(/^0/);
    expect(await onServer('import', file, '--yes', ...options)).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
    const document: Definitions = await server().flags.definitions.export();
    return { flags: byName(document), document, notes: err };
  }

  return { server, onServer, imported };
}

function byName({ flags = [] }: Definitions): Readonly<Record<string, DefinedFlag>> {
  return Object.fromEntries(flags.map((flag) => [flag.name, flag]));
}
