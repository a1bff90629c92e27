import type { Change, FlagDetail } from '../../app/api/types.js';
import { asCurl, asTypeScript } from '../../app/model/as-code.js';
import { flagDifferences } from '../../app/model/differences.js';
import { changesBetween } from '../../app/model/flag-changes.js';

const before: FlagDetail = {
  name: 'checkout',
  project: 'default',
  description: null,
  type: 'release',
  stale: false,
  impressionData: false,
  archived: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  lastSeenAt: null,
  labels: [],
  owner: null,
  variants: null,
  environments: [
    {
      name: 'production',
      enabled: true,
      strategies: [
        {
          id: 's1',
          name: 'flexibleRollout',
          parameters: { rollout: '25', groupId: 'checkout' },
          constraints: [{ contextName: 'country', operator: 'IN', values: ['DE'] }],
          sortOrder: 3,
        },
      ],
    },
  ],
  dependencies: [{ feature: 'payments', enabled: true, variants: [] }],
};
const [production] = before.environments;
const [strategy] = production?.strategies ?? [];

function withProduction(change: object): FlagDetail {
  return { ...before, environments: [{ ...(production as NonNullable<typeof production>), ...change }] };
}

describe('the changes of an edit', () => {
  it('are none without an edit', () => {
    expect(changesBetween(before, structuredClone(before), 7)).toEqual([]);
  });

  it('switch an environment that is otherwise the same', () => {
    expect(changesBetween(before, withProduction({ enabled: false }), 7)).toEqual([
      { op: 'disable', ref: { project: 'default', flag: 'checkout', environment: 'production' }, ifRevision: 7 },
    ]);
  });

  it('set a changed environment whole, in the order of the list', () => {
    const added = { name: 'default', parameters: {}, constraints: [] };
    expect(changesBetween(before, withProduction({ strategies: [added, strategy] }), 7)).toEqual([
      {
        op: 'configureEnvironment',
        ref: { project: 'default', flag: 'checkout', environment: 'production' },
        input: { enabled: true, strategies: [added, { ...strategy, sortOrder: undefined }] },
        ifRevision: 7,
      },
    ]);
  });

  it('carry the revision once: the first change moves it on', () => {
    const after: FlagDetail = {
      ...before,
      stale: true,
      owner: 'ada',
      dependencies: [],
      variants: [{ name: 'a', weightType: 'variable', weight: 0, stickiness: 'default', overrides: [] }],
    };
    expect(changesBetween(before, after, 7)).toEqual([
      {
        op: 'updateFlag',
        ref: { project: 'default', flag: 'checkout' },
        input: { stale: true, owner: 'ada' },
        ifRevision: 7,
      },
      {
        op: 'setVariants',
        ref: { project: 'default', flag: 'checkout' },
        input: [{ name: 'a', weightType: 'variable', weight: 0, stickiness: 'default' }],
      },
      { op: 'removeDependency', ref: { project: 'default', flag: 'checkout' }, input: { flag: 'payments' } },
    ]);
  });
});

it('says the differences in words', () => {
  const changed = {
    ...strategy,
    parameters: { rollout: '50', groupId: 'checkout' },
    constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }],
  };
  const differences = flagDifferences(
    before,
    withProduction({ enabled: false, strategies: [changed, { name: 'default', parameters: {}, constraints: [] }] }),
  );
  expect(differences.map(({ place, what, before: from, after: to }) => [place, what, from, to])).toEqual([
    ['production', 'enabled', 'on', 'off'],
    ['production · strategy 1', 'rollout', '25', '50'],
    ['production · strategy 1', 'country', 'is one of DE', 'is one of DE, AT'],
    ['production · strategy 2', 'added', undefined, 'Everyone'],
  ]);
});

describe('the changes as code', () => {
  const changes: readonly Change[] = [
    {
      op: 'updateFlag',
      ref: { project: 'default', flag: 'a' },
      input: { description: `it's "quoted"\n$HOME`, labels: ['x'] },
    },
  ];

  it('is a curl that the shell takes literally', () => {
    const command = asCurl(changes, 'http://host/api/admin/changes', true);
    expect(command).toContain(`-H "Authorization: $FLAGS_ADMIN_TOKEN"`);
    expect(command).toContain(`it'\\''s \\"quoted\\"\\n$HOME`);
  });

  it('is TypeScript that makes the same changes', () => {
    const code = asTypeScript(changes);
    const made = new Function('flags', `return ${code.replace('await ', '')}`)({ apply: (given: unknown) => given });
    expect(made).toEqual(changes);
  });
});
