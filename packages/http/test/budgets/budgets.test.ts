import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
import { expectBudgets } from './expect-budgets.js';
import { type ServerProgram, serverProgram } from './measured-server.js';

let directory: string;
let program: ServerProgram;
let files = 0;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'flags-budgets-'));
  program = serverProgram(join(__dirname, '../../..'), join(__dirname, 'children/budget-server.ts'));
});

afterAll(() => {
  program.remove();
  rmSync(directory, { recursive: true, force: true });
});

// The short form runs on SQLite, which most servers use. Memory differs in its heap only.
const ALSO_ON_MEMORY = extent({ short: false, full: true });
if (ALSO_ON_MEMORY) {
  expectBudgets(
    'memory',
    () => program,
    () => 'memory',
  );
}
expectBudgets(
  'SQLite',
  () => program,
  () => join(directory, `${++files}.db`),
);
