import { EXPRESS_4 } from '../express-versions.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { DERIVED_ROWS } from './rows/derived.js';
import { runTable } from './run-table.js';

it('runs upon Express 4', () => {
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(EXPRESS_4.express.application).toHaveProperty('lazyrouter');
});

runTable(EXPRESS_4, [...WRITTEN_ROWS, ...DERIVED_ROWS]);
