import { writeFileSync } from 'node:fs';
import { type Flags, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { flagsCommand, type Result, runningServer, temporaryFolder } from './command-line.js';

const path = temporaryFolder();
const server = runningServer();

type Command = (...args: readonly string[]) => Promise<Result>;
/** What people, and the service of the store, do. */
type OnEngine = <T>(act: (flags: Flags) => Promise<T>) => Promise<T>;

async function onFile(): Promise<Command> {
  const store = path('flags.db');
  await flagsCommand(['migrate', '--store', store]);
  return (...args) => flagsCommand([...args, '--store', store]);
}

async function onServer(): Promise<Command> {
  const { url, secret } = server();
  return (...args) => flagsCommand([...args, '--store', url, '--token', secret]);
}

const engineOfFile: OnEngine = async (act) => {
  const storage = await sqliteStorage({ path: path('flags.db') });
  const flags = await openFlags({ storage, pollInterval: 0, due: { run: 'elsewhere' } });
  try {
    return await act(flags);
  } finally {
    await flags.close();
  }
};
const engineOfServer: OnEngine = (act) => act(server().flags);

async function jsonOf<T>(result: Promise<Result>): Promise<T> {
  const { out, err } = await result;
  if (out === '') throw new Error(err);
  return JSON.parse(out) as T;
}

interface Requested {
  readonly request: { readonly id: string; readonly state: string; readonly changeSet: string | null };
}

const PROTECTING = { environments: { production: { required: 1 } } };
const HOUR = 3_600_000;
const PRODUCTION = { project: 'default', environment: 'production' };
const later = () => new Date(Date.now() + HOUR).toISOString();

describe.each([
  ['a SQLite file', onFile, engineOfFile],
  ['a running server', onServer, engineOfServer],
] as const)('change requests on %s', (_name, open, onEngine) => {
  let flags: Command;

  beforeEach(async () => {
    flags = await open();
    await flags('create', 'checkout');
  });

  const request = async (...args: readonly string[]) => (await jsonOf<Requested>(flags(...args, '--json'))).request.id;
  /** As somebody does on the admin page, who has seen what the request does now. */
  const approve = (id: string) =>
    onEngine(async (engine) => {
      const { effect } = await engine.changeRequests.get({ changeRequest: id });
      return engine.as('grace').changeRequests.approve({ changeRequest: id }, { effect: `${effect}` });
    });
  const protect = () => onEngine((engine) => engine.approvalPolicy.set(PROTECTING));
  const fileOf = (changes: unknown) => {
    const file = path('changes.json');
    writeFileSync(file, JSON.stringify(changes));
    return file;
  };

  describe('for a time', () => {
    it('are made with --at, listed, moved and withdrawn', async () => {
      expect(await flags('requests')).toMatchObject({ code: 0, out: 'No change request is pending.\n' });
      const at = later();
      for (const wrong of ['tomorrow', '2030-05-01', '2030-05-01T09:00:00']) {
        expect(await flags('on', 'checkout', '--at', wrong, '--yes')).toMatchObject({
          code: 64,
          err: expect.stringContaining(`--at is a time with Z or an offset`),
        });
      }
      expect(await flags('on', 'checkout', '--at', at)).toMatchObject({
        code: 3,
        err: expect.stringContaining(`This changes production at ${at}. Go on?`),
      });
      const made = await jsonOf(flags('on', 'checkout', '--at', at, '--reason', 'Launch', '--yes', '--json'));
      expect(made).toMatchObject({ changed: false, request: { state: 'approved', at, reason: 'Launch' } });
      // It is off now: the second request changes something after the first one only.
      expect(await flags('off', 'checkout', '--at', at)).toMatchObject({
        code: 3,
        err: expect.stringContaining('Nothing would change now. Request it for later?'),
      });
      const second = await flags('off', 'checkout', '--at', at, '--yes');
      expect(second.out).toMatch(
        new RegExp(`^Requested for ${at}: ([\\da-f-]{36})\\nTo take it back: flags requests withdraw \\1$`, 'm'),
      );
      const other = /^Requested for \S+: (\S+)$/m.exec(second.out)?.[1] ?? '';
      expect((await flags('requests', 'show', other)).out).toContain(
        '\n  disable checkout in production\nNothing to change.\n',
      );
      expect((await flags('on', 'checkout', '--at', at, '--dry-run')).out).toContain('Nothing has changed: ');
      expect((await flags('requests')).out).toMatch(/^approved +\S+Z +checkout +production +\S+ +Launch +\S+$/m);
      expect(await jsonOf<object[]>(flags('requests', '--flag', 'checkout', '--json'))).toHaveLength(2);
      expect((await flags('list')).out).toMatch(/^checkout .* off /m);
      const { id } = (made as Requested).request;
      const moved = new Date(Date.now() + 2 * HOUR).toISOString();
      expect((await flags('requests', 'apply', id, '--at', moved, '--yes')).out).toContain(`Requested for ${moved}: `);
      expect((await flags('requests', 'show', id)).out).toContain(`\nat ${moved}, until `);
      expect(await flags('requests', 'withdraw', id)).toMatchObject({
        code: 3,
        err: expect.stringContaining('Withdraw the request for checkout: Launch?'),
      });
      expect((await flags('requests', 'withdraw', id, '--dry-run')).out).toBe(
        'Would withdraw the request for checkout: Launch\n',
      );
      expect((await flags('requests', 'withdraw', id, '--yes', '--reason', 'Später')).out).toBe(`Withdrawn: ${id}\n`);
      expect((await flags('requests', '--state', 'withdrawn')).out).toContain(id);
      expect((await flags('requests', '--state', 'all')).out).toContain(id);
      expect(await flags('requests', 'withdraw', id, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining(`The change request ${id} is withdrawn`),
      });
      for (const command of ['show', 'apply', 'withdraw']) {
        expect(await flags('requests', command, 'unknown', '--yes')).toMatchObject({
          code: 1,
          err: expect.stringContaining('There is no change request unknown'),
        });
        expect(await flags('requests', command, '', '--yes')).toMatchObject({ code: 64 });
      }
    });

    it('undo a change set then', async () => {
      const { changeSet } = await jsonOf<{ changeSet: { id: string } }>(flags('on', 'checkout', '--yes', '--json'));
      const id = await request('undo', changeSet.id, '--at', new Date().toISOString(), '--yes');
      expect((await flags('requests', 'show', id)).out).toContain('production · enabled on → off');
      await onEngine((engine) => engine.runDue());
      expect((await flags('requests', 'show', id)).out).toMatch(/^applied /);
      expect((await flags('show', 'checkout')).out).toContain('production: off');
    });
  });

  describe('without a time', () => {
    it('are applied by a person, also where nothing needs approval', async () => {
      const made = await flags('on', 'checkout', '--request', '--reason', 'Launch');
      const [, id = ''] = /^Requested: (\S+)$/m.exec(made.out) ?? [];
      expect(made.out).toContain(
        `It needs no further approval.\nTo apply it: flags requests apply ${id}. To take it back: flags requests withdraw ${id}\n`,
      );
      expect(await flags('requests', 'apply', id)).toMatchObject({
        code: 3,
        err: expect.stringContaining('This changes production now. Go on?'),
      });
      expect((await flags('requests', 'apply', id, '--yes')).out).toMatch(/^Changed\. To undo it: flags undo \S+$/m);
      expect((await flags('show', 'checkout')).out).toContain('production: on');
      expect(await flags('requests', 'apply', id, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('is applied, so it cannot be changed; undo its change set instead.'),
      });
    });

    it('are refused in a sentence if they can no longer be applied', async () => {
      const id = await request('on', 'checkout', '--request');
      await flags('archive', 'checkout', '--yes');
      expect((await flags('requests', 'show', id)).out).toMatch(
        /\n {2}enable checkout in production\nIt would be refused now: .*archived/,
      );
      expect(await flags('requests', 'apply', id, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('archived'),
      });
      expect((await flags('requests')).out).toContain(id);
    });
  });

  describe('while a policy protects production', () => {
    beforeEach(async () => {
      await protect();
    });

    it('are approved by somebody else, and applied', async () => {
      expect(await flags('on', 'checkout', '--yes')).toMatchObject({
        code: 1,
        out: expect.stringContaining('\nneeds 1 approval in production\n'),
        err: 'This needs 1 approval in production. Nothing has changed. Request it: repeat the command with --request.\n',
      });
      expect(await jsonOf(flags('on', 'checkout', '--dry-run', '--json'))).toMatchObject({
        changed: false,
        approval: { required: 1, environments: ['production'] },
      });
      expect((await flags('on', 'checkout', '--request', '--dry-run')).out).toContain('Nothing has changed: ');
      const made = await flags('on', 'checkout', '--request', '--reason', 'Launch');
      expect(made).toMatchObject({ code: 0, err: '' });
      const [, id = ''] = /^Requested: (\S+)$/m.exec(made.out) ?? [];
      expect(made.out).toContain(
        `Somebody else must approve it on the admin page.\nTo apply it then: flags requests apply ${id}. `,
      );
      expect((await flags('requests', '--flag', 'checkout')).out).toMatch(
        /^open +0 of 1 +checkout +production +\S+ +Launch +[\da-f-]{36}$/m,
      );
      expect(await flags('requests', 'apply', id, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('The request has 0: ask for approval on the admin page.'),
      });
      await approve(id);
      expect((await flags('requests', 'show', id)).out).toMatch(
        /^approved .*: Launch\nflag checkout\n(.*\n)*clients\n {2}production: 1 flag goes on: checkout\nneeds 1 approval in production\napprovals 1 of 1\n {2}grace, .*\neffect \S+\nexpires /,
      );
      expect(await flags('requests', 'apply', id)).toMatchObject({ code: 3 });
      expect((await flags('requests', 'apply', id, '--dry-run')).out).toContain('Nothing has changed: ');
      expect((await flags('requests', 'apply', id, '--yes')).out).toMatch(/Changed\. To undo it: flags undo \S+$/m);
      expect((await flags('show', 'checkout')).out).toContain('production: on');
      expect((await flags('requests', '--state', 'applied')).out).toContain(id);
      expect((await flags('history')).out).toMatch(
        /\n {2}grace approved the request of \S+: checkout on in production\n/,
      );
      expect((await flags('requests', 'show', id)).out).toMatch(
        /^applied .*\n( {2}.*\n)*approvals 1 of 1\n(.*\n)*change set \S+$/m,
      );
    });

    it('lose an approval of something else', async () => {
      const id = await request('on', 'checkout', '--request');
      const seen = /^effect (\S+)$/m.exec((await flags('requests', 'show', id)).out)?.[1] ?? '';
      await flags('variants', 'checkout', 'red', 'blue', '--yes');
      await expect(
        onEngine((engine) => engine.as('grace').changeRequests.approve({ changeRequest: id }, { effect: seen })),
      ).rejects.toMatchObject({ code: 'effect_changed' });
      await approve(id);
      await flags('variants', 'checkout', 'red', 'green', '--yes');
      expect((await flags('requests', 'show', id)).out).toMatch(
        /^open .*\n(.*\n)*approvals 0 of 1\n {2}grace, \S+ \(does not count: the request would do something else now\)$/m,
      );
      expect(await flags('requests', 'apply', id, '--yes')).toMatchObject({ code: 1 });
      await approve(id);
      expect(await flags('requests', 'apply', id, '--yes')).toMatchObject({ code: 0 });
    });

    it('start a rollout at a time and switch a second flag on, in one change set that one undo undoes', async () => {
      const checkout = { ...PRODUCTION, flag: 'checkout' };
      const strategy = await onEngine(async (engine) => {
        const input = { name: 'flexibleRollout', parameters: { rollout: '5' } } as const;
        const { id } = await engine.addStrategy(checkout, input, { bypassApproval: 'Prepared' });
        await engine.enable(checkout, { bypassApproval: 'Prepared' });
        return id;
      });
      await flags('create', 'banner');
      const banner = { ...PRODUCTION, flag: 'banner' };
      const steps = [{ percentage: 10, hold: HOUR }, { percentage: 100 }];
      const changes = [
        { op: 'startRollout', ref: { ...checkout, strategy }, input: { steps } },
        { op: 'addStrategy', ref: banner, input: { name: 'default' } },
        { op: 'enable', ref: banner },
      ];
      const at = new Date(Date.now() - 1_000).toISOString();
      const id = await request('requests', 'create', fileOf(changes), '--at', at, '--yes');
      expect((await flags('requests', 'show', id)).out).toMatch(/^open .*\n(.*\n)*approvals 0 of 1$/m);
      await onEngine((engine) => engine.runDue());
      expect((await flags('rollouts')).out).toBe('Nothing rolls out.\n');
      await approve(id);
      await onEngine((engine) => engine.runDue());
      const { changeSet } = await jsonOf<{ changeSet: string }>(flags('requests', 'show', id, '--json'));
      expect((await flags('rollouts')).out).toMatch(/^checkout +production +\[10\] → 100 +running /m);
      expect((await flags('show', 'banner')).out).toContain('production: on');
      expect(await flags('undo', changeSet, '--yes')).toMatchObject({ code: 0 });
      expect((await flags('rollouts')).out).toBe('Nothing rolls out.\n');
      expect((await flags('show', 'checkout')).out).toContain('Gradual rollout 5 %');
      expect((await flags('show', 'banner')).out).toContain('production: off');
    });

    it('are replaced by an edited copy', async () => {
      const enable = { op: 'disable', ref: { ...PRODUCTION, flag: 'checkout' } };
      const id = await request('requests', 'create', fileOf([enable]), '--reason', 'First');
      const next = await request('requests', 'create', fileOf([enable]), '--replaces', id, '--reason', 'Second');
      expect((await flags('requests', 'show', id)).out).toMatch(/^withdrawn /);
      expect((await flags('requests')).out).toContain(next);
      expect(await flags('requests', 'create', fileOf([enable]), '--replaces', id)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is withdrawn, so it cannot be changed'),
      });
      for (const [code, wrong, message] of [
        [64, { changes: [] }, 'has no list of changes'],
        [64, [], 'The input is not valid: '],
        [64, [null], 'The input is not valid: '],
        [64, [{ op: 'unknown' }], 'The input is not valid: op '],
        [1, [{ op: 'undoChangeSet' }], 'There is no change set'],
        [64, [{ op: 'undoChangeSet', ref: { changeSet: 'a' } }, enable], 'op '],
        [64, [{ op: 'setApprovalPolicy' }], 'The input is not valid'],
        [64, [{ op: 'setApprovalPolicy', input: { environments: { production: null } } }], 'The input is not valid'],
      ] as const) {
        expect(await flags('requests', 'create', fileOf(wrong))).toMatchObject({
          code,
          err: expect.stringContaining(message),
        });
      }
    });

    it('change the policy, and name environments that the server does not have', async () => {
      const input = { environments: { production: { required: 1 }, prodution: { required: 2 } } };
      const changes = [{ op: 'setApprovalPolicy', input }] as const;
      const { id } = await onEngine((engine) => engine.as('ada').changeRequests.create(changes, { reason: 'Two' }));
      const line = 'approval policy: production 1, prodution 2 (unknown here)';
      expect((await flags('requests', 'show', id)).out).toContain(`${line}\n`);
      expect(await flags('requests', 'apply', id)).toMatchObject({
        code: 3,
        out: expect.stringContaining(line),
        err: expect.stringContaining('This changes the approval policy now. Go on?'),
      });
      const none = [{ op: 'setApprovalPolicy', input: { environments: {} } }] as const;
      const lower = await onEngine((engine) => engine.as('ada').changeRequests.create(none));
      expect((await flags('requests', 'show', lower.id)).out).toContain(
        'approval policy: no environment\nneeds 1 approval in production\n',
      );
    });

    it('are refused with --bypass-approval', async () => {
      for (const way of [['--request'], ['--at', later()]]) {
        expect(await flags('on', 'checkout', ...way, '--bypass-approval', 'INC-42', '--yes')).toMatchObject({
          code: 64,
          err: expect.stringContaining('--bypass-approval cannot go with --at or --request'),
        });
      }
    });
  });

  describe('about rollouts', () => {
    it('are not necessary to start, list and move one', async () => {
      expect(await flags('rollout', 'checkout', '10,100', '--every', '1d')).toMatchObject({
        code: 64,
        err: expect.stringContaining('has no strategy in production. Add one first: flags rollout checkout 0\n'),
      });
      // Without the environment, what is advised would change production.
      expect(await flags('rollout', 'checkout', '--environment', 'development', '--pause')).toMatchObject({
        code: 1,
        err: expect.stringContaining('flags rollout checkout --environment development 10,50,100 --every 1d'),
      });
      await flags('rollout', 'checkout', '5', '--yes');
      expect(await flags('rollouts')).toMatchObject({ code: 0, out: 'Nothing rolls out.\n' });
      for (const [wrong, message] of [
        [['25:soon,100'], 'The hold of 25:soon must be how long the step stays: 30m, 12h, 1d, or wait, not soon.'],
        [['125,100', '--every', '1d'], 'A percentage is a whole number from 0 to 100, not 125.'],
        [['25,100'], 'How long does 25 stay?'],
        [['25,100', '--every', 'day'], '--every must be how long the step stays'],
        [['25', '--stop'], 'Choose one of 25, --stop.'],
        [['--pause', '--stop'], 'Choose one of --pause, --stop.'],
        [[], 'Name a percentage (25), steps'],
      ] as const) {
        expect(await flags('rollout', 'checkout', ...wrong, '--yes')).toMatchObject({
          code: 64,
          err: expect.stringContaining(message),
        });
      }
      const start = ['rollout', 'checkout', '25:90m,50,100', '--every', 'wait'] as const;
      expect(await flags(...start)).toMatchObject({
        code: 3,
        out: expect.stringContaining('Rolls checkout out in production: 25 % for 90m, 50 % until advanced, 100 %\n'),
        err: expect.stringContaining('This changes production now. Go on?'),
      });
      expect((await flags(...start, '--dry-run')).out).toContain('Nothing has changed: ');
      expect((await flags(...start, '--reason', 'Launch', '--yes')).out).toMatch(
        /\nChanged\. To undo it: flags undo \S+\ncheckout now: 25 % in production\nTo stop it: flags rollout checkout --stop, or --rollback\n/,
      );
      expect(await jsonOf(flags('rollouts', '--json'))).toMatchObject([
        {
          ref: { flag: 'checkout', environment: 'production' },
          state: 'running',
          percentage: 25,
          steps: [
            { percentage: 25, hold: 5_400_000 },
            { percentage: 50, hold: null },
            { percentage: 100, hold: 0 },
          ],
        },
      ]);
      expect((await flags('rollouts')).out).toMatch(/^checkout +production +\[25\] → 50 → 100 +running +\S+Z /m);
      expect((await flags('show', 'checkout')).out).toContain('    rolls out [25] → 50 → 100, running\n');
      expect(await flags(...start, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('has a rollout already; stop it, or wait for its end.'),
      });
      expect(await flags('rollout', 'checkout', '--advance')).toMatchObject({ code: 3 });
      const move = async (...args: readonly string[]) => (await flags('rollout', 'checkout', ...args, '--yes')).out;
      expect(await move('--pause')).toContain('checkout in production rolls out [25] → 50 → 100, paused\n');
      expect((await flags('rollouts', '--state', 'running')).out).toBe('No rollout is running.\n');
      expect(await move('--resume', '--reason', 'Später')).toContain('rolls out [25] → 50 → 100, running\n');
      expect(await move('--advance')).toContain('rolls out 25 → [50] → 100, waiting\n');
      expect((await flags('rollout', 'checkout', '--rollback', '--dry-run')).out).toMatch(/50 % → 5 %/);
      const rolledBack = await move('--rollback');
      expect(rolledBack).toMatch(/\nThe rollout has ended\.\ncheckout now: 5 % in production\n$/);
      expect((await flags('show', 'checkout')).out).toContain('Gradual rollout 5 %');
      expect((await flags('history', 'checkout')).out).toContain('rollout');
      for (const name of ['--pause', '--resume', '--advance', '--stop', '--rollback']) {
        expect(await flags('rollout', 'checkout', name, '--yes')).toMatchObject({
          code: 1,
          err: expect.stringContaining('checkout does not roll out in production. Start a rollout: '),
        });
      }
    });

    it('stop, pause and roll back freely under a policy, and start one only when it is approved', async () => {
      await flags('rollout', 'checkout', '5', '--yes');
      await protect();
      const start = ['rollout', 'checkout', '10,100', '--every', '1d', '--guarded'] as const;
      expect(await flags(...start, '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('This needs 1 approval in production.'),
      });
      const id = await request(...start, '--request', '--reason', 'Launch');
      expect((await flags('requests', 'show', id)).out).toContain('10 % for 1d, 100 % for 1d, guarded');
      await approve(id);
      expect((await flags('requests', 'apply', id, '--yes')).out).toContain('Changed. To undo it: ');
      expect((await flags('rollouts')).out).toMatch(/^checkout +production +\[10\] → 100, guarded +running /m);
      expect(await flags('rollout', 'checkout', '--advance', '--yes')).toMatchObject({
        code: 1,
        err: expect.stringContaining('This needs 1 approval in production.'),
      });
      expect(await flags('rollout', 'checkout', '--pause', '--yes')).toMatchObject({ code: 0 });
      expect(await flags('rollout', 'checkout', '--stop', '--yes')).toMatchObject({ code: 0 });
      expect((await flags('show', 'checkout')).out).toContain('Gradual rollout 10 %');
    });

    it('say beforehand that a change ends a rollout, and that an import leaves its percentage alone', async () => {
      await flags('rollout', 'checkout', '5', '--yes');
      await flags('rollout', 'checkout', '10,100', '--every', '1d', '--yes');
      const line = '\nends the rollout of checkout in production\n';
      for (const args of [
        ['rollout', 'checkout', '50'],
        ['off', 'checkout'],
        ['archive', 'checkout'],
      ]) {
        expect((await flags(...args, '--dry-run')).out).toContain(line);
        expect((await flags(...args, '--request', '--dry-run')).out).toContain(
          '\nwhen applied, ends every rollout of the strategies that it changes\n',
        );
      }
      for (const move of ['--stop', '--rollback', '--advance', '--pause']) {
        expect((await flags('rollout', 'checkout', move, '--request', '--dry-run')).out).not.toContain('\nends ');
      }
      const file = path('flags.json');
      writeFileSync(file, (await flags('export', '--format', 'json')).out.replace('"rollout": "10"', '"rollout": "5"'));
      const left = 'leaves the percentage of checkout in production alone: it rolls out\n';
      expect((await flags('plan', file)).out).toContain(left);
      expect(await jsonOf(flags('plan', file, '--json'))).toMatchObject({
        differences: [],
        rollouts: [{ flag: 'checkout', environment: 'production' }],
      });
      expect(await flags('import', file, '--yes')).toMatchObject({ code: 0, out: expect.stringContaining(left) });
      expect((await flags('rollouts')).out).toMatch(/^checkout +production +\[10\] → 100 +running /m);
      writeFileSync(file, JSON.stringify({ version: 1, flags: [{ name: 'checkout', archived: true }] }));
      expect((await flags('plan', file)).out).toContain(line);
      await flags('off', 'checkout', '--yes');
      expect((await flags('rollouts')).out).toBe('Nothing rolls out.\n');
    });
  });
});

describe('--bypass-approval', () => {
  const BYPASS = ['--bypass-approval', 'INC-42: für alle', '--yes'] as const;

  it('changes, undoes, applies documents and starts rollouts in a store without approval', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    await engineOfFile((engine) => engine.approvalPolicy.set(PROTECTING));
    const changed = await jsonOf<{ changeSet: { id: string } }>(flags('on', 'checkout', ...BYPASS, '--json'));
    expect((await flags('history', 'checkout')).out).toContain(
      '\n  INC-42: für alle\n  without the approval that it needs\n',
    );
    expect(await flags('undo', changed.changeSet.id, ...BYPASS)).toMatchObject({ code: 0 });
    const file = path('flags.yaml');
    writeFileSync(file, 'version: 1\nflags: [{ name: checkout, archived: true }]\n');
    expect(await flags('apply', file, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^This needs 1 approval in production\. Nothing has changed\. .*--bypass-approval/),
    });
    expect(await flags('apply', file, ...BYPASS)).toMatchObject({ code: 0 });
    await flags('revive', 'checkout', '--yes');
    expect(await flags('import', file, ...BYPASS)).toMatchObject({ code: 0 });
    await flags('revive', 'checkout', '--yes');
    await flags('rollout', 'checkout', '5', ...BYPASS);
    await flags('on', 'checkout', ...BYPASS);
    expect(await flags('rollout', 'checkout', '25,100', '--every', '1h', '--yes')).toMatchObject({ code: 1 });
    expect(await flags('rollout', 'checkout', '25,100', '--every', '1h', ...BYPASS)).toMatchObject({ code: 0 });
  });

  it('is refused to the token of a server', async () => {
    const flags = await onServer();
    await flags('create', 'checkout');
    await engineOfServer((engine) => engine.approvalPolicy.set(PROTECTING));
    expect(await flags('on', 'checkout', ...BYPASS)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^API tokens (may not|cannot) /),
    });
  });
});
