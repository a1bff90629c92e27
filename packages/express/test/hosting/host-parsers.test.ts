import type { Request, RequestHandler } from 'express';
import request from 'supertest';
import { extent } from '../../../../test/extent.js';
import { EXPRESS_VERSIONS, type ExpressVersion } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';

/** The ways in which a host may read a body before the router. */
const PARSERS: readonly (readonly [string, (version: ExpressVersion) => readonly RequestHandler[]])[] = [
  ['nothing', () => []],
  ['express.json()', ({ express }) => [express.json()]],
  [
    'express.json() and express.urlencoded()',
    ({ express }) => [express.json(), express.urlencoded({ extended: true })],
  ],
  ['express.raw() for everything', ({ express }) => [express.raw({ type: () => true })]],
  ['express.text() for everything', ({ express }) => [express.text({ type: () => true })]],
  ['a reader of its own that leaves an object', () => [ownReader((text) => JSON.parse(text))]],
  ['a reader of its own that leaves text', () => [ownReader((text) => text)]],
  ['a reader of its own that leaves a buffer', () => [ownReader((text) => Buffer.from(text))]],
];

function ownReader(parse: (text: string) => unknown): RequestHandler {
  return async (req: Request, _response, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (text !== '') req.body = parse(text);
    next();
  };
}

/** The short form tries every parser on Express 5, and on Express 4 the parsers that come with it. */
const parsersFor = ({ major }: ExpressVersion) =>
  PARSERS.slice(0, extent({ short: major === 4 ? 3 : PARSERS.length, full: PARSERS.length }));

describe.each(EXPRESS_VERSIONS)('a body, on Express $major', (version) => {
  describe.each(parsersFor(version))('after %s', (_name, parsers) => {
    const createApp = () => createHostApp({ version, before: parsers(version) });

    it.each([
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'application/json-patch+json',
      'application/vnd.acme.flags+json;v=1',
    ])('is read as %s', async (type) => {
      const { app } = await createApp();
      await request(app).post(FLAGS).set('content-type', type).send('{"name":"grün"}').expect(400);
      const { body } = await request(app)
        .post(FLAGS)
        .set('content-type', type)
        .send('{"name":"checkout","description":"grün ☃"}')
        .expect(201);
      expect(body).toMatchObject({ name: 'checkout', description: 'grün ☃' });
    });

    it('is read without a content type', async () => {
      const { app } = await createApp();
      const attempt = request(app).post(FLAGS);
      attempt.write(Buffer.from('{"name":"checkout"}'));
      await attempt.expect(201);
    });

    it('may be an array', async () => {
      const { app, flags } = await createApp();
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      const { body } = await request(app)
        .put(`${FLAGS}/checkout/variants`)
        .send([{ name: 'blue' }])
        .expect(200);
      expect(body).toEqual({ version: '1', variants: [{ name: 'blue', weightType: 'variable', weight: 1000 }] });
    });

    it('is refused with 415 when it is of another type', async () => {
      const { app, faults } = await createApp();
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense']) {
        const { status, body } = await request(app).post(FLAGS).set('content-type', type).send('{"name":"checkout"}');
        expect({ status, name: body.name ?? String(body.fault) }).toEqual({ status: 415, name: 'ContentTypeError' });
      }
      expect(faults).toEqual([]);
    });

    it('is refused with 400 where one is required and missing', async () => {
      const { app } = await createApp();
      for (const attempt of [request(app).post(FLAGS), request(app).put('/api/admin/projects/default')]) {
        const { body } = await attempt.set('content-type', 'application/json').expect(400);
        expect(body).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
      }
      await request(app).put('/api/admin/projects/default').expect(400);
    });

    it('may be missing where it is optional', async () => {
      const { app } = await createApp();
      await request(app).post('/api/admin/projects/default/users/1/roles/4').expect(200);
    });

    it('may be an empty object where nothing in it is required', async () => {
      const { app } = await createApp();
      await request(app).put('/api/admin/projects/default').send({}).expect(200);
    });
  });
});

/** Reads the first chunk only. */
const partialReader: RequestHandler = async (req, _response, next) => {
  for await (const _chunk of req.iterator({ destroyOnReturn: false })) break;
  next();
};

describe.each(EXPRESS_VERSIONS)('a body that the host has consumed, on Express $major', (version) => {
  it.each<[string, RequestHandler]>([
    ['whole', ownReader(() => undefined)],
    ['in part', partialReader],
  ])('%s is refused with 400, and the refusal says so', async (_part, reader) => {
    const { app, faults } = await createHostApp({ version, before: [reader] });
    // A body is required by the first route, and optional at the second one.
    for (const path of [FLAGS, '/api/admin/projects/default/users/1/roles/4']) {
      const { body } = await request(app).post(path).send({ name: 'checkout' }).expect(400);
      expect(JSON.stringify(body)).toMatch(/the body was read by another handler of the host before the router/);
    }
    expect(faults).toEqual([]);
  });

  it('without a body is as it was', async () => {
    const { app } = await createHostApp({ version, before: [ownReader(() => undefined)] });
    const { body } = await request(app).post(FLAGS).expect(400);
    expect(body.details).toEqual([{ message: 'a JSON body is required', path: '' }]);
  });
});
