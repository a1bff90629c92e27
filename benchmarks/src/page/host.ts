import type { AddressInfo } from 'node:net';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { createFlagsRouter } from '@flags/express';
import { createFlagsUi } from '@flags/ui';
import express from 'express';

const FLAGS = 10_000;
const BATCH = 500;
/** The flag that the preview is about. */
export const PREVIEWED = 'flag-00007';

export interface Host {
  /** The address of the list of flags. */
  readonly list: string;
  close(): Promise<void>;
}

/** Serves the page with 10,000 flags, each with a strategy in two environments. */
export async function startHost(): Promise<Host> {
  const flags = await createFlags({ storage: memoryStorage() });
  for (let first = 0; first < FLAGS; first += BATCH) await createFlagsFrom(flags, first);
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

async function createFlagsFrom(flags: Flags, first: number): Promise<void> {
  const names = Array.from({ length: BATCH }, (_, index) => `flag-${String(first + index).padStart(5, '0')}`);
  await flags.apply(
    names.map((name) => ({
      op: 'createFlag',
      ref: { project: 'default' },
      input: { name, description: `What ${name} does`, labels: ['shop'] },
    })),
  );
  for (const environment of ['development', 'production']) {
    await flags.apply(
      names.map((flag) => ({
        op: 'configureEnvironment',
        ref: { project: 'default', flag, environment },
        input: {
          enabled: true,
          strategies: [{ name: 'flexibleRollout', parameters: { rollout: 25, stickiness: 'default', groupId: flag } }],
        },
      })),
    );
  }
}
