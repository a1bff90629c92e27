import { accessOf } from '../../src/api/create-api.js';
import { GROUPS, ROUTES } from '../../src/routes.js';
import { actionOf } from './endpoints.js';
import type { Row } from './row.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { DERIVED_ROWS } from './rows/derived.js';

export const ALL_ROWS: readonly Row[] = [...WRITTEN_ROWS, ...DERIVED_ROWS];

/** The rows that succeed: those in which storages could differ. Refusals are decided by the same code on every storage. */
const SUCCESSFUL_ROWS: readonly Row[] = WRITTEN_ROWS.filter(({ expect }) => expect.code === undefined);

/** The first successful row of every route. */
export const ONE_ROW_PER_ROUTE: readonly Row[] = ROUTES.flatMap(
  ({ action }) => SUCCESSFUL_ROWS.find(({ endpoint }) => actionOf(endpoint) === action) ?? [],
);

/** A row that reads and a row that changes, for every group of routes. */
export const TWO_ROWS_PER_GROUP: readonly Row[] = GROUPS.flatMap(({ routes }) => {
  const actions = routes.map(({ action }) => action);
  const rows = ONE_ROW_PER_ROUTE.filter(({ endpoint }) => actions.includes(actionOf(endpoint)));
  const reading = rows.find(({ request }) => request.method === 'GET');
  const changing = rows.find(({ request }) => request.method !== 'GET');
  return [reading, changing].filter((row) => row !== undefined);
});

/** The rows for SDKs that a follower answers as its root does. */
export const ROWS_OF_FOLLOWERS: readonly Row[] = ALL_ROWS.filter(
  ({ request, isForEngines }) => accessOf(request.path) !== 'admin' && !isForEngines,
);
