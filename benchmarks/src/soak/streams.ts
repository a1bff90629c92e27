import { type ClientRequest, get } from 'node:http';

/** Clients that connect, listen for some seconds, and disconnect. */
export interface Streams {
  progress(): { readonly begun: number; readonly messages: number };
  stop(): void;
}

const LONGEST = 20_000;

/** @param count the number of simultaneous listeners */
export function keepStreaming(origins: readonly string[], count: number): Streams {
  const open = new Set<ClientRequest>();
  let begun = 0;
  let messages = 0;
  let running = true;

  function begin(): void {
    if (!running) return;
    const origin = origins[begun % origins.length];
    const views = ['', '&namePrefix=flag-001', '&namePrefix=passing'];
    const view = views[begun % views.length];
    begun += 1;
    const client = get(
      `${origin}/api/client/streaming?environment=development${view}`,
      { agent: false },
      (response) => {
        response.setEncoding('utf8').on('data', (text: string) => {
          messages += text.split('\nevent:').length - 1;
        });
        response.on('error', () => undefined);
      },
    );
    const leaving = setTimeout(() => client.destroy(), Math.random() * LONGEST);
    open.add(client);
    client.on('error', () => undefined);
    client.on('close', () => {
      clearTimeout(leaving);
      open.delete(client);
      setTimeout(begin, 10);
    });
  }

  for (let client = 0; client < count; client++) begin();
  return {
    progress: () => ({ begun, messages }),
    stop() {
      running = false;
      for (const client of open) client.destroy();
    },
  };
}
