import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { extent } from '../../../../test/extent.js';
import { nameOfDatabase } from '../../src/database-name.js';
import { adminClient } from '../admin-client.js';
import { endAll, runToEnd, startServer } from '../server-process.js';

const PASSWORD = 'p4ssw0rd-of-the-database';
const ADMIN = 'secret-of-the-administrator-of-everything';

/** The test server trusts everybody, so it accepts any password. */
function withPassword(url: string): string {
  return url.replace('postgres@', `postgres:${PASSWORD}@`);
}

describe('servers on one PostgreSQL database', () => {
  let database: FreshDatabase;

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterEach(endAll);
  afterAll(() => database.drop());

  it('see each other’s changes, and print no password', async () => {
    const environment = { FLAGS_DB: withPassword(database.url), FLAGS_ADMIN_TOKEN: ADMIN };
    const one = await startServer(environment);
    const other = await startServer(environment);
    expect((await adminClient(one.url, ADMIN).createFlag('checkout')).status).toBe(201);
    const answer = await adminClient(other.url, ADMIN).get('/api/admin/projects/default/features/checkout');
    expect(await answer.json()).toMatchObject({ name: 'checkout' });
    expect(await one.end('SIGTERM')).toBe(0);
    expect(await other.end('SIGTERM')).toBe(0);
    expect(one.printed() + other.printed()).not.toContain(PASSWORD);
    expect(one.log()).toContainEqual(
      expect.objectContaining({ database: expect.stringMatching(/^postgres:\/\/localhost/) }),
    );
  });

  const unusable: readonly (readonly [string, string, RegExp])[] = [
    ['does not exist', '', /^FLAGS_DB: .*has no such database.*Name a database/],
    [
      'cannot be reached',
      'postgres://flags:PASSWORD@localhost/app?host=/nowhere',
      /^FLAGS_DB: .*cannot be used .*Name a database/,
    ],
    ['is named badly', 'postgres://flags:PASSWORD@[localhost/app', /^FLAGS_DB: .*cannot be used/],
  ];
  it.each(extent({ short: unusable.slice(0, 1), full: unusable }))(
    'say in one line that the database %s, without the password',
    async (_, url, line) => {
      const missing = withPassword(database.url.replace(/\/test_\w+/, '/missing'));
      const { code, printed } = await runToEnd({ FLAGS_DB: url.replace('PASSWORD', PASSWORD) || missing });
      expect(printed.trimEnd().split('\n')).toEqual([expect.stringMatching(line)]);
      expect(printed).not.toContain(PASSWORD);
      expect(code).toBe(1);
    },
  );
});

describe('the printed name of a database', () => {
  it.each([
    ['./flags.db', './flags.db'],
    ['postgres://flags:secret@db.internal:5433/app?sslkey=secret', 'postgres://db.internal:5433/app'],
    ['postgresql://db/app', 'postgres://db/app'],
    ['postgres://flags:secret@[db/app', 'postgres://…'],
  ])('contains no secret: %s', (database, name) => {
    expect(nameOfDatabase(database)).toBe(name);
  });
});
