import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
// Here, as its database is for all of the files.
import './rule-storages.js';

jest.mock('../../../core/test/rules/rule-storages.js', () => jest.requireActual('./rule-storages.js'));

const CORE = join(__dirname, '../../../core/test');
/** PostgreSQL gives no stamps. */
const WITHOUT = ['rules/stamps.test.ts'];
/** Those in which much is read, checked and written at once. */
const SELECTED = ['clone', 'reference-races', 'subscription'];

/** The files with rules that hold on every storage. */
function rules(): readonly string[] {
  const files = ['rules', 'live'].flatMap((directory) =>
    readdirSync(join(CORE, directory)).map((name) => join(directory, name)),
  );
  const found = files.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(join(CORE, file), 'utf8').includes('onEveryStorage('),
  );
  return found.filter((file) => !WITHOUT.includes(file));
}

const files = extent({ short: SELECTED.map((name) => `rules/${name}.test.ts`), full: rules() });

describe.each(files)('%s', (file) => {
  require(join(CORE, file));
});
