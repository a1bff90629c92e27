import { createSettings } from '../../src/options.js';
import { faultsOf } from './facts.js';

const OWNER = { id: 1, name: 'owner' };

/** Settings of these options, or the places of their faults. */
function placesOf(options: object): readonly (string | undefined)[] {
  return faultsOf((input) => createSettings(input as object) && input, options).map(({ path }) => path);
}

describe('settings', () => {
  it('have two environments, two roles and five flag types when nothing is said', () => {
    expect(createSettings({})).toEqual({
      environment: 'production',
      environments: [
        { name: 'development', displayName: 'Development' },
        { name: 'production', displayName: 'Production' },
      ],
      roles: [
        { id: 4, name: 'owner' },
        { id: 5, name: 'member' },
      ],
      flagTypes: [
        { name: 'release', lifetimeDays: 40 },
        { name: 'experiment', lifetimeDays: 40 },
        { name: 'operational', lifetimeDays: 7 },
        { name: 'kill-switch', lifetimeDays: null },
        { name: 'permission', lifetimeDays: null },
      ],
    });
  });

  it('keep the order of environments, and name them by their names', () => {
    const environments = [{ name: 'b', displayName: 'Bee' }, { name: '__proto__' }, { name: 'a' }];
    expect(createSettings({ environments }).environments).toEqual([
      { name: 'b', displayName: 'Bee' },
      { name: '__proto__', displayName: '__proto__' },
      { name: 'a', displayName: 'a' },
    ]);
  });

  it('keep only what belongs to them', () => {
    const roles = [{ ...OWNER, extra: 1 }];
    expect(createSettings({ roles }).roles).toEqual([OWNER]);
  });

  it.each<[object, readonly string[]]>([
    [{ environments: [] }, ['/environments']],
    [{ environments: 'production' }, ['/environments']],
    [{ environments: null }, ['/environments']],
    [{ environments: [{ name: 'a b' }] }, ['/environments/0/name']],
    [{ environments: [{}] }, ['/environments/0/name']],
    [{ environments: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] }, ['/environments/2/name']],
    [{ environments: [{ name: 'a', displayName: '' }] }, ['/environments/0/displayName']],
    [{ roles: [{ id: 1, name: 'admin' }] }, ['/roles']],
    [{ roles: [] }, ['/roles']],
    [{ roles: [OWNER, { id: 1, name: 'member' }] }, ['/roles/1/id']],
    [{ roles: [OWNER, { id: 2, name: 'owner' }] }, ['/roles/1/name']],
    [{ roles: [{ id: 0, name: 'owner' }] }, ['/roles/0/id']],
    [{ flagTypes: [] }, ['/flagTypes']],
    [{ flagTypes: [{ name: 'a', lifetimeDays: -1 }] }, ['/flagTypes/0/lifetimeDays']],
    [{ flagTypes: [{ name: 'a' }] }, ['/flagTypes/0/lifetimeDays']],
    [
      {
        flagTypes: [
          { name: 'a', lifetimeDays: null },
          { name: 'a', lifetimeDays: 1 },
        ],
      },
      ['/flagTypes/1/name'],
    ],
  ])('cannot be %j', (options, paths) => {
    expect(placesOf(options)).toEqual(paths);
  });

  it.each([
    ['pollInterval', -1],
    ['pollInterval', Number.NaN],
    ['usageInterval', 2 ** 31],
    ['applicationRetention', '30 days'],
    ['appName', ''],
    ['instanceId', 7],
  ])('refuse the option %s with %p', (option, value) => {
    const refused = expect.objectContaining({
      code: 'invalid_input',
      details: [expect.objectContaining({ path: `/${option}` })],
    });
    expect(() => createSettings({ [option]: value })).toThrow(refused);
  });
});
