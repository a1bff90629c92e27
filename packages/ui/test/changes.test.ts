import type { Change, FlagDetail } from '../app/api/types.js';
import { asCurl, asTypeScript } from '../app/model/as-code.js';
import { changesBetween } from '../app/model/flag-changes.js';

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

  it('replace a changed environment as a whole, in the order of the list', () => {
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

  it('are TypeScript that proposes the same changes', () => {
    const code = asTypeScript({ method: 'createProposal', changes, options: { reason: 'Launch' } });
    const flags = { createProposal: (...given: readonly unknown[]) => given };
    const made = new Function('flags', `return ${code.replace('await ', '')}`)(flags);
    expect(made).toEqual([{ changes }, { reason: 'Launch' }]);
  });
});
