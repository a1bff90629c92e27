import { EXPRESS_5 } from '../express-versions.js';
import { STORAGES } from './contract-host.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { DERIVED_ROWS } from './rows/derived.js';
import { runTable } from './run-table.js';

it('runs upon Express 5', () => {
  expect(require('express/package.json').version).toMatch(/^5\./);
  expect(EXPRESS_5.express.application).not.toHaveProperty('lazyrouter');
});

runTable({ version: EXPRESS_5, storages: STORAGES, rows: [...WRITTEN_ROWS, ...DERIVED_ROWS] });
