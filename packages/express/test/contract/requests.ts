import { ROUTES } from '../../src/routes/all-routes.js';
import { actionOf } from './endpoints.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';

/** One request to every route that succeeds in some state. */
export const REQUESTS = ROUTES.flatMap((route) => {
  const row = WRITTEN_ROWS.find(({ endpoint, expect }) => actionOf(endpoint) === route.action && !expect.code);
  return row === undefined ? [] : [{ route, request: row.request }];
});
