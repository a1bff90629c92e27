import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { disconnectBrowser, visit } from '@flags/test-browser';
import { describeInBrowser } from './open-page.js';

/** Prints the bundle of the compiled `@flags/core/evaluate` with the files of the specification. */
const BUNDLE = join(__dirname, '../../../../test/runtimes/bundle-worker.mjs');

describeInBrowser('@flags/core/evaluate in a page', () => {
  let server: Server;
  afterAll(async () => {
    server.close();
    await disconnectBrowser();
  });

  it('has the expected results of the public client specification', async () => {
    const script = execFileSync(process.execPath, [BUNDLE], { encoding: 'utf8', maxBuffer: 2 ** 26 });
    server = createServer(({ url }, response) => {
      if (url === '/worker.js') response.setHeader('content-type', 'text/javascript').end(script);
      else if (url === '/') response.setHeader('content-type', 'text/html').end('<!doctype html><title>flags</title>');
      else response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const visited = await visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await visited.page.evaluate(`import('/worker.js').then(({ run }) => run())`)).toBe(279);
    await visited.close();
  });
});
