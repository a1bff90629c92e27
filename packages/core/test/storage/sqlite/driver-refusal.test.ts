import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverRefusal, driverVersion } from '../../../src/storage/sqlite/open-database.js';
import { temporaryDirectory } from '../temporary-directory.js';

describe('driverRefusal', () => {
  it.each([
    ['13.0.0', '20.20.0'],
    ['13.2.1', '22.13.1'],
    ['14.0.0', '18.20.8'],
  ])('refuses better-sqlite3 %s on Node %s, and says what to do', (driver, node) => {
    const refusal = driverRefusal({ driver, node });
    expect(refusal).toContain(`better-sqlite3 ${driver}`);
    expect(refusal).toContain(`Node ${node}`);
    expect(refusal).toContain('Install better-sqlite3@12');
  });

  it.each([
    ['12.11.1', '20.20.0'],
    ['13.0.0', '22.14.0'],
    ['13.0.0', '24.0.0'],
    ['', '20.20.0'],
  ])('accepts better-sqlite3 %s on Node %s', (driver, node) => {
    expect(driverRefusal({ driver, node })).toBeUndefined();
  });
});

describe('driverVersion', () => {
  it('finds the version of the installed driver', () => {
    expect(driverVersion(require.resolve('better-sqlite3'))).toMatch(/^1[23]\.\d+\.\d+$/);
  });

  it('looks past manifests that belong to other packages', () => {
    const directory = temporaryDirectory();
    const library = join(directory.path, 'lib', 'esm');
    mkdirSync(library, { recursive: true });
    writeFileSync(join(library, 'package.json'), JSON.stringify({ type: 'module', version: '1.0.0' }));
    writeFileSync(join(directory.path, 'package.json'), JSON.stringify({ name: 'better-sqlite3', version: '13.4.5' }));
    expect(driverVersion(join(library, 'index.js'))).toBe('13.4.5');
    directory.remove();
  });

  it('gives undefined where there is no such package', () => {
    expect(driverVersion('/nowhere/at/all/index.js')).toBeUndefined();
  });
});
