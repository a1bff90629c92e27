import * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';
import { type FlagsStorage, memoryStorage, openFlags } from '../../src/index.js';

jest.mock('node:crypto', () => {
  const actual = jest.requireActual<typeof import('node:crypto')>('node:crypto');
  return { ...actual, timingSafeEqual: jest.fn(actual.timingSafeEqual) };
});

const SECRET = '*:*.0123456789abcdef0123456789abcdef0123456789abcdef';
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** A storage that records its reads. */
function overheard(storage: FlagsStorage) {
  const asked: string[] = [];
  const get: FlagsStorage['get'] = (key) => {
    asked.push(JSON.stringify(key));
    return storage.get(key);
  };
  return { asked, storage: { ...storage, get } };
}

describe('the secret of a token', () => {
  it('is looked up by its digest, and compared as a digest in constant time', async () => {
    const { asked, storage } = overheard(memoryStorage());
    const flags = await openFlags({ storage, pollInterval: 0 });
    await flags.tokens.create({ name: 'ops', kind: 'admin', secret: SECRET });
    asked.length = 0;
    const compare = jest.mocked(crypto.timingSafeEqual);
    compare.mockClear();

    expect(await flags.verifyToken(SECRET)).toMatchObject({ name: 'ops' });
    expect(asked).toEqual([JSON.stringify({ kind: 'token', id: hashOf(SECRET).slice(0, 32) })]);
    const digests = compare.mock.calls.map((call) =>
      call.map((side) => Buffer.from(side as Uint8Array).toString('hex')),
    );
    expect(digests).toEqual([[hashOf(SECRET), hashOf(SECRET)]]);
    await flags.close();
  });

  it('differs from one whose digest starts with the same bytes', async () => {
    const inner = memoryStorage();
    const flags = await openFlags({ storage: inner, pollInterval: 0 });
    await flags.tokens.create({ name: 'ops', kind: 'admin', secret: SECRET });
    const twin = hashOf(SECRET).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const get: FlagsStorage['get'] = async (key) => {
      const found = await inner.get(key);
      return found && key.kind === 'token' ? { ...found, body: { ...(found.body as object), hash: twin } } : found;
    };
    const deceived = await openFlags({ storage: { ...inner, get }, pollInterval: 0 });
    expect(await deceived.verifyToken(SECRET)).toBeUndefined();
    await deceived.close();
  });
});
