import { type ClientRequest, get, type IncomingMessage } from 'node:http';

/** A received message. */
export interface Message {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: received values are compared, not used.
  readonly events: readonly any[];
  /** The whole stream. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly data: any;
}

export interface EventClient {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly messages: readonly Message[];
  /** The number of received comments. */
  readonly heartbeats: () => number;
  readonly hasEnded: () => boolean;
  readonly leave: () => void;
}

/** Listens, and resolves when the response has started. */
export function listen(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = get(url, { headers, agent: false }, (response) => {
      const messages: Message[] = [];
      let heartbeats = 0;
      let ended = false;
      let rest = '';
      let last = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        // A message may be megabytes, in parts of some kilobytes: read it once, when its end has arrived.
        const hasEnd = `${last}${text}`.includes('\n\n');
        last = text.slice(-1);
        rest += text;
        if (!hasEnd) return;
        const blocks = rest.split('\n\n');
        rest = blocks.pop() ?? '';
        heartbeats += blocks.filter((block) => block.startsWith(':')).length;
        messages.push(...blocks.filter((block) => !block.startsWith(':')).map(messageIn));
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        ended = true;
      });
      resolve({
        status: response.statusCode,
        headers: response.headers,
        messages,
        heartbeats: () => heartbeats,
        hasEnded: () => ended,
        leave: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
}

function messageIn(block: string): Message {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
  const data = JSON.parse(fields.get('data') ?? '{}');
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? '', events: data.events, data };
}
