import { accessOf } from '../src/create-api.js';
import { ROUTES } from '../src/routes/all-routes.js';

describe('the rows', () => {
  it('have unique actions', () => {
    const actions = ROUTES.map(({ action }) => action);
    expect(new Set(actions).size).toBe(actions.length);
  });

  it('have unique methods and paths', () => {
    const places = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(ROUTES.map((row) => [row.action, row] as const))('%s has the access of its path', (_action, row) => {
    expect(accessOf(row.path)).toBe(row.access);
  });

  it.each(ROUTES.map((row) => [row.action, row] as const))(
    '%s uses path syntax that Express 4 and 5 share',
    (_, row) => {
      expect(row.path).toMatch(/^(?:\/(?::[A-Za-z]+|[a-z\d.-]+))+$/);
    },
  );
});
