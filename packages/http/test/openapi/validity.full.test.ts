import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { AUTH_MODES, documentFor } from './documents.js';

/**
 * The validator and the linter are ES modules, which only a separate Node process can load. Loading them takes
 * longer than checking a document: each gets all documents.
 */
const VALIDATOR = `
  import { Validator } from '@seriousme/openapi-schema-validator';
  const check = async (document) => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(document);
    return { valid, errors, version: validator.version };
  };
`;

/** In the strict rules of the linter, every warning is an error. */
const LINTER = `
  import { createConfig, lintFromString } from '@redocly/openapi-core';
  const config = await createConfig({ extends: ['recommended-strict'] });
  const check = async (document) => {
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    return problems.map(({ ruleId, message }) => ruleId + ': ' + message);
  };
`;

/** Checks all documents that it reads, one after the other. */
const RUN = `
  import { text } from 'node:stream/consumers';
  const results = [];
  for (const document of JSON.parse(await text(process.stdin))) results.push(await check(document));
  process.stdout.write(JSON.stringify(results));
`;

/** Both paths are of the API family that clients expect; no segment has the id "strategies". */
const KNOWN_PROBLEMS = [
  'no-ambiguous-paths: Paths should resolve unambiguously. Found two ambiguous paths: ' +
    '`/api/admin/segments/{segmentId}/strategies` and `/api/admin/segments/strategies/{strategyId}`.',
];

async function resultsOf(program: string, documents: readonly object[]): Promise<readonly unknown[]> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program + RUN], {
    cwd: __dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([
    text(child.stdout),
    once(child, 'close'),
    child.stdin.end(JSON.stringify(documents)),
  ]);
  return JSON.parse(output);
}

describe('the OpenAPI document', () => {
  let validated: readonly unknown[];
  let linted: readonly unknown[];

  beforeAll(async () => {
    const documents: readonly object[] = await Promise.all(AUTH_MODES.map(documentFor));
    const checked = [...documents, { ...documents[0], paths: { 'no-slash': {} } }];
    [validated, linted] = await Promise.all([resultsOf(VALIDATOR, checked), resultsOf(LINTER, checked)]);
  }, 60_000);

  it.each(AUTH_MODES)('is valid OpenAPI 3.1, with authentication by %s', (auth) => {
    expect(validated[AUTH_MODES.indexOf(auth)]).toEqual({ valid: true, version: '3.1' });
  });

  it.each(AUTH_MODES)('passes the strict rules of a linter, with authentication by %s', (auth) => {
    expect(linted[AUTH_MODES.indexOf(auth)]).toEqual(KNOWN_PROBLEMS);
  });

  it('fails the validation if it is invalid', () => {
    expect(validated.at(-1)).toMatchObject({ valid: false });
    expect(linted.at(-1)).toContainEqual(expect.stringContaining('no-slash'));
  });
});
