import { join } from 'node:path';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { extent } from '../../../../test/extent.js';
import { expectBudgets } from '../../../http/test/budgets/expect-budgets.js';
import { type ServerProgram, serverProgram } from '../../../http/test/budgets/measured-server.js';

/** The short form is that on memory and SQLite, of packages/express. */
const describeInFull = extent({ short: describe.skip, full: describe });

describeInFull('the budgets of requests, on PostgreSQL', () => {
  let program: ServerProgram;
  const databases: FreshDatabase[] = [];

  beforeAll(() => {
    program = serverProgram(join(__dirname, '../../..'), join(__dirname, 'children/budget-server.ts'));
  });

  afterAll(async () => {
    program.remove();
    await Promise.all(databases.map(({ drop }) => drop()));
  });

  expectBudgets(
    'PostgreSQL',
    () => program,
    async () => {
      const database = await freshDatabase();
      databases.push(database);
      return database.url;
    },
  );
});
