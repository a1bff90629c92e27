import type { AddressInfo } from 'node:net';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsRouter } from '@flags/express';
import { createFlagsUi } from '@flags/ui';
import express from 'express';
import { placeAt, populate } from '../population.js';

const FLAGS = 10_000;
/** The previewed flag. */
export const PREVIEWED = placeAt(7).flag;

export interface Host {
  /** The address of the list of flags. */
  readonly list: string;
  close(): Promise<void>;
}

/** Serves the page with 10,000 flags, each with a strategy in two environments. */
export async function startHost(): Promise<Host> {
  const flags = await openFlags({ storage: memoryStorage() });
  await populate(flags, { flags: FLAGS, projects: 1 });
  const router = createFlagsRouter(flags, { auth: 'none' });
  const app = express().use(router, createFlagsUi());
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    list: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ui/projects/default`,
    async close() {
      router.close();
      server.closeAllConnections();
      server.close();
      await flags.close();
    },
  };
}
