import { writeFileSync } from 'node:fs';
import { createFlags, type Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { flagsCommand, type Result, runningServer, temporaryFolder } from './command-line.js';

const path = temporaryFolder();
const server = runningServer();

type Command = (...args: string[]) => Promise<Result>;
/** What people do on the admin page. */
type OnPage = (act: (flags: Flags) => Promise<unknown>) => Promise<void>;

async function onFile(): Promise<Command> {
  const store = path('flags.db');
  await flagsCommand(['migrate', '--store', store]);
  return (...args) => flagsCommand([...args, '--store', store]);
}

async function onServer(): Promise<Command> {
  const { url, secret } = server();
  return (...args) => flagsCommand([...args, '--store', url, '--token', secret]);
}

const onPageOfFile: OnPage = async (act) => {
  const flags = await createFlags({ storage: sqliteStorage({ path: path('flags.db') }), pollInterval: 0 });
  await act(flags);
  await flags.close();
};
const onPageOfServer: OnPage = async (act) => {
  await act(server().flags);
};

async function jsonOf<T>(result: Promise<Result>): Promise<T> {
  const { out, err } = await result;
  if (out === '') throw new Error(err);
  return JSON.parse(out) as T;
}

const PROTECTING = { environments: { production: { required: 1 } } };
const HOUR = 3_600_000;
const ON = ['on', 'checkout', '--propose', '--reason', 'Launch'] as const;

interface Proposed {
  readonly proposal: { readonly id: string };
}

describe.each([
  ['a SQLite file', onFile, onPageOfFile],
  ['a running server', onServer, onPageOfServer],
] as const)('the command line on %s, while a policy protects production', (_name, open, onPage) => {
  let flags: Command;

  beforeEach(async () => {
    flags = await open();
    await flags('create', 'checkout');
    await onPage((engine) => engine.setApprovalPolicy(PROTECTING));
  });

  const propose = async (...args: readonly string[]) => (await jsonOf<Proposed>(flags(...args, '--json'))).proposal.id;
  const approve = (id: string) => onPage((engine) => engine.as('grace').approveProposal({ proposal: id }));

  it('proposes a change, shows it, and applies it once it is approved', async () => {
    expect(await flags('on', 'checkout', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The change needs approval in production'),
    });
    expect((await flags(...ON, '--dry-run')).out).toContain('Nothing has changed: ');
    expect((await flags('proposals')).out).toBe('No proposal is pending.\n');
    const proposed = await flags(...ON);
    expect(proposed).toMatchObject({ code: 0, err: '' });
    const [, id = ''] = /^Proposed: (\S+)$/m.exec(proposed.out) ?? [];
    expect(proposed.out).toContain('Somebody else must approve it on the admin page.\n');
    expect(proposed.out).toContain(`flags proposals apply ${id}. To take it back: flags proposals withdraw ${id}\n`);
    expect((await flags('proposals', '--flag', 'checkout')).out).toMatch(
      /^open +0 of 1 +checkout +production +\S+ +Launch +[\da-f-]{36}$/m,
    );
    expect(await flags('proposals', 'apply', id, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('needs 1 approval, and has 0'),
    });
    await approve(id);
    const shown = (await flags('proposals', 'show', id)).out;
    expect(shown).toMatch(
      /^approved .*: Launch\nflag checkout\n(.*\n)*clients\n {2}production: 1 flag goes on: checkout\napprovals 1 of 1\n {2}grace, /,
    );
    expect(await flags('proposals', 'apply', id)).toMatchObject({ code: 3 });
    expect((await flags('proposals', 'apply', id, '--dry-run')).out).toContain('Nothing has changed: ');
    expect((await flags('proposals', 'apply', id, '--yes')).out).toMatch(
      /Changed\. To undo it: flags undo [\da-f-]{36}$/m,
    );
    expect((await flags('show', 'checkout')).out).toContain('production: on');
    expect((await flags('proposals', '--state', 'applied')).out).toContain(id);
    expect((await flags('proposals', 'show', id)).out).toMatch(/^applied .*\n(.*\n)*change set [\da-f-]{36}$/m);
  });

  it('applies an approved proposal at a time', async () => {
    const id = await propose(...ON);
    await approve(id);
    const at = new Date(Date.now() + HOUR).toISOString();
    expect(await flags('proposals', 'apply', id, '--at', '2030-05-01 09:00', '--yes')).toMatchObject({ code: 64 });
    const { proposal } = await jsonOf<{ proposal: { schedule: string } }>(
      flags('proposals', 'apply', id, '--at', at, '--yes', '--json'),
    );
    expect((await flags('schedules')).out).toContain(proposal.schedule);
    expect((await flags('proposals')).out).toMatch(/^scheduled /m);
    await flags('schedules', 'cancel', proposal.schedule, '--yes');
    expect((await flags('proposals')).out).toMatch(/^approved /m);
  });

  it('withdraws a proposal', async () => {
    const id = await propose(...ON);
    expect(await flags('proposals', 'withdraw', id)).toMatchObject({
      code: 3,
      err: expect.stringContaining('Withdraw the proposal for checkout: Launch?'),
    });
    expect((await flags('proposals', 'withdraw', id, '--dry-run')).out).toContain('Would withdraw the proposal');
    expect((await flags('proposals', 'withdraw', id, '--reason', 'Später', '--yes')).out).toBe(`Withdrawn: ${id}\n`);
    expect(await flags('proposals', 'apply', id, '--yes')).toMatchObject({ code: 1 });
    expect(await flags('proposals', 'show', 'unknown')).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no proposal unknown'),
    });
  });

  it('proposes a rollout, and starts it once it is approved', async () => {
    await onPage(async (engine) => {
      const ref = { project: 'default', flag: 'checkout', environment: 'production' };
      const context = { bypassApproval: 'Prepared' };
      await engine.addStrategy(ref, { name: 'flexibleRollout' }, context);
      await engine.enable(ref, context);
    });
    const id = await propose('rollouts', 'start', 'checkout', '25:wait', '100', '--propose', '--reason', 'Launch');
    expect((await flags('proposals', 'show', id)).out).toContain('rollout of checkout in production: 25 → 100 %\n');
    await approve(id);
    expect((await flags('proposals', 'apply', id, '--dry-run')).out).toContain('Would apply the proposal: rollout of');
    expect((await flags('proposals', 'apply', id, '--yes')).out).toBe(
      `Started. To stop it: flags rollouts stop ${id}\n`,
    );
    expect((await flags('rollouts')).out).toMatch(/checkout +production +\[25\] → 100 +waiting/);
  });

  it('shows and applies a proposed policy', async () => {
    let id = '';
    await onPage(async (engine) => {
      const changes = [{ op: 'setApprovalPolicy', input: { environments: {} } }] as const;
      ({ id } = await engine.as('ada').createProposal({ changes }, { reason: 'Alone by now' }));
    });
    await approve(id);
    expect((await flags('proposals', 'show', id)).out).toContain('approval policy: no environment\n');
    expect(await flags('proposals', 'apply', id)).toMatchObject({
      code: 3,
      err: expect.stringContaining('Apply the proposal: approval policy: no environment; Alone by now?'),
    });
  });

  it('names the environments of a proposed policy that the server does not have', async () => {
    let id = '';
    await onPage(async (engine) => {
      const input = { environments: { production: { required: 1 }, prodution: { required: 2 } } };
      const changes = [{ op: 'setApprovalPolicy', input }] as const;
      ({ id } = await engine.as('ada').createProposal({ changes }, { reason: 'Two' }));
    });
    const line = 'approval policy: production 1, prodution 2 (unknown here)';
    expect((await flags('proposals', 'show', id)).out).toContain(`${line}\n`);
    expect(await flags('proposals', 'apply', id)).toMatchObject({ err: expect.stringContaining(`${line}; Two?`) });
  });

  it.each([
    [['on', 'checkout', '--propose'], '--propose needs --reason'],
    [[...ON, '--bypass-approval', 'Urgent'], 'Choose --propose or --bypass-approval'],
    [[...ON, '--at', '2030-05-01T09:00:00Z'], 'Choose the time when you apply the proposal'],
    [['rollouts', 'start', 'checkout', '5', '--propose'], '--propose needs --reason'],
  ])('refuses %j', async (args, message) => {
    expect(await flags(...args, '--yes')).toMatchObject({ code: 64, err: expect.stringContaining(message) });
  });
});

describe('--bypass-approval', () => {
  const BYPASS = ['--bypass-approval', 'INC-42: für alle', '--yes'] as const;

  it('changes, undoes, applies documents and starts rollouts in a store without approval', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    await onPageOfFile((engine) => engine.setApprovalPolicy(PROTECTING));
    const changed = await jsonOf<{ changeSet: { id: string } }>(flags('on', 'checkout', ...BYPASS, '--json'));
    expect((await flags('history', 'checkout')).out).toContain('INC-42: für alle');
    expect(await flags('undo', changed.changeSet.id, ...BYPASS)).toMatchObject({ code: 0 });
    const file = path('flags.yaml');
    writeFileSync(file, 'version: 1\nflags: [{ name: checkout, archived: true }]\n');
    expect(await flags('apply', file, '--yes')).toMatchObject({ code: 1 });
    expect(await flags('apply', file, ...BYPASS)).toMatchObject({ code: 0 });
    await flags('revive', 'checkout', '--yes');
    expect(await flags('import', file, ...BYPASS)).toMatchObject({ code: 0 });
    await flags('revive', 'checkout', '--yes');
    await flags('rollout', 'checkout', '5', ...BYPASS);
    await flags('on', 'checkout', ...BYPASS);
    expect(await flags('rollouts', 'start', 'checkout', '25:1h', '100', '--yes')).toMatchObject({ code: 1 });
    expect(await flags('rollouts', 'start', 'checkout', '25:1h', '100', ...BYPASS)).toMatchObject({ code: 0 });
    const at = new Date(Date.now() + HOUR).toISOString();
    expect(await flags('archive', 'checkout', '--at', at, ...BYPASS)).toMatchObject({ code: 0 });
  });

  it('is refused to the token of a server', async () => {
    const flags = await onServer();
    await flags('create', 'checkout');
    await onPageOfServer((engine) => engine.setApprovalPolicy(PROTECTING));
    expect(await flags('on', 'checkout', ...BYPASS)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^API tokens (may not|cannot) /),
    });
  });
});
