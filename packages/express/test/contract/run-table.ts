import { type Flags, inputSchemas } from '@flags/core';
import { openApiDocument } from '../../src/openapi/document.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import type { ExpressVersion } from '../express-versions.js';
import { checkRow } from './check-row.js';
import { type ContractHost, type StorageKind, startContractHost } from './contract-host.js';
import { createDocumentedCheck, type DocumentedCheck } from './documented.js';
import { actionOf } from './endpoints.js';
import type { Row } from './row.js';

export interface Table {
  readonly version: ExpressVersion;
  readonly storages: readonly StorageKind[];
  readonly rows: readonly Row[];
}

/** Proves every row upon one version of Express, on every storage. */
export function runTable({ version, storages, rows }: Table): void {
  describe.each(storages)(`upon Express ${version.major}, on $name`, (storage) => {
    let host: ContractHost;
    let checkDocumented: DocumentedCheck | undefined;

    beforeEach(async () => {
      host = await startContractHost(version, storage);
    });

    afterEach(() => host.stop());

    it.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
      checkDocumented ??= createDocumentedCheck(documentOf(host.flags));
      await checkRow(row, host, checkDocumented);
    });
  });
}

function documentOf({ settings }: Flags): object {
  return openApiDocument({ routes: ROUTES, schemas: inputSchemas(settings), settings, auth: 'token' });
}

function titleOf({ endpoint, name }: Row): string {
  const number = typeof endpoint === 'number' ? `${endpoint} ` : '';
  return `${number}${actionOf(endpoint)} ${name}`;
}
