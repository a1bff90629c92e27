import type { Segment } from '../app/api/types.js';
import { missingFields, usersWith } from '../app/model/context-fields.js';

const eu: Segment = {
  id: 3,
  name: 'EU',
  description: '',
  project: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'ada',
  constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }],
};
const strategy = { name: 'default', parameters: {}, constraints: [], segments: [3] };

describe('the context fields that a preview needs', () => {
  it('are found in constraints, segments, stickiness and IP addresses of changes and of flags', () => {
    const changes = [{ op: 'updateStrategy', input: { ...strategy, parameters: { stickiness: 'tenant' } } }];
    const ips = { ...strategy, name: 'remoteAddress', segments: [], parameters: { IPs: '10.0.0.0/8, 192.168.1.7' } };
    const constraints = [
      { contextName: 'age', operator: 'NUM_GT', value: '17' },
      { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00Z' },
    ];
    const flag = { environments: [{ strategies: [ips, { ...strategy, constraints }] }] };
    expect([...missingFields({ changes, stored: flag, segments: [eu], contexts: [] })]).toEqual([
      ['country', ['DE', 'AT']],
      ['tenant', []],
      ['remoteAddress', ['10.0.0.0', '192.168.1.7']],
      ['age', ['18']],
    ]);
  });

  it.each([
    ['SEMVER_GT', '1.2.3', '2.2.3'],
    ['SEMVER_LT', '1.2.3', '0.0.0'],
    ['NUM_LTE', '5', '5'],
    ['DATE_BEFORE', '2026-01-02T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ])('have a value that %s %s accepts', (operator, value, admitted) => {
    const changes = [{ contextName: 'x', operator, value }];
    expect([...missingFields({ changes, stored: [], segments: [], contexts: [] })]).toEqual([['x', [admitted]]]);
  });

  it('list added and removed values first', () => {
    const values = ['a', 'b', 'c', 'd', 'e', 'f'];
    const rule = { contextName: 'x', operator: 'IN' };
    const [after, before] = [
      { ...rule, values: values.slice(1) },
      { ...rule, values: values.slice(0, -1) },
    ];
    expect([...missingFields({ changes: after, stored: before, segments: [], contexts: [] })]).toEqual([
      ['x', ['f', 'a', 'b', 'c']],
    ]);
  });

  it('are missing if no context has them', () => {
    const stored = ['country', 'userId', 'appName'].map((contextName) => ({ contextName, values: [] }));
    const contexts = [{ userId: '1' }, { userId: '2', properties: { country: 'DE' } }];
    const missing = (count: number) =>
      missingFields({ changes: [], stored, segments: [], contexts: contexts.slice(0, count) });
    expect([...missing(2).keys()]).toEqual(['appName']);
    expect([...missing(1).keys()]).toEqual(['country', 'appName']);
  });

  it('are given to made-up users: as many for each value, and as many without', () => {
    const users = usersWith(
      new Map([
        ['country', ['DE', 'AT']],
        ['plan', ['pro']],
        ['code', []],
      ]),
    );
    expect(users?.label).toBe('200 with country DE and plan pro, 200 with country AT and plan pro, 200 without');
    const lines = users?.text.split('\n') ?? [];
    expect([lines.length, lines[0], lines[200], lines[599]]).toEqual([
      600,
      'userId=1&country=DE&plan=pro',
      'userId=201&country=AT&plan=pro',
      'userId=600',
    ]);
    expect(usersWith(new Map([['code', []]]))).toBeUndefined();
  });
});
