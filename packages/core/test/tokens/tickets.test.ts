import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { createTicket, readTicket } from '../../src/features/tokens/ticket.js';
import { idOfHash } from '../../src/features/tokens/token-verification.operations.js';
import { type Flags, memoryStorage, type NewToken, openFlags, type Token } from '../../src/index.js';
import { issueTicket, verifyTicket } from '../../src/router.operations.js';

const HOUR = 3_600_000;
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

describe('a ticket', () => {
  // At the beginning of a window.
  const START = 12 * HOUR * 41_000;
  let time: number;
  let flags: Flags;
  let tokens: number;

  beforeEach(async () => {
    time = START;
    tokens = 0;
    flags = await openFlags({ storage: memoryStorage(), now: () => new Date(time), pollInterval: 0 });
  });
  afterEach(() => flags.close());

  async function create(input: Partial<NewToken> = {}): Promise<{ readonly token: Token; readonly secret: string }> {
    tokens += 1;
    return flags.tokens.create({ name: `page ${tokens}`, kind: 'frontend', environment: 'production', ...input });
  }

  async function issue(token: Token): Promise<string> {
    return (await issueTicket(flags, token)) ?? '';
  }

  /** The ticket that a follower makes, whose own token has this secret. */
  function followed(token: Token, secret: string): string {
    const hash = hashOf(secret);
    return createTicket(token, { id: idOfHash(hash), hash }, time) ?? '';
  }

  it('is the same for 12 hours, is valid for 12 hours more, and has no secret', async () => {
    const { token, secret } = await create();
    const first = await issue(token);
    expect(await verifyTicket(flags, first)).toEqual(token);
    expect(Buffer.from(first, 'base64url').toString()).not.toContain(secret.slice(-20));
    expect(first).not.toContain(hashOf(secret).slice(32));
    time = START + 12 * HOUR - 1;
    expect(await issue(token)).toBe(first);
    time += 1;
    expect(await issue(token)).not.toBe(first);
    time = START + 24 * HOUR - 1;
    expect(await verifyTicket(flags, first)).toEqual(token);
    time += 1;
    expect(await verifyTicket(flags, first)).toBeUndefined();
  });

  it('ends with its token: deleted, or expired', async () => {
    const [deleted, expiring] = [await create(), await create({ expiresAt: new Date(START + HOUR).toISOString() })];
    const tickets = [await issue(deleted.token), await issue(expiring.token)];
    await flags.tokens.delete({ token: deleted.secret });
    time += HOUR;
    for (const ticket of tickets) expect(await verifyTicket(flags, ticket)).toBeUndefined();
    expect(await issueTicket(flags, deleted.token)).toBeUndefined();
  });

  it('may be signed by a follower whose token sees as much, and is valid then', async () => {
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const page = await create({ project: 'shop' });
    const wide = await create({ kind: 'client' });
    const same = await create({ kind: 'client', projects: ['default', 'shop'] });
    const accepted = [wide, same].map(({ secret }) => followed(page.token, secret));
    for (const ticket of accepted) expect(await verifyTicket(flags, ticket)).toEqual(page.token);
    const others = [
      await create({ kind: 'client', project: 'default' }),
      await create({ kind: 'client', environment: 'development' }),
      await create({ kind: 'frontend' }),
      await create({ kind: 'admin', environment: '*' }),
    ];
    const refused = [...others.map(({ secret }) => secret), 'never-created'].map((secret) =>
      followed(page.token, secret),
    );
    for (const ticket of refused) expect(await verifyTicket(flags, ticket)).toBeUndefined();
    await flags.tokens.delete({ token: wide.secret });
    expect(await verifyTicket(flags, accepted[0] ?? '')).toBeUndefined();
  });

  it('is never one of an admin token', async () => {
    const { token, secret } = await create({ kind: 'admin', environment: '*' });
    expect(await verifyTicket(flags, followed(token, secret))).toBeUndefined();
  });

  it('is refused when any character differs, and every other text is, too', async () => {
    const ticket = await issue((await create()).token);
    const other = fc.constantFrom(...'ABCXYZabcxyz019-_.'.split(''));
    await fc.assert(
      fc.asyncProperty(fc.nat(ticket.length - 1), other, async (at, character) => {
        const changed = `${ticket.slice(0, at)}${character}${ticket.slice(at + 1)}`;
        // The last character of the signature has two bits that mean nothing.
        fc.pre(changed.slice(0, -43) !== ticket.slice(0, -43) || !signatureIn(changed).equals(signatureIn(ticket)));
        expect(await verifyTicket(flags, changed)).toBeUndefined();
      }),
    );
    const json = fc.json().map((text) => `${Buffer.from(text).toString('base64url')}.${'A'.repeat(43)}`);
    const content = fc
      .tuple(fc.constantFrom(41_000, '41000', null), fc.anything(), fc.anything(), fc.anything(), fc.anything())
      .map((parts) => `${Buffer.from(JSON.stringify(parts) ?? '').toString('base64url')}.${'A'.repeat(43)}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), json, content), async (text) => {
        expect(await verifyTicket(flags, text)).toBeUndefined();
        expect(() => readTicket(text, time)).not.toThrow();
      }),
    );
  });

  it('has a length that proxies take: a token of too many projects has none', async () => {
    const projects = Array.from({ length: 100 }, (_, at) => `${'project-'.repeat(10)}${at}`);
    for (const id of projects) await flags.createProject({ id, name: id });
    const { token } = await create({ projects });
    expect(await issueTicket(flags, token)).toBeUndefined();
    expect((await issue((await create({ projects: projects.slice(0, 10) })).token)).length).toBeLessThan(4000);
  });
});

function signatureIn(ticket: string): Buffer {
  return Buffer.from(ticket.slice(-43), 'base64url');
}
