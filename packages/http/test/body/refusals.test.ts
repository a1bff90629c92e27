import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe.each(EXPRESS_VERSIONS)('a body that cannot be read, on Express $major', (version) => {
  const post = async (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) => {
    const host = await createHostApp({ version });
    const attempt = request(host.app)
      .post(FLAGS)
      .set({ 'content-type': 'application/json', ...headers });
    attempt.write(body);
    const answer = await attempt;
    expect(host.faults).toEqual([]);
    expect((await host.flags.listFlags({ project: 'default' })).length).toBe(answer.status === 201 ? 1 : 0);
    return answer;
  };

  it.each<[string, string]>([
    ['malformed', '{"name":'],
    ['trailing garbage', '{"name":"checkout"}x'],
    ['single quotes', "{'name':'checkout'}"],
    ['blank', '   '],
    ['NaN', 'NaN'],
    ['nested a hundred levels', `{"name":"checkout","x":${nested(100)}}`],
    ['nested as deep as the limit lets it', nested(500_000)],
  ])('is 400 when it is %s', async (_case, text) => {
    const { status, body } = await post(text);
    expect(status).toBe(400);
    expect(body).toMatchObject({ name: 'BadDataError', code: 'invalid_json' });
  });

  it.each(['null', '1', 'true', '"text"', '[]', '{}'])(
    'is 400 when it is %s where an object is expected',
    async (text) => {
      const { status, body } = await post(text);
      expect(status).toBe(400);
      expect(body.name).toBe('ValidationError');
    },
  );

  it('is 400 when its compression does not match the header', async () => {
    expect((await post('{"name":"checkout"}', { 'content-encoding': 'gzip' })).status).toBe(400);
  });

  it('is 415 in an unknown encoding or charset', async () => {
    expect((await post('{}', { 'content-encoding': 'rot13' })).status).toBe(415);
    expect((await post('{}', { 'content-type': 'application/json; charset=klingon' })).status).toBe(415);
  });

  it('is read when it is compressed, has a byte order mark or is UTF-16', async () => {
    const text = '{"name":"checkout"}';
    expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(201);
    expect((await post(`\uFEFF${text}`)).status).toBe(201);
    const utf16 = { 'content-type': 'application/json; charset=utf-16le' };
    expect((await post(Buffer.from(text, 'utf16le'), utf16)).status).toBe(201);
  });
});

describe.each(EXPRESS_VERSIONS)('the limit of a body, on Express $major', (version) => {
  const sized = (bytes: number) =>
    JSON.stringify({ name: 'checkout', description: '' }).replace('""', `"${'x'.repeat(bytes)}"`);
  const overhead = sized(0).length;
  const limit = 1000;

  it.each<[string, 'raw' | 'text' | 'json' | undefined]>([
    ['the router', undefined],
    ['express.raw()', 'raw'],
    ['express.text()', 'text'],
    ['express.json()', 'json'],
  ])('holds when %s reads it', async (_case, parser) => {
    const before = parser === undefined ? [] : [version.express[parser]({ type: () => true, limit: '10mb' })];
    const { app, faults } = await createHostApp({ version, before, router: { auth: 'none', bodyLimit: limit } });
    const send = (bytes: number) =>
      request(app)
        .post(FLAGS)
        .set('content-type', 'application/json')
        .send(sized(bytes - overhead));

    const { body } = await send(limit + 1).expect(413);
    expect(body).toMatchObject({ name: 'PayloadTooLargeError', code: 'payload_too_large' });
    await send(limit).expect(201);
    expect(faults).toEqual([]);
  });

  it('applies without a content length, and after decompression', async () => {
    const { app } = await createHostApp({ version, router: { auth: 'none', bodyLimit: limit } });
    const chunked = request(app)
      .post(FLAGS)
      .set({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    chunked.write(sized(5000));
    await chunked.expect(413);

    const compressed = request(app).post(FLAGS).set({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
    compressed.write(gzipSync(sized(5000)));
    await compressed.expect(413);
  });

  it('is 1 MiB by default', async () => {
    const { app } = await createHostApp({ version });
    const send = (bytes: number) =>
      request(app).post(FLAGS).set('content-type', 'application/json').send(sized(0).padEnd(bytes));
    await send(1024 * 1024 + 1).expect(413);
    await send(1024 * 1024).expect(201);
  });
});

describe.each(EXPRESS_VERSIONS)('a body where none is needed, on Express $major', (version) => {
  it.each<[string, string, string]>([
    ['malformed', 'application/json', '{'],
    ['of another type', 'text/plain', 'hello'],
    ['too large', 'application/json', `"${'x'.repeat(3_000_000)}"`],
  ])('is ignored when it is %s', async (_case, type, text) => {
    const { app, flags } = await createHostApp({ version });
    const ref = { project: 'default', flag: 'checkout', environment: 'production' };
    await flags.createFlag(ref, { name: 'checkout' });
    await flags.addStrategy(ref, { name: 'default' });

    await request(app)
      .post(`${FLAGS}/checkout/environments/production/on`)
      .set('content-type', type)
      .send(text)
      .expect(200, '');
    await request(app).delete(`${FLAGS}/checkout`).set('content-type', type).send(text).expect(202, '');
    await request(app).get(FLAGS).set('content-type', type).send(text).expect(200);
  });
});
