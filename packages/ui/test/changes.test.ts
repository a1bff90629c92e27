import type { Change, FlagDetail } from '../app/api/types.js';
import { asCurl, asTypeScript } from '../app/model/as-code.js';
import { changesBetween, editableFlag } from '../app/model/flag-changes.js';

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
};
const [production] = before.environments;
const [strategy] = production?.strategies ?? [];

function withProduction(change: object): FlagDetail {
  return { ...before, environments: [{ ...(production as NonNullable<typeof production>), ...change }] };
}

describe('the changes of an edit', () => {
  it('are empty without an edit', () => {
    expect(changesBetween(before, structuredClone(before), 7)).toEqual([]);
  });

  it('switch an environment that is otherwise the same', () => {
    expect(changesBetween(before, withProduction({ enabled: false }), 7)).toEqual([
      { op: 'disable', ref: { project: 'default', flag: 'checkout', environment: 'production' }, ifRevision: 7 },
    ]);
  });

  const at = { project: 'default', flag: 'checkout', environment: 'production' };
  const added = { name: 'default', parameters: {}, constraints: [] };

  it('are those of what differs: added, changed and removed strategies', () => {
    const changed = { ...strategy, title: 'Everybody' };
    const { id: _id, ...input } = changed;
    expect(changesBetween(before, withProduction({ strategies: [changed, added] }), 7)).toEqual([
      { op: 'updateStrategy', ref: { ...at, strategy: 's1' }, input, ifRevision: 7 },
      { op: 'addStrategy', ref: at, input: added },
    ]);
    // Without a strategy in between, the flag would be off.
    expect(changesBetween(before, withProduction({ strategies: [added] }), 7)).toEqual([
      { op: 'addStrategy', ref: at, input: added, ifRevision: 7 },
      { op: 'removeStrategy', ref: { ...at, strategy: 's1' } },
    ]);
    expect(changesBetween(before, withProduction({ enabled: false, strategies: [changed] }), 7)).toEqual([
      { op: 'disable', ref: at, ifRevision: 7 },
      { op: 'updateStrategy', ref: { ...at, strategy: 's1' }, input },
    ]);
  });

  it('replace an environment as a whole where the order changes, unless they keep it', () => {
    const reordered = withProduction({ strategies: [added, strategy] });
    expect(changesBetween(before, reordered, 7)).toEqual([
      {
        op: 'configureEnvironment',
        ref: at,
        input: { enabled: true, strategies: [added, { ...strategy, sortOrder: undefined }] },
        ifRevision: 7,
      },
    ]);
    expect(changesBetween(before, reordered, 7, { keepsOrder: true })).toEqual([
      { op: 'addStrategy', ref: at, input: added, ifRevision: 7 },
    ]);
  });

  it('never contain a rollout, whose progress is no part of an edit', () => {
    const rollout = { steps: [], step: 0, since: '2026-01-01T00:00:00.000Z', state: 'running' };
    const rolling = withProduction({ strategies: [{ ...strategy, rollout }] });
    expect(editableFlag(rolling).environments).toEqual(before.environments);
    expect(changesBetween(rolling, before, 7)).toEqual([]);
    const reordered = withProduction({ strategies: [added, { ...strategy, rollout }] });
    expect(JSON.stringify(changesBetween(rolling, reordered, 7))).not.toContain('running');
  });

  it('contain the revision once: the first change increments it', () => {
    const after: FlagDetail = {
      ...before,
      stale: true,
      owner: 'ada',
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
    ]);
  });
});

describe('the changes as code', () => {
  const changes: readonly Change[] = [
    {
      op: 'updateFlag',
      ref: { project: 'default', flag: 'a' },
      input: { description: `it's "quoted"\n$HOME`, labels: ['x'] },
    },
  ];

  it('are a curl command that the shell reads literally', () => {
    const command = asCurl({ changes }, 'http://host/api/admin/changes', true);
    expect(command).toContain(`-H "Authorization: $FLAGS_ADMIN_TOKEN"`);
    expect(command).toContain(`it'\\''s \\"quoted\\"\\n$HOME`);
  });

  it('are TypeScript that makes the same changes', () => {
    const code = asTypeScript({ method: 'apply', changes });
    const made = new Function('flags', `return ${code.replace('await ', '')}`)({ apply: (given: unknown) => given });
    expect(made).toEqual(changes);
  });

  it('are TypeScript that requests the same changes', () => {
    const code = asTypeScript({ method: 'changeRequests.create', changes, options: { reason: 'Launch' } });
    const flags = { changeRequests: { create: (...given: readonly unknown[]) => given } };
    const made = new Function('flags', `return ${code.replace('await ', '')}`)(flags);
    expect(made).toEqual([changes, { reason: 'Launch' }]);
  });
});
