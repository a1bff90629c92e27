import { validate } from './default-validators.js';
import { faultsOf, pathsOf } from './facts.js';

type Case = readonly [unknown, readonly string[]];

const bucket = { start: '2026-03-01T12:00:00Z', stop: '2026-03-01T12:01:00Z', toggles: { a: { yes: 1, no: 0 } } };
const report = { appName: 'web', bucket };
const registration = { appName: 'web', strategies: ['default'], started: '2026-03-01', interval: 10_000 };

/** Inputs by their validator, each with the places of its faults. */
const CASES: { readonly [Key in keyof typeof validate]?: readonly Case[] } = {
  newFlag: [
    [{ name: 'a' }, []],
    [{ name: 'a', description: null, type: 'kill-switch', impressionData: true, archived: 'ignored' }, []],
    [{}, ['/name']],
    [{ name: 'a', description: 7, type: 'other', impressionData: 'no' }, ['/description', '/type', '/impressionData']],
  ],
  flagChanges: [
    [{}, []],
    [{ name: 7, project: 7, description: '', type: 'permission', stale: true, impressionData: false }, []],
    [{ stale: null, type: null }, ['/type', '/stale']],
  ],
  clone: [
    [{ name: 'copy' }, []],
    [{ name: '..' }, ['/name']],
    [{}, ['/name']],
  ],
  member: [
    [{ userId: 1, roleId: 4, projectId: 'ignored' }, []],
    [{ userId: 0, roleId: 1.5 }, ['/userId', '/roleId']],
    [{ userId: '1', roleId: 2 ** 53 }, ['/userId', '/roleId']],
    [{}, ['/userId', '/roleId']],
  ],
  newProject: [
    [{ id: '__proto__', name: 'A name', description: '' }, []],
    [{ id: 'a b', name: '', description: 'd'.repeat(1001) }, ['/id', '/name', '/description']],
    [{ name: 'n'.repeat(101) }, ['/id', '/name']],
  ],
  projectChanges: [
    [{}, []],
    [{ name: 'n'.repeat(100), description: 'd'.repeat(1000), id: 7 }, []],
    [{ name: null, description: null }, ['/name', '/description']],
  ],
  registration: [
    [registration, []],
    [{ ...registration, sdkVersion: '', color: null, platformName: 'ignored' }, []],
    [{}, ['/appName', '/strategies', '/started', '/interval']],
    [{ ...registration, started: 'noon', interval: -1, strategies: [''] }, ['/strategies/0', '/started', '/interval']],
    [{ ...registration, appName: '', instanceId: 'i'.repeat(256) }, ['/appName', '/instanceId']],
  ],
  metricsReport: [
    [report, []],
    [{ ...report, bucket: { ...bucket, toggles: {} } }, []],
    [{ ...report, bucket: { ...bucket, stop: bucket.start } }, []],
    [{ ...report, bucket: { ...bucket, stop: '2026-03-01T11:59:59.999Z' } }, ['/bucket/stop']],
    [{ appName: 'web', bucket: {} }, ['/bucket/start', '/bucket/stop', '/bucket/toggles']],
    [
      { ...report, bucket: { ...bucket, toggles: { 'a/b': { yes: -1 } } } },
      ['/bucket/toggles/a~1b/no', '/bucket/toggles/a~1b/yes'],
    ],
    [{ ...report, bucket: { ...bucket, toggles: JSON.parse('{"__proto__":7}') } }, ['/bucket/toggles/__proto__']],
    [
      { ...report, bucket: { ...bucket, toggles: { a: { yes: 0.5, no: 2 ** 53 } } } },
      ['/bucket/toggles/a/yes', '/bucket/toggles/a/no'],
    ],
  ],
  newToken: [
    [{ name: 't', kind: 'admin' }, []],
    [{ name: 't', kind: 'admin', project: '*', environment: '*', expiresAt: null, secret: '!~'.repeat(16) }, []],
    [{ name: 't', kind: 'client', environment: 'production', expiresAt: '2026-03-01' }, []],
    [{ name: 't', kind: 'client', projects: ['p', '*'] }, []],
    [{ name: 't', kind: 'client' }, []],
    [{ name: 'System', kind: 'client' }, ['/name']],
    [{ name: 't', kind: 'admin', projects: ['p'] }, ['/projects']],
    [{ name: 't', kind: 'client', projects: [] }, ['/projects']],
    [{ name: 't', kind: 'frontend', environment: '*' }, ['/environment']],
    [{ name: 't', kind: 'admin', project: 'p', environment: 'e' }, ['/project', '/environment']],
    [{ name: 't', kind: 'root' }, ['/kind']],
    [{ name: 't', kind: 'admin', secret: `a b${'x'.repeat(32)}` }, ['/secret']],
    [{ name: 't', kind: 'admin', secret: 'x'.repeat(31) }, ['/secret']],
    [{ name: 't', kind: 'admin', expiresAt: 'tomorrow' }, ['/expiresAt']],
  ],
  eventQuery: [
    [{}, []],
    [{ project: 'p', flag: 'f', type: 'flag-created', from: '2026-03-01', to: '2026-03-02', limit: 0, offset: 5 }, []],
    [{ type: 'feature-created', from: '1', limit: 1001, offset: -1 }, ['/type', '/from', '/limit', '/offset']],
    [{ limit: '5' }, ['/limit']],
  ],
  jsonPatch: [
    [[], []],
    [
      [
        { op: 'add', path: '', value: null },
        { op: 'remove', path: '/a~0~1' },
        { op: 'move', from: '/a', path: '/b' },
      ],
      [],
    ],
    [[{ op: 'test', path: '/a', value: false, extra: 1 }], []],
    [{}, ['']],
    [
      [null, 'add'],
      ['/0', '/1'],
    ],
    [[{ op: 'merge', path: '/a' }], ['/0/op']],
    [
      [{ path: '/a' }, { op: 'add' }],
      ['/0/op', '/1/path'],
    ],
    [[{ op: 'add', path: 'a', value: 1 }], ['/0/path']],
    [[{ op: 'add', path: '/~2', value: 1 }], ['/0/path']],
    [[{ op: 'add', path: '/a~', value: 1 }], ['/0/path']],
    [
      [
        { op: 'add', path: '/a' },
        { op: 'copy', path: '/a' },
        { op: 'test', path: '/a' },
      ],
      ['/0/value', '/1/from', '/2/value'],
    ],
    [Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/a' })), ['']],
  ],
};

describe.each(Object.entries(CASES))('%s', (name, cases) => {
  it.each(cases)('%j has its faults at %j', (input, paths) => {
    const validator = validate[name as keyof typeof validate];
    expect([...pathsOf(validator, input)].toSorted()).toEqual([...paths].toSorted());
  });

  it.each([null, undefined, 7, 'text', true])('is not %j', (input) => {
    expect(faultsOf(validate[name as keyof typeof validate], input)).toHaveLength(1);
  });
});
