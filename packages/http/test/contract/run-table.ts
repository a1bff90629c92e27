import type { StorageKind } from '../../../core/test/storage-kinds.js';
import type { Adapter } from './adapters.js';
import { checkRow } from './check-row.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import type { Row } from './row.js';

export interface Table {
  readonly adapter: Adapter;
  readonly storages: readonly StorageKind[];
  readonly rows: readonly Row[];
  /** Whether each host empties the store of the one before. Default: false. */
  readonly isOneStore?: boolean;
}

/** Tests every row on one adapter, on every storage. */
export function runTable({ adapter, storages, rows, isOneStore = false }: Table): void {
  describe.each(storages)(`on ${adapter.title}, on $name`, (storage) => {
    // Refusals change nothing, so rows with the same state share a host.
    const shared = new Map<Row['given'], Promise<ContractHost>>();

    afterAll(async () => {
      for (const host of shared.values()) await (await host).stop();
    });

    async function hostIn(given: Row['given']): Promise<ContractHost> {
      const host = await startContractHost(adapter, storage);
      await given?.(host.flags);
      return host;
    }

    it.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
      const isShared = !isOneStore && isRefused(row);
      const opening = (isShared && shared.get(row.given)) || hostIn(row.given);
      if (isShared) shared.set(row.given, opening);
      const host = await opening;
      try {
        await checkRow(row, host, documentedCheckOf(host.flags));
      } finally {
        if (!isShared) await host.stop();
      }
    });
  });
}

function isRefused({ expect: { code, afterwards } }: Row): boolean {
  return code !== undefined && afterwards === undefined;
}

function titleOf({ endpoint, name }: Row): string {
  const number = typeof endpoint === 'number' ? `${endpoint} ` : '';
  return `${number}${actionOf(endpoint)} ${name}`;
}
