import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlags, type Flags, type Storage } from '@flags/core';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createFlagsRouter } from '../../../../express/src/create-router.js';
import { STRANGER } from './definitions.js';
import { createProbe } from './probe.js';

/** The options of the process. */
export interface Configuration<Size = unknown> {
  readonly storage: string;
  readonly size: Size;
  /** Whether garbage is collected before each measurement. */
  readonly isThorough: boolean;
}

/** `begin`, `end`: of a measurement; a number: milliseconds by which the clock advances. */
export type Instruction = 'begin' | 'end' | number;

/** The content of a server's store. */
export interface StoreContents<Size> {
  /** Writes to the new storage, before the server opens it. */
  readonly fill: (storage: Storage, size: Size) => Promise<void>;
  readonly furnish: (storage: Storage, flags: Flags, size: Size) => Promise<void>;
}

/** Serves the router on a filled store of a new storage, and measures the requests. Answers every message. */
export function serve<Size>(
  openStorage: (name: string) => Promise<Storage>,
  { fill, furnish }: StoreContents<Size>,
): void {
  // An interrupted test leaves no server behind.
  process.once('disconnect', () => process.exit());
  process.once('message', async ({ storage: name, size, isThorough }: Configuration<Size>) => {
    const storage = await openStorage(name);
    let advance = 0;
    await fill(storage, size);
    const now = () => new Date(Date.now() + advance);
    const flags = await createFlags({ storage, now, onProblem: () => undefined, onError: report });
    await furnish(storage, flags, size);

    const app = express();
    app.use(createFlagsRouter(flags, { auth: 'token', authorize: ({ name }) => name !== STRANGER }));
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

function report(error: unknown): void {
  console.error(error);
}
