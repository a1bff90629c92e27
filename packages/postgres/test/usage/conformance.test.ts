import { usageConformance } from '../../../core/test/usage/conformance/suite.js';
import { deletionOfRows, ownDatabase } from '../own-database.js';
import { onEveryVersion } from '../server/on-every-version.js';
import { openedUsage } from './opened-usage.js';

onEveryVersion((name, server) => {
  const database = ownDatabase(() => ({ server: server() }));
  const open = () => openedUsage({ pool: database.pool(), listen: false });
  let empty: string;

  // Creating the tables takes longer than a rule: all rules share them.
  beforeAll(async () => {
    await (await open()).close();
    empty = await deletionOfRows(database, 'public');
  });

  /** Makes the database fail reports that count this flag, after other tables were written. */
  async function refuse(flag: string): Promise<void> {
    await database.ask(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'injected fault'; END $$;
      CREATE TRIGGER fault BEFORE INSERT ON flags_usage_counts
      FOR EACH ROW WHEN (NEW.flag = '${flag}') EXECUTE FUNCTION refuse()`);
  }

  usageConformance(`usage on ${name}`, async () => {
    await database.ask(`DROP FUNCTION IF EXISTS refuse CASCADE; ${empty}`);
    return { usage: await open(), again: open, refuse };
  });
});
