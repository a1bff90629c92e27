import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { AUTH_MODES, documentFor } from './documents.js';

/** The validator and the linter are ES modules, which only a Node of its own can load beside these tests. */
const VALIDATOR = `
  import { text } from 'node:stream/consumers';
  import { Validator } from '@seriousme/openapi-schema-validator';
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(await text(process.stdin)));
  process.stdout.write(JSON.stringify({ valid, errors, version: validator.version }));
`;

/** In the strict rules of the linter, every warning is an error. */
const LINTER = `
  import { text } from 'node:stream/consumers';
  import { createConfig, lintFromString } from '@redocly/openapi-core';
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: await text(process.stdin), config });
  process.stdout.write(JSON.stringify(problems.map(({ ruleId, message }) => ruleId + ': ' + message)));
`;

/** Both paths are of the API family that clients expect; no segment has the id "strategies". */
const KNOWN_PROBLEMS = [
  'no-ambiguous-paths: Paths should resolve unambiguously. Found two ambiguous paths: ' +
    '`/api/admin/segments/{segmentId}/strategies` and `/api/admin/segments/strategies/{strategyId}`.',
];

async function outputOf(program: string, document: object): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
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
      expect(await outputOf(VALIDATOR, await documentFor(auth))).toEqual({ valid: true, version: '3.1' });
    },
    60_000,
  );

  it.each(AUTH_MODES)(
    'passes the strict rules of a linter, with authentication by %s',
    async (auth) => {
      expect(await outputOf(LINTER, await documentFor(auth))).toEqual(KNOWN_PROBLEMS);
    },
    60_000,
  );

  it('would be found out if it were not', async () => {
    const { openapi, ...document } = await documentFor('token');
    const broken = { ...document, openapi, paths: { 'no-slash': {} } };
    expect(await outputOf(VALIDATOR, broken)).toMatchObject({ valid: false });
    expect(await outputOf(LINTER, broken)).toContainEqual(expect.stringContaining('no-slash'));
  }, 60_000);
});
