import { findDriverVersion } from '../../../src/storage/sqlite/driver-version.cjs';
import { driverRefusal } from '../../../src/storage/sqlite/open-database.js';

describe('driverRefusal', () => {
  it.each([
    ['13.0.0', '20.20.0', 'Install better-sqlite3@12'],
    ['13.2.1', '22.13.1', 'Install better-sqlite3@12'],
    ['14.0.0', '18.20.8', 'Install better-sqlite3@12'],
    ['12.11.1', '24.19.0', 'Install better-sqlite3@13'],
    ['12.0.0', '26.1.0', 'Install better-sqlite3@13'],
  ])('refuses better-sqlite3 %s on Node %s, and says what to do', (driver, node, advice) => {
    const refusal = driverRefusal({ driver, node });
    expect(refusal).toContain(`better-sqlite3 ${driver}`);
    expect(refusal).toContain(`Node ${node}`);
    expect(refusal).toContain(advice);
  });

  it.each([
    ['12.11.1', '20.20.0'],
    ['12.11.1', '24.18.9'],
    ['13.0.0', '22.14.0'],
    ['13.0.0', '24.0.0'],
    ['13.2.0', '24.19.0'],
    ['', '20.20.0'],
    ['', '26.0.0'],
  ])('accepts better-sqlite3 %s on Node %s', (driver, node) => {
    expect(driverRefusal({ driver, node })).toBeUndefined();
  });
});

it('knows the version of the installed driver', () => {
  const expected = process.env.FLAGS_SQLITE === 'node' ? /^undefined$/ : /^1[23]\.\d+\.\d+$/;
  expect(String(findDriverVersion())).toMatch(expected);
});
