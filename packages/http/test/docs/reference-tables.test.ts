import { ERROR_CODES } from '@flags/core';
import { ERROR_KINDS } from '../../src/errors.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import { codeIn, membersOf, read, tableAfter } from './documents.js';

const options = read('docs/options.md');
const endpoints = read('docs/endpoints.md');
const errorCodes = read('docs/error-codes.md');
const optionsAfter = (heading: string) => tableAfter(options, heading).map(([cell]) => codeIn(cell));

describe('the reference tables in docs', () => {
  it('have every endpoint, with its method, path and meaning', () => {
    const documented = tableAfter(endpoints, '# Endpoints').map(([method, path, meaning]) => [
      method,
      codeIn(path),
      meaning,
    ]);
    expect(documented).toEqual(ROUTES.map(({ method, path, summary }) => [method, path, summary]));
  });

  it('have every error code of the engine, with its status', () => {
    const documented = tableAfter(errorCodes, '## Codes of the engine').map(([code, status]) => [
      codeIn(code),
      Number(status),
    ]);
    expect(documented).toEqual(ERROR_CODES.map((code) => [code, ERROR_KINDS[code].status]));
  });

  it('have every error code of the HTTP API alone, with its status', () => {
    const documented = tableAfter(errorCodes, '## Codes of the HTTP API').map(([code, status]) => [
      codeIn(code),
      Number(status),
    ]);
    const ofTheEngine = new Set<string>(ERROR_CODES);
    const kinds = Object.entries(ERROR_KINDS).filter(([code]) => !ofTheEngine.has(code));
    expect(documented).toEqual(kinds.map(([code, { status }]) => [code, status]));
  });

  it('have every option of createFlags', () => {
    const source = read('packages/core/src/options.ts');
    const top = source.replaceAll(/\{ .* \}/g, '');
    expect(optionsAfter('## `createFlags(options)`')).toEqual(membersOf(top, 'export interface FlagsOptions'));
  });

  it('have every option of sqliteStorage', () => {
    const source = read('packages/core/src/storage/sqlite/options.ts');
    const settings = membersOf(source, 'export interface SqliteStorageSettings');
    expect(optionsAfter('## `sqliteStorage(path)`, `sqliteStorage(options)`')).toEqual([
      'path',
      'database',
      ...settings,
    ]);
  });

  it('have every option of createFlagsRouter', () => {
    const source = read('packages/http/src/options.ts');
    const members = membersOf(source, 'export interface FlagsApiOptions');
    expect(optionsAfter('## Options of createFlagsRouter')).toEqual(members);
  });

  it('have every option of the admin page', () => {
    const table = read('packages/ui/README.md').split('## Options')[1]?.split('\n## ')[0] ?? '';
    const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(documented).toEqual(membersOf(read('packages/ui/src/options.ts'), 'export interface FlagsUiOptions'));
  });

  it('have every variable of the reference server', () => {
    const used = [...read('examples/server/src/config.ts').matchAll(/environment\.([A-Z_]+)/g)].map(([, name]) => name);
    expect(optionsAfter('## The reference server').sort()).toEqual([...new Set(used)].sort());
  });
});
