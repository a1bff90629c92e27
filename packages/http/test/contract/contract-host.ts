import { type Flags, openFlags } from '@flags/core';
import type { StorageKind } from '../../../core/test/storage-kinds.js';
import type { Adapter, Mounted } from './adapters.js';
import { NOW, strategyId } from './states.js';

export const ADMIN_SECRET = 'secret-of-the-administrator-of-everything';
export const CLIENT_SECRET = 'secret-of-the-client-of-all-projects';
export const FRONTEND_SECRET = 'secret-of-the-frontend-of-all-projects';

/** The host does not know this user. */
const STRANGER = 404;

/** The token that a path needs. */
export function secretFor(path: string): string {
  if (['/api/client', '/ofrep', '/edge'].some((part) => path.startsWith(part))) return CLIENT_SECRET;
  return path.startsWith('/api/frontend') ? FRONTEND_SECRET : ADMIN_SECRET;
}

export interface ContractHost extends Mounted {
  readonly flags: Flags;
  /** Closes the engine and removes its storage. */
  readonly stop: () => Promise<void>;
}

/** A host with the fixed time {@link NOW}, numbered strategies and a token of each kind. */
export async function startContractHost(adapter: Adapter, { open }: StorageKind): Promise<ContractHost> {
  const { storage, dispose } = await open();
  let strategies = 0;
  const flags = await openFlags({
    storage,
    environments: [{ name: 'development', displayName: 'Development' }, { name: 'production' }],
    now: () => new Date(NOW),
    newId: () => strategyId(++strategies),
    isUser: (userId) => userId !== STRANGER,
    // The rows call `runDue`.
    due: { run: 'elsewhere' },
    // Records evaluations at the end, not during a comparison.
    usage: { interval: 0 },
  });
  await flags.tokens.create({ name: 'administrator', kind: 'admin', secret: ADMIN_SECRET });
  await flags.tokens.create({ name: 'client', kind: 'client', environment: 'production', secret: CLIENT_SECRET });
  await flags.tokens.create({
    name: 'frontend',
    kind: 'frontend',
    environment: 'production',
    secret: FRONTEND_SECRET,
  });
  const mounted = await adapter.mount(flags);
  return {
    flags,
    ...mounted,
    async stop() {
      await mounted.stop?.();
      await flags.close();
      await dispose();
    },
  };
}
