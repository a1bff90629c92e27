import type { StorageKind } from '../../../core/test/storage-kinds.js';
import type { ExpressVersion } from '../express-versions.js';
import { createHostApp, type HostApp } from '../host-app.js';
import { NOW, strategyId } from './states.js';

export const ADMIN_SECRET = 'secret-of-the-administrator-of-everything';
export const CLIENT_SECRET = 'secret-of-the-client-of-all-projects';
export const FRONTEND_SECRET = 'secret-of-the-frontend-of-all-projects';

/** The host does not know this user. */
const STRANGER = 404;

/** The token that a path takes. */
export function secretFor(path: string): string {
  if (path.startsWith('/api/client') || path.startsWith('/ofrep')) return CLIENT_SECRET;
  return path.startsWith('/api/frontend') ? FRONTEND_SECRET : ADMIN_SECRET;
}

export interface ContractHost extends HostApp {
  /** Closes the engine and removes its storage. */
  readonly stop: () => Promise<void>;
}

/** A host whose clock stands at {@link NOW}, whose strategies are numbered, and which has a token of each kind. */
export async function startContractHost(version: ExpressVersion, { open }: StorageKind): Promise<ContractHost> {
  const { storage, dispose } = await open();
  let strategies = 0;
  const host = await createHostApp({
    version,
    router: { auth: 'token' },
    flags: {
      storage,
      environments: [{ name: 'development', displayName: 'Development' }, { name: 'production' }],
      now: () => new Date(NOW),
      newId: () => strategyId(++strategies),
      isUser: (userId) => userId !== STRANGER,
      // What is evaluated is recorded at the end: not in the middle of a comparison.
      usageInterval: 0,
    },
  });
  await host.flags.createToken({ name: 'administrator', kind: 'admin', secret: ADMIN_SECRET });
  await host.flags.createToken({ name: 'client', kind: 'client', environment: 'production', secret: CLIENT_SECRET });
  await host.flags.createToken({
    name: 'frontend',
    kind: 'frontend',
    environment: 'production',
    secret: FRONTEND_SECRET,
  });
  return {
    ...host,
    async stop() {
      await host.flags.close();
      await dispose();
    },
  };
}
