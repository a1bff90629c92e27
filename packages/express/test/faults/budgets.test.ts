import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectBudgets } from './budgets/expect-budgets.js';
import { type ServerProgram, serverProgram } from './budgets/measured-server.js';

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

expectBudgets(
  'memory',
  () => program,
  () => 'memory',
);
expectBudgets(
  'SQLite',
  () => program,
  () => join(directory, `${++files}.db`),
);
