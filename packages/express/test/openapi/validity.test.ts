import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { AUTH_MODES, documentFor } from './documents.js';

/** The validator is an ES module, which only a Node of its own can load beside these tests. */
const PROGRAM = `
  import { text } from 'node:stream/consumers';
  import { Validator } from '@seriousme/openapi-schema-validator';
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(await text(process.stdin)));
  process.stdout.write(JSON.stringify({ valid, errors, version: validator.version }));
`;

interface Verdict {
  readonly valid: boolean;
  readonly errors?: unknown;
  readonly version?: string;
}

async function verdictOn(document: object): Promise<Verdict> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: __dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([
    text(child.stdout),
    once(child, 'close'),
    child.stdin.end(JSON.stringify(document)),
  ]);
  return JSON.parse(output);
}

describe('the OpenAPI document', () => {
  it.each(AUTH_MODES)(
    'is valid OpenAPI 3.1, with authentication by %s',
    async (auth) => {
      expect(await verdictOn(await documentFor(auth))).toEqual({ valid: true, version: '3.1' });
    },
    60_000,
  );

  it('would be found out if it were not', async () => {
    const { openapi, ...document } = await documentFor('token');
    expect(await verdictOn({ ...document, openapi, paths: { 'no-slash': {} } })).toMatchObject({ valid: false });
  }, 60_000);
});
