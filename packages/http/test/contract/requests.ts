import { ROUTES } from '../../src/routes.js';
import { actionOf } from './endpoints.js';
import { ONE_ROW_PER_ROUTE } from './selected-rows.js';

/** One request to every route that succeeds in some state. */
export const REQUESTS = ROUTES.flatMap((route) => {
  const row = ONE_ROW_PER_ROUTE.find(({ endpoint }) => actionOf(endpoint) === route.action);
  return row === undefined ? [] : [{ route, request: row.request }];
});
