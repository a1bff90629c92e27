import { EXPRESS_4 } from '../express-versions.js';
import { STORAGES } from './contract-host.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { DERIVED_ROWS } from './rows/derived.js';
import { runTable } from './run-table.js';

it('runs upon Express 4', () => {
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(EXPRESS_4.express.application).toHaveProperty('lazyrouter');
});

runTable({ version: EXPRESS_4, storages: STORAGES, rows: [...WRITTEN_ROWS, ...DERIVED_ROWS] });
