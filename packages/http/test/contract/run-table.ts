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
}

/** Proves every row upon one adapter, on every storage. */
export function runTable({ adapter, storages, rows }: Table): void {
  describe.each(storages)(`upon ${adapter.title}, on $name`, (storage) => {
    let host: ContractHost;

    beforeEach(async () => {
      host = await startContractHost(adapter, storage);
    });

    afterEach(() => host.stop());

    it.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
      await checkRow(row, host, documentedCheckOf(host.flags));
    });
  });
}

function titleOf({ endpoint, name }: Row): string {
  const number = typeof endpoint === 'number' ? `${endpoint} ` : '';
  return `${number}${actionOf(endpoint)} ${name}`;
}
