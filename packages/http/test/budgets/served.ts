import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, type FlagsStorage, openFlags } from '@flags/core';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createFlagsRouter } from '../../../express/src/create-router.js';
import type { Action } from '../../src/actions.js';
import type { Actor } from '../../src/auth/auth.js';
import { roles } from '../../src/auth/roles.js';
import { STRANGER, USER_HEADER } from './definitions.js';
import { createProbe } from './probe.js';

/** The options of the process. */
export interface Configuration<Size = unknown> {
  readonly storage: string;
  readonly size: Size;
  /** Whether garbage is collected before each measurement. */
  readonly isThorough: boolean;
  /** The storage is a copy of a filled one. Default: it is empty. */
  readonly isFilled?: boolean;
}

/** `begin`, `end`: of a measurement; a number: milliseconds by which the clock advances. */
export type Instruction = 'begin' | 'end' | number;

/** The content of a server's store. */
export interface StoreContents<Size> {
  /** Writes to the new storage, before the server opens it. */
  readonly fill: (storage: FlagsStorage, size: Size) => Promise<void>;
  readonly furnish: (storage: FlagsStorage, flags: Flags, size: Size) => Promise<void>;
}

/** Serves the router on a filled store of a new storage, and measures the requests. Answers every message. */
export function serve<Size>(
  openStorage: (name: string) => Promise<FlagsStorage>,
  { fill, furnish }: StoreContents<Size>,
): void {
  // An interrupted test leaves no server behind.
  process.once('disconnect', () => process.exit());
  process.once('message', async ({ storage: name, size, isThorough, isFilled }: Configuration<Size>) => {
    const storage = await openStorage(name);
    let advance = 0;
    if (!isFilled) await fill(storage, size);
    const now = () => new Date(Date.now() + advance);
    // Nothing is done at a time: a change in the middle of a measurement would belong to no request.
    const options = { due: { run: 'elsewhere' }, onProblem: () => undefined, onError: report } as const;
    const flags = await openFlags({ ...options, storage, now });
    if (!isFilled) await furnish(storage, flags, size);

    const app = express();
    const authorize = ({ name }: Actor, action: Action) => isAllowed(name, action);
    app.use(createFlagsRouter(flags, { auth: { session: userOf, tokens: true }, authorize }));
    app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
      report(error);
      response.status(500).end();
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');

    const probe = createProbe(isThorough);
    process.on('message', async (instruction: Instruction) => {
      if (typeof instruction === 'number') advance += instruction;
      process.send?.(instruction === 'end' ? await probe.end() : ((await probe.begin()) ?? {}));
    });
    process.send?.({ port: (server.address() as AddressInfo).port });
  });
}

function userOf({ headers }: Request): Actor | null {
  const name = headers[USER_HEADER];
  return typeof name === 'string' ? { name } : null;
}

/** The name of a token may begin with the role of its user. */
function isAllowed(name: string, action: Action): boolean {
  const [role = ''] = name.split(' ');
  return role === 'viewer' || role === 'editor' ? roles[role](action) : name !== STRANGER;
}

function report(error: unknown): void {
  console.error(error);
}
